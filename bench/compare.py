#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Training steps of Ingot and of PyTorch (eager and torch.compile), interleaved in one run.

Usage: compare.py INGOT_BENCH [--threads N] [--rounds N] [--steps N] [--no-compile]
Prints a table of medians and ratios; a ratio above 1 means that Ingot is faster."""
import argparse, json, statistics, subprocess, time, warnings

import torch
import torch.nn.functional as F
from torch import nn

warnings.filterwarnings("ignore")


def cnn():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(32 * 49, 128), nn.ReLU(), nn.Linear(128, 10))


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


class Peer:
    def __init__(self, make, batch, adam, compiled, channels_last):
        torch.manual_seed(1)
        self.net = make()
        self.x = torch.rand(batch, 1, 28, 28) - 0.5
        if channels_last:
            self.net = self.net.to(memory_format=torch.channels_last)
            self.x = self.x.to(memory_format=torch.channels_last)
        self.y = torch.arange(batch) % 10
        self.opt = (torch.optim.AdamW(self.net.parameters(), lr=1e-4, fused=True) if adam
                    else torch.optim.SGD(self.net.parameters(), lr=1e-4, fused=True))
        forward = lambda x, y: F.cross_entropy(self.net(x), y)
        self.forward = torch.compile(forward) if compiled else forward

    def step(self):
        begin = time.perf_counter()
        self.opt.zero_grad(set_to_none=True)
        loss = self.forward(self.x, self.y)
        loss.backward()
        self.opt.step()
        loss.item()
        return 1e3 * (time.perf_counter() - begin)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bench")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--no-compile", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    print(f"PyTorch {torch.__version__}, {a.threads} threads, {a.rounds} rounds of {a.steps} steps\n")
    print("| net | Ingot ms | PyTorch ms (best form) | ratio | quartiles |")
    print("|---|---|---|---|---|")
    for name, make, batch, adam in (("cnn", cnn, 64, True), ("mlp", mlp, 32, False)):
        forms = {"eager": (False, False)}
        if name == "cnn":
            forms["eager channels_last"] = (False, True)
        if not a.no_compile:
            forms["compile"] = (True, False)
        peers = {}
        for form, (compiled, last) in forms.items():
            try:
                peers[form] = Peer(make, batch, adam, compiled, last)
                for _ in range(10):
                    peers[form].step()
            except Exception as e:  # torch.compile needs a C++ compiler
                print(f"({form}: {type(e).__name__})")
                peers.pop(form, None)
        ours, theirs = [], {f: [] for f in peers}
        for _ in range(a.rounds):
            line = subprocess.run([a.bench, "step", name, str(a.threads), str(a.steps)], check=True,
                                  capture_output=True, text=True).stdout
            ours.append(statistics.median(json.loads(line)["ms"]))
            for form, peer in peers.items():
                for _ in range(3):
                    peer.step()
                theirs[form].append(statistics.median(peer.step() for _ in range(a.steps)))
        best = min(theirs, key=lambda f: statistics.median(theirs[f]))
        ratios = sorted(t / o for t, o in zip(theirs[best], ours))
        print(f"| {name}, batch {batch} | {statistics.median(ours):.3f} | "
              f"{statistics.median(theirs[best]):.3f} ({best}) | {statistics.median(ratios):.2f} | "
              f"{ratios[len(ratios) // 4]:.2f} - {ratios[-1 - len(ratios) // 4]:.2f} |")


main()
