#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each operation that sums, in an order that the program writes: the CPU with one thread and with several, and the
emulated GPU give the bits of the reference interpreter. Operations, orders, axes, shapes, types, and which sizes are
open are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 90
FLOATS = ("f32", "f32", "f64", "bf16", "f16", "f8E5M2")
SIZES = (1, 2, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33)
LENGTHS = (1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 257, 513, 700)
MAX_ELEMENTS = 60_000


class Program:
    """One operation %r = … of arguments (name, element, shape, type)."""

    def __init__(self, rng):
        self.rng, self.element = rng, str(rng.choice(FLOATS))
        self.arguments, self.opens = [], 0.5 if rng.random() < 0.3 else 0.0
        make = (self.reduce, self.reduce, self.reduce, self.dot, self.dot, self.sum_to_shape, self.along, self.norm,
                self.cross_entropy)
        self.line, self.result = make[rng.integers(0, len(make))]()

    def pick(self, choices):
        return choices[self.rng.integers(0, len(choices))]

    def order(self):
        kind, lanes = self.rng.random(), 2 ** int(self.rng.integers(0, 8))
        if kind < 0.15:
            return "{order = #ad.order<chain>} "
        if kind < 0.55:
            return f"{{order = #ad.order<block = {self.pick((1, 2, 3, 7, 8, 24, 64, 100, 512))}>}} "
        return f"{{order = #ad.order<lanes = {lanes}, chunk = {lanes * self.pick((1, 2, 3, 8, 64))}>}} "

    def axes(self, count, long=()):
        """The sizes of so many axes; those in `long` may be long."""
        shape = [int(self.pick(LENGTHS if axis in long else SIZES)) for axis in range(count)]
        while np.prod(shape) > MAX_ELEMENTS:
            shape[int(np.argmax(shape))] //= 2
        return shape

    def written(self, shape, is_open=None):
        """The sizes of a type: some are open."""
        return ["?" if (self.rng.random() < self.opens if is_open is None else is_open[axis]) else str(size)
                for axis, size in enumerate(shape)]

    def argument(self, shape, sizes, element=None):
        name, element = f"%a{len(self.arguments)}", element or self.element
        self.arguments.append((name[1:], element, tuple(shape), elements.tensor(element, sizes)))
        return name, self.arguments[-1][-1]

    def reduce(self):
        rank = self.pick((1, 2, 3, 3, 4))
        count = 1 if self.rng.random() < 0.6 else self.rng.integers(1, rank + 1)
        reduced = sorted(int(axis) for axis in self.rng.choice(rank, count, replace=False))
        shape = self.axes(rank, reduced)
        sizes, keep = self.written(shape), self.rng.random() < 0.4
        x, kind = self.argument(shape, sizes)
        left = [("1" if axis in reduced else size) for axis, size in enumerate(sizes) if keep or axis not in reduced]
        result = elements.tensor(self.element, left)
        name = self.pick(("sum", "sum", "mean", "prod"))
        return (f"ad.reduce_{name} {x} axes {reduced} {'keep_dims ' if keep else ''}{self.order()}: {kind} -> {result}",
                result)

    def dot(self):
        """Axes are of a batch, of the rows, contracted, or of the columns; each operand has its own in any order."""
        counts = dict(zip("bmkn", (self.rng.integers(0, 2), self.rng.integers(0, 3), self.rng.integers(1, 3),
                                   self.rng.integers(0, 3))))
        names = [f"{kind}{number}" for kind, count in counts.items() for number in range(count)]
        sizes = {name: int(self.pick(LENGTHS if name[0] == "k" else SIZES)) for name in names}
        while np.prod([min(size, 40) for size in sizes.values()]) > 4 * MAX_ELEMENTS:
            largest = max(sizes, key=sizes.get)
            sizes[largest] //= 2
        text = {name: "?" if self.rng.random() < self.opens else str(size) for name, size in sizes.items()}
        sides = [[str(name) for name in self.rng.permutation([name for name in names if name[0] in kinds])]
                 for kinds in ("bmk", "bkn")]
        operands = [self.argument([sizes[name] for name in side], [text[name] for name in side]) for side in sides]
        lists = [[[side.index(name) for name in names if name[0] == kind] for side in sides] for kind in "bk"]
        left = [name for name in names if name[0] == "b"]
        for side, kind in zip(sides, "mn"):
            left += [name for name in side if name[0] == kind]
        result = elements.tensor(self.element, [text[name] for name in left])
        types = ", ".join(kind for _, kind in operands)
        return (f"ad.dot {operands[0][0]}, {operands[1][0]} batch {lists[0][0]} x {lists[0][1]} "
                f"contract {lists[1][0]} x {lists[1][1]} {self.order()}: ({types}) -> {result}", result)

    def sum_to_shape(self):
        rank = int(self.rng.integers(1, 5))
        lead = int(self.rng.integers(0, rank + 1))
        shape = self.axes(rank, range(rank))
        x, kind = self.argument(shape, map(str, shape))
        result = elements.tensor(self.element, [1 if self.rng.random() < 0.5 else size for size in shape[lead:]])
        return f"ad.sum_to_shape {x} {self.order()}: {kind} -> {result}", result

    def along(self):
        rank = int(self.rng.integers(1, 4))
        axis = int(self.rng.integers(0, rank))
        shape = self.axes(rank, [axis])
        x, kind = self.argument(shape, self.written(shape))
        return f"ad.{self.pick(('softmax', 'log_softmax'))} {x} axis {axis} {self.order()}: {kind}", kind

    def norm(self):
        rank = int(self.rng.integers(1, 4))
        shape = self.axes(rank, [rank - 1])
        sizes = self.written(shape)
        x, kind = self.argument(shape, sizes)
        w, vector = self.argument(shape[-1:], sizes[-1:])
        name, given = self.pick((("rms_norm", f"{x}, {w}"), ("layer_norm", f"{x}, {w}, {w}")))
        return f"ad.{name} {given} epsilon 1.0e-3 {self.order()}: {kind}, {vector}", kind

    def cross_entropy(self):
        shape = self.axes(2, [1])
        sizes = self.written(shape)
        (x, kind), (labels, given) = self.argument(shape, sizes), self.argument(shape, sizes)
        result = elements.tensor(self.element, sizes[:1])
        return f"ad.cross_entropy {x}, {labels} {self.order()}: {kind}, {given} -> {result}", result

    def text(self):
        given = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, _, _, kind in self.arguments)
        return (f'func.func @main({given}) -> ({self.result} {{ad.name = "r"}}) {{\n'
                f"  %r = {self.line}\n  return %r : {self.result}\n}}\n")


def check(seed, folder):
    rng = np.random.default_rng(seed)
    program = Program(rng)
    given = [(name, element, elements.random(rng, element, shape)) for name, element, shape, _ in program.arguments]
    return runner.other_bits(folder, program.text(), given, [("r", program.element)], runner.everywhere(rng))


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random orders", check, COUNT))
