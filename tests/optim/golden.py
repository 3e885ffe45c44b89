# SPDX-License-Identifier: Apache-2.0
"""Writes golden.inc: 100 steps of torch.optim on a small problem, for tests/optim/trace.c.

The gradient of step s at parameter p, computed in float32, is  g = a * (p - b) * (1 + (s % 3)),
with fixed a and b, so the test needs no network. Run with PyTorch (CPU): golden.py > golden.inc
"""
import torch

N, STEPS, SEED = 12, 100, 20240607
KEEP = (0, 1, 2, 9, 49, 99)  # after these steps

torch.manual_seed(SEED)
a = torch.rand(N) + 0.1
b = torch.randn(N)
p0 = torch.randn(N)

CASES = [
    ("sgd", lambda p: torch.optim.SGD(p, lr=0.05)),
    ("sgd_decay", lambda p: torch.optim.SGD(p, lr=0.05, weight_decay=0.1)),
    ("momentum", lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, weight_decay=0.01)),
    ("dampened", lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.8, dampening=0.3)),
    ("nesterov", lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.9, nesterov=True,
                                           weight_decay=0.01)),
    ("adam", lambda p: torch.optim.Adam(p, lr=0.03)),
    ("adam_l2", lambda p: torch.optim.Adam(p, lr=0.03, betas=(0.8, 0.95), eps=1e-6,
                                           weight_decay=0.1)),
    ("adamw", lambda p: torch.optim.AdamW(p, lr=0.03, weight_decay=0.1)),
    ("clipped", lambda p: torch.optim.SGD(p, lr=0.05)),
    ("cosine", lambda p: torch.optim.AdamW(p, lr=0.03, weight_decay=0.0)),
]


def array(name, values):
    rows = []
    for i in range(0, len(values), 4):
        rows.append("    " + " ".join(f"{float(v).hex()}f," for v in values[i:i + 4]))
    return f"static const float {name}[] = {{\n" + "\n".join(rows) + "\n};\n"


def run(name, make):
    p = torch.nn.Parameter(p0.clone())
    opt = make([p])
    plan = None
    if name == "cosine":
        plan = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=STEPS, eta_min=0.001)
    kept = []
    for s in range(STEPS):
        p.grad = (a * (p.detach() - b)) * float(1 + s % 3)
        if name == "clipped":
            torch.nn.utils.clip_grad_norm_([p], 0.5)
        opt.step()
        if plan:
            plan.step()
        if s in KEEP:
            kept += p.detach().tolist()
    return kept


print("/* SPDX-License-Identifier: Apache-2.0 */")
print(f"/* Made by golden.py with torch {torch.__version__}, seed {SEED}. */")
print(f"enum {{ GOLDEN_N = {N}, GOLDEN_STEPS = {STEPS}, GOLDEN_KEPT = {len(KEEP)} }};")
print("static const int golden_kept[] = {" + ", ".join(map(str, KEEP)) + "};")
print(array("golden_a", a.tolist()))
print(array("golden_b", b.tolist()))
print(array("golden_start", p0.tolist()))
for case in CASES:
    print(array("golden_" + case[0], run(*case)))
