#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations on rows: the CPU with one thread and with several, and the emulated GPU, which detects races, give
the bits of the reference interpreter. Few and many rows, short and long ones, orders, types, which sizes are open, and
which arguments are overwritten in place are drawn. Rows lie along the last axis, another one, or two of them. A GPU
gives a row to a thread, to some of them, or to a block: of many rows each has fewer threads."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 90
# (rows, lengths) from which a shape is drawn. Rows are many for a GPU where they and their threads are 67584 or more.
FEW_SHORT = ((1, 2, 5, 31, 32, 33, 127, 129, 300), (1, 2, 3, 5, 7, 8, 12, 16, 17, 20, 31, 32, 33, 63))
FEW_LONG = ((1, 2, 3, 8, 9, 33), (64, 65, 100, 128, 255, 256, 257, 300, 511, 512, 640, 1000, 1025, 2100))
MANY_SHORT = ((16890, 16897, 20000, 34001), (1, 2, 3, 4, 5, 6, 8))
MANY_LONG = ((2111, 2113, 2700), (33, 48, 64, 65, 100, 129, 160))
SHAPES = ((FEW_SHORT, 0.35), (FEW_LONG, 0.4), (MANY_SHORT, 0.15), (MANY_LONG, 0.1))
FLOATS = ("f32", "f32", "bf16", "f16", "f64")
ORDERS = ("", "", "#ad.order<lanes = 64, chunk = 64>", "#ad.order<lanes = 16, chunk = 128>",
          "#ad.order<lanes = 8, chunk = 32>", "#ad.order<lanes = 64, chunk = 512>")
# A step {n} makes %v{next}, a value of rows, from %v{n}; a reduction makes %s{n}, a value for each row, first.
REDUCE = "%s{n} = ad.reduce_{name} %v{n} axes {axes} keep_dims {order}: {t} -> {m}"
REDUCTIONS = ("sum", "sum", "mean", "max", "min")
COMBINE = "%v{next} = ad.{name} %v{n}, %s{n} : {t}, {m}"
ALONG = ("%v{next} = ad.softmax %v{n} axis {axis} : {t}", "%v{next} = ad.log_softmax %v{n} axis {axis} : {t}")
NORMS = ("%v{next} = ad.rms_norm %v{n}, %w epsilon 1.0e-5 : {t}, {w}",
         "%v{next} = ad.layer_norm %v{n}, %w, %w epsilon 1.0e-5 : {t}, {w}")
ELEMENTS = ("%v{next} = ad.tanh %v{n} : {t}", "%v{next} = ad.mul %v{n}, %x : {t}", "%v{next} = ad.add %v{n}, %x : {t}",
            "%v{next} = ad.mul %v{n}, %w : {t}, {w}")
# Of an argument that has more rows. No class of rows takes it, and the generic one sums in other ways.
SLICED = "%u{n} = ad.slice %y {begin} strides {ones} : {y} -> {t}\n  %v{next} = ad.add %v{n}, %u{n} : {t}"


class Rows:
    """Steps that begin at %x. Results are the last value of the rows, one value of each row, or both."""

    def __init__(self, rng):
        self.rng, self.element = rng, str(rng.choice(FLOATS))
        rows, lengths = SHAPES[rng.choice(len(SHAPES), p=[share for _, share in SHAPES])][0]
        count, self.length = int(rng.choice(rows)), int(rng.choice(lengths))
        # Rows are counted by one axis, or by two.
        outer = [count] if rng.random() < 0.6 else [2, count // 2 + 1]
        self.axes = [len(outer) if rng.random() < 0.6 else int(rng.integers(0, len(outer)))]
        self.shape = [*outer[:self.axes[0]], self.length, *outer[self.axes[0]:]]
        if len(outer) == 2 and rng.random() < 0.4:
            self.axes = sorted({*self.axes, 0 if self.axes[0] else 1})
        opens = 0.5 if rng.random() < 0.25 else 0.0
        sizes = ["?" if rng.random() < opens else str(size) for size in self.shape]
        names = {"t": sizes, "w": sizes[-1:],
                 "y": [str(self.shape[0] + 3), *map(str, self.shape[1:])], "m": ["1" if axis in self.axes else size for axis, size in enumerate(sizes)]}
        self.is_static = "?" not in sizes
        self.types = {name: elements.tensor(self.element, each) for name, each in names.items()}
        self.body, self.reduced = [], []
        self.number = int(rng.integers(1, 4))
        for n in range(self.number):
            self.add_step(n)
        self.choose_results()

    def write(self, line, n, **words):
        self.body.append(line.format(n=n, next=n + 1, axes=self.axes, axis=self.axes[-1], **self.types, **words))

    def add_step(self, n):
        kind = self.rng.random()
        if kind < 0.45:
            order = str(self.rng.choice(ORDERS))
            self.write(REDUCE, n, name=str(self.rng.choice(REDUCTIONS)), order=order and f"{{order = {order}}} ")
            self.reduced.append(f"%s{n}")
            self.write(COMBINE, n, name=str(self.rng.choice(["sub", "mul", "add"])))
        elif kind < 0.7 and self.is_static:
            self.write(SLICED, n, begin=[3, *[0] * (len(self.shape) - 1)], ones=[1] * len(self.shape))
        else:
            rows = (*ALONG, *NORMS) if self.axes == [len(self.shape) - 1] else ALONG
            self.write(str(self.rng.choice(rows if kind < 0.85 else ELEMENTS)), n)

    def choose_results(self):
        """[(value, type, argument that it overwrites or None)]. A sum may be added to an argument in place."""
        whole = (f"%v{self.number}", "t", "x" if self.rng.random() < 0.5 else None)
        self.results = [whole] if not self.reduced or self.rng.random() < 0.7 else []
        if self.reduced and (not self.results or self.rng.random() < 0.5):
            value = str(self.rng.choice(self.reduced))
            if self.rng.random() < 0.6:
                self.write("%total = ad.add %acc, " + value + " : {m}", 0)
                self.results.append(("%total", "m", "acc" if self.rng.random() < 0.7 else None))
            else:
                self.results.append((value, "m", None))

    def text(self):
        overwritten = {argument: number for number, (_, _, argument) in enumerate(self.results) if argument}
        given = ", ".join(f'%{name}: {self.types[kind]} {{ad.name = "{name}"'
                          + (f", ad.donated = {overwritten[name]}" if name in overwritten else "") + "}"
                          for name, kind in (("x", "t"), ("y", "y"), ("w", "w"), ("acc", "m")))
        kinds = [self.types[kind] for _, kind, _ in self.results]
        made = ", ".join(f'{kind} {{ad.name = "r{number}"}}' for number, kind in enumerate(kinds))
        body = "\n  ".join(self.body).replace("%v0", "%x")
        return (f"func.func @main({given}) -> ({made}) {{\n  {body}\n"
                f"  return {', '.join(value for value, _, _ in self.results)} : {', '.join(kinds)}\n}}\n")

    def arguments(self):
        sums = [1 if axis in self.axes else size for axis, size in enumerate(self.shape)]
        shapes = {"x": self.shape, "y": (self.shape[0] + 3, *self.shape[1:]), "w": self.shape[-1:], "acc": sums}
        return [(name, self.element, elements.random(self.rng, self.element, shape)) for name, shape in shapes.items()]


def check(seed, folder):
    rng = np.random.default_rng(seed)
    rows = Rows(rng)
    results = [(f"r{number}", rows.element) for number in range(len(rows.results))]
    return runner.other_bits(folder, rows.text(), rows.arguments(), results, runner.everywhere(rng))


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random rows", check, COUNT))
