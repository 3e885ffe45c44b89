# SPDX-License-Identifier: Apache-2.0
"""Writes golden.inc: what torch.nn layers and losses give, for tests/nn/layers.c.

Run with PyTorch (CPU): golden.py > golden.inc
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from golden_emit import begin, emit

SEED = 20240608


def layer(name, module, x, train=True):
    module.train(train)
    for key, p in module.state_dict().items():
        if "num_batches" not in key and "running" not in key:
            emit(f"{name}_{key}", p)
    y = module(x)
    emit(f"{name}_y", y)


begin("golden.py", SEED)
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
