#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random products whose rows begin at any byte: the emulated GPU, which detects races and accesses outside of tensors,
gives the bits of the reference interpreter. Sizes of all alignments, transposed operands, batches, element types,
computed operands, and which sizes are open are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 60
TYPES = ("f32", "bf16", "bf16", "f16", "f16", "f8E4M3FN", "f8E5M2", "i8")
CHIPS = ("sm_80", "sm_90", "sm_90a")


class Product:
    """y = max(a b, r), where an operand may be negated by the kernel."""

    def __init__(self, rng):
        self.rng, self.element = rng, str(rng.choice(TYPES))
        self.out = "i32" if self.element == "i8" else self.element
        m, n, k = (self.draw_size() for _ in range(3))
        outer = [int(rng.integers(2, 4))] if rng.random() < 0.3 else []
        opens = 0.5 if rng.random() < 0.3 else 0.0
        written = {size: "?" if rng.random() < opens else size for size in ("m", "n", "k")}
        sizes = {"m": m, "n": n, "k": k}
        self.transposed = [bool(rng.random() < 0.5) for _ in range(2)]
        axes = {"a": "km" if self.transposed[0] else "mk", "b": "nk" if self.transposed[1] else "kn", "r": "n", "y": "mn"}
        self.shapes, self.types = {}, {}
        for name, loops in axes.items():
            batch = outer if name != "r" else []
            self.shapes[name] = [*batch, *(sizes[loop] for loop in loops)]
            shown = [*batch, *("?" if written[loop] == "?" else sizes[loop] for loop in loops)]
            self.types[name] = elements.tensor(self.element if name in "ab" else self.out, shown)
        self.first = len(outer)
        self.negated = [self.element != "i8" and rng.random() < 0.1 for _ in range(2)]

    def draw_size(self):
        """Mostly odd, or a multiple of what some copies need; seldom a whole number of tiles."""
        size = int(self.rng.integers(1, 300)) if self.rng.random() < 0.9 else int(self.rng.integers(300, 1100))
        return size // int(self.rng.choice([1, 1, 1, 2, 4, 8])) + 1

    def text(self):
        types, first = self.types, self.first
        contract = f"contract [{first + (not self.transposed[0])}] x [{first + self.transposed[1]}]"
        batch = "batch [0] x [0]" if first else "batch [] x []"
        arguments = ", ".join(f'%{name}: {types[name]} {{ad.name = "{name}"}}' for name in "abr")
        operands = ["%c" if self.negated[0] else "%a", "%d" if self.negated[1] else "%b"]
        negations = [f"  %{to} = ad.neg %{of} : {types[of]}" for to, of, negated in
                     zip("cd", "ab", self.negated, strict=True) if negated]
        return "\n".join([f'func.func @main({arguments}) -> ({types["y"]} {{ad.name = "y"}}) {{', *negations,
                          f"  %p = ad.dot {', '.join(operands)} {batch} {contract} : "
                          f"({types['a']}, {types['b']}) -> {types['y']}",
                          f"  %y = ad.max %p, %r : {types['y']}, {types['r']}",
                          f"  return %y : {types['y']}", "}", ""])

    def arguments(self, mode):
        """Integers in `strict`, where tensor cores may add in another order than the reference: all sums are exact."""
        given = []
        for name in "abr":
            element = self.element if name in "ab" else self.out
            if element in ("i8", "i32"):
                values = self.rng.integers(-20, 20, self.shapes[name]).astype(elements.STORAGE[element])
            elif mode == "strict":
                values = elements.encode(element, self.rng.integers(-4, 5, self.shapes[name]).astype(float))
            else:
                values = elements.encode(element, self.rng.standard_normal(self.shapes[name]))
            given.append((name, element, values))
        return given


def check(seed, folder):
    rng = np.random.default_rng(seed)
    product = Product(rng)
    mode = str(rng.choice(["strict", "reproducible"]))
    options = ["--target=gpu-sim", f"--chip={rng.choice(CHIPS)}", f"--numerics={mode}"]
    return runner.other_bits(folder, product.text(), product.arguments(mode), [("y", product.out)],
                             {" ".join(options): options})


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random odd products", check, COUNT))
