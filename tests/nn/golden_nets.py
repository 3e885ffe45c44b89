# SPDX-License-Identifier: Apache-2.0
"""Writes golden_nets.inc: names and training traces of whole nets, for tests/nn/nets.c.

Run with PyTorch (CPU): golden_nets.py > golden_nets.inc
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from golden_emit import begin, emit

begin("golden_nets.py", 0)


class Block(nn.Module):
    def __init__(self, i, o, s):
        super().__init__()
        self.conv1 = nn.Conv2d(i, o, 3, s, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(o)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(o)
        self.downsample = None
        if s != 1 or i != o:
            self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


def resnet(w, depth, channels, classes):
    def stage(i, o, s):
        return nn.Sequential(*[Block(i if k == 0 else o, o, s if k == 0 else 1)
                               for k in range(depth)])
    net = nn.Sequential()
    net.add_module("conv1", nn.Conv2d(channels, w, 3, 1, 1, bias=False))
    net.add_module("bn1", nn.BatchNorm2d(w))
    net.add_module("relu", nn.ReLU())
    net.add_module("layer1", stage(w, w, 1))
    net.add_module("layer2", stage(w, 2 * w, 2))
    net.add_module("layer3", stage(2 * w, 4 * w, 2))
    net.add_module("avgpool", nn.AdaptiveAvgPool2d((1, 1)))
    net.add_module("flatten", nn.Flatten())
    net.add_module("fc", nn.Linear(4 * w, classes))
    return net


class Bottleneck(nn.Module):
    def __init__(self, i, width, s):
        super().__init__()
        o = 4 * width
        self.conv1 = nn.Conv2d(i, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, s, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, o, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(o)
        self.downsample = None
        if s != 1 or i != o:
            self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


def imagenet(make, expansion, blocks, w, channels, classes):
    """torchvision.models.resnet."""
    net = nn.Sequential()
    net.add_module("conv1", nn.Conv2d(channels, w, 7, 2, 3, bias=False))
    net.add_module("bn1", nn.BatchNorm2d(w))
    net.add_module("relu", nn.ReLU())
    net.add_module("maxpool", nn.MaxPool2d(3, 2, 1))
    i = w
    for k, n in enumerate(blocks):
        o = w << k
        stage = [make(i if b == 0 else expansion * o, o, 2 if k and b == 0 else 1) for b in range(n)]
        net.add_module(f"layer{k + 1}", nn.Sequential(*stage))
        i = expansion * o
    net.add_module("avgpool", nn.AdaptiveAvgPool2d((1, 1)))
    net.add_module("flatten", nn.Flatten())
    net.add_module("fc", nn.Linear(i, classes))
    return net


def cnn(f, channels, h, w, classes):
    net = nn.Sequential()
    net.add_module("conv1", nn.Conv2d(channels, f, 3, padding=1))
    net.add_module("relu1", nn.ReLU())
    net.add_module("pool1", nn.MaxPool2d(2))
    net.add_module("conv2", nn.Conv2d(f, 2 * f, 3, padding=1))
    net.add_module("relu2", nn.ReLU())
    net.add_module("pool2", nn.MaxPool2d(2))
    net.add_module("flatten", nn.Flatten())
    net.add_module("fc1", nn.Linear(2 * f * (h // 4) * (w // 4), 128))
    net.add_module("relu3", nn.ReLU())
    net.add_module("fc2", nn.Linear(128, classes))
    return net


def trace(name, net, side=8, lr=0.01):
    """Weights by a formula that the test repeats; then losses of steps of SGD, and what it names."""
    with torch.no_grad():
        for p in net.parameters():
            i = torch.arange(p.numel(), dtype=torch.float64)
            p.copy_((torch.sin(i * 0.7 + p.dim()) * 0.3).reshape(p.shape))
    x = torch.sin(torch.arange(4 * 2 * side * side, dtype=torch.float64) * 0.37)
    x = x.reshape(4, 2, side, side)
    y = torch.tensor([0, 2, 1, 2])
    net.double()
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    losses = []
    for _ in range(6):
        opt.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    emit(f"{name}_trace", torch.tensor(losses))
    names = [k for k in net.state_dict() if "num_batches" not in k]
    print(f"static const char *const {name}_names[] = {{")
    print("\n".join(f'    "{k}",' for k in names))
    print("};")


trace("resnet8", resnet(4, 1, 2, 3))
trace("cnn", cnn(3, 2, 8, 8, 3))
trace("resnet18", imagenet(Block, 1, (2, 2, 2, 2), 4, 2, 3), 64)
trace("resnet50", imagenet(Bottleneck, 4, (3, 4, 6, 3), 4, 2, 3), 64, lr=0.001)
