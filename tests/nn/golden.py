# SPDX-License-Identifier: Apache-2.0
"""Writes golden.inc: what torch.nn layers and losses give, for tests/nn/layers.c.

Run with PyTorch (CPU): golden.py > golden.inc
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 20240608
torch.manual_seed(SEED)


def emit(name, t):
    values = t.detach().flatten().tolist()
    whole = not t.dtype.is_floating_point
    kind = "int64_t" if whole else "float"
    text = [str(v) if whole else f"{v:.9g}f" if "." in f"{v:.9g}" or "e" in f"{v:.9g}"
            else f"{v:.9g}.0f" for v in values]
    lines = []
    for i in range(0, len(text), 6):
        lines.append("    " + ", ".join(text[i:i + 6]) + ",")
    print(f"static const {kind} {name}[] = {{")
    print("\n".join(lines))
    print("};")


def layer(name, module, x, train=True):
    module.train(train)
    for key, p in module.state_dict().items():
        if "num_batches" not in key and "running" not in key:
            emit(f"{name}_{key}", p)
    y = module(x)
    emit(f"{name}_y", y)


print("/* SPDX-License-Identifier: Apache-2.0 */")
print(f"/* Made by golden.py with torch {torch.__version__}, seed {SEED}. */")
images = torch.randn(2, 4, 6, 5)
rows = torch.randn(3, 6)
emit("images", images)
emit("rows", rows)
layer("linear", nn.Linear(6, 4), rows)
layer("conv", nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), images)
layer("dilated", nn.Conv2d(4, 2, (3, 2), dilation=2, bias=False), images)
layer("layer_norm", nn.LayerNorm((6, 5), eps=1e-3), images)
index = torch.tensor([[1, 0], [4, 1]])
emit("embedding_index", index)
layer("embedding", nn.Embedding(5, 3), index)

norm = nn.BatchNorm2d(4, momentum=0.3)
with torch.no_grad():
    norm.weight.uniform_(0.5, 1.5)
    norm.bias.uniform_(-1, 1)
layer("batch_norm", norm, images)
norm(images * 2 + 1)
emit("batch_norm_mean", norm.running_mean)
emit("batch_norm_var", norm.running_var)
norm.eval()
emit("batch_norm_eval", norm(images))

emit("max_pool_y", F.max_pool2d(images, 3, 2, 1, ceil_mode=True))
emit("avg_pool_y", F.avg_pool2d(images, 3, 2, 1))
emit("adaptive_y", F.adaptive_avg_pool2d(images, (4, 2)))
for fn in (F.relu, F.gelu, F.silu, torch.sigmoid, torch.tanh):
    emit(f"{fn.__name__}_y", fn(rows))
emit("softmax_y", F.softmax(rows, -1))

target = torch.tensor([2, 0, 5])
emit("target", target)
dense = F.softmax(torch.randn(3, 6), 1)
emit("dense", dense)
emit("losses", torch.stack([
    F.cross_entropy(rows, target),
    F.cross_entropy(rows, target, reduction="sum"),
    F.cross_entropy(rows, target, label_smoothing=0.2),
    F.cross_entropy(rows, dense),
    F.cross_entropy(rows, dense, label_smoothing=0.2),
    F.mse_loss(rows, dense),
    F.l1_loss(rows, dense, reduction="sum"),
    F.binary_cross_entropy_with_logits(rows, dense),
]))
emit("losses_none", F.cross_entropy(rows, target, reduction="none", label_smoothing=0.2))


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


def trace(name, net):
    """Weights by a formula that the test repeats; then losses of steps of SGD, and what it names."""
    with torch.no_grad():
        for p in net.parameters():
            i = torch.arange(p.numel(), dtype=torch.float64)
            p.copy_((torch.sin(i * 0.7 + p.dim()) * 0.3).reshape(p.shape))
    x = torch.sin(torch.arange(4 * 2 * 8 * 8, dtype=torch.float64) * 0.37).reshape(4, 2, 8, 8)
    y = torch.tensor([0, 2, 1, 2])
    net.double()
    opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
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
