# SPDX-License-Identifier: Apache-2.0
"""What golden.py and golden_nets.py print with."""
import torch


def begin(script, seed):
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print(f"/* Made by {script} with torch {torch.__version__}, seed {seed}. */")
    torch.manual_seed(seed)


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
