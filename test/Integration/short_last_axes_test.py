#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Elementwise kernels whose last axis is shorter than a vector, with operands that are broadcast along any axes or are
in memory in another order: random shapes, element types and expressions. The CPU gives the bits of the reference
interpreter. Closes with `short last axes: N run, N failed`."""

import functools
import os
import pathlib
import random
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
TYPES = ["f32", "f32", "f64", "bf16", "f16", "i32", "i8"]
CASES = 12  # of a program
TARGETS = {"cpu": [], "two threads": ["--threads", "2"], "256-bit vectors": ["--cpu", "x86-64-v3"],
           "small tiles": ["--tiles", "small"]}


class Case:
    """An expression over operands of which each lacks some axes of the result."""

    def __init__(self, number, element):
        self.draw, self.numbers = random.Random(1000 * SEED + number), np.random.default_rng(1000 * SEED + number)
        self.name, self.element, self.arguments, self.lines = f"c{number}", element, [], []
        leading = [self.draw.choice([1, 2, 3, 5, 16, 37, 150]) for _ in range(self.draw.randint(0, 3))]
        self.shape = [*leading, self.draw.choice([1, 2, 2, 3, 4, 5, 7, 8, 9, 16])]
        value = self.operand(self.shape if self.draw.random() < 0.7 else None)
        for _ in range(self.draw.randint(1, 4)):
            value = self.step(value)
        self.result = self.step(value, self.operand(self.shape))  # has the full shape

    def operand(self, shape=None):
        """An argument without some axes: of size 1, or, in front, not there at all. Some are in memory in another
        order."""
        if shape is None:
            shape = [1 if self.draw.random() < 0.4 else size
                     for size in self.shape][self.draw.randint(0, len(self.shape)):]
        name, order = f"{self.name}_{len(self.arguments)}", list(range(len(shape)))
        if self.draw.random() < 0.25:
            self.draw.shuffle(order)
        stored = [shape[axis] for axis in order]  # in memory
        self.arguments.append((name, elements.random(self.numbers, self.element, stored)))
        if stored == shape:
            return f"%{name}", shape
        back = [order.index(axis) for axis in range(len(shape))]
        return self.add(f"ad.transpose %{name} {back} : {elements.tensor(self.element, stored)}"), shape

    def step(self, left, right=None):
        right = right or self.operand()
        if self.draw.random() < 0.5:
            left, right = right, left
        shape = np.broadcast_shapes(left[1], right[1])
        op = self.draw.choice(["add", "sub", "mul", "max", "min"])
        value = self.add(f"ad.{op} {left[0]}, {right[0]} : {self.types(left, right)}")
        if elements.is_float(self.element) and self.draw.random() < 0.25:
            value = self.add(f"ad.tanh {value} : {elements.tensor(self.element, shape)}")
        return value, list(shape)

    def types(self, left, right):
        same = list(left[1]) == list(right[1])
        return elements.tensor(self.element, left[1]) + ("" if same else f", {elements.tensor(self.element, right[1])}")

    def add(self, text):
        name = f"%{self.name}_v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}\n")
        return name


def program(cases):
    arguments = ", ".join(f'%{name}: {elements.tensor(case.element, array.shape)} {{ad.name = "{name}"}}'
                          for case in cases for name, array in case.arguments)
    types = [elements.tensor(case.element, case.result[1]) for case in cases]
    results = ", ".join(f'{type} {{ad.name = "{case.name}"}}' for case, type in zip(cases, types))
    body = "".join(line for case in cases for line in case.lines)
    returned = ", ".join(case.result[0] for case in cases)
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}  return {returned} : {', '.join(types)}\n}}\n"


def wrong(element, first, folder):
    cases = [Case(first + number, element) for number in range(CASES)]
    arguments = [(name, element, array) for case in cases for name, array in case.arguments]
    results = {case.name: case for case in cases}
    for target, name, expected, found in runner.match_reference(folder, program(cases), arguments,
                                                                 [(name, element) for name in results], TARGETS):
        if not elements.same_bits(element, expected, found).all():
            yield f"{target}: {name} of {results[name].shape} differs from the reference:\n{''.join(results[name].lines)}"


def main():
    return checks.run_checks("short last axes", [(element, functools.partial(wrong, element, 100 * number))
                                                 for number, element in checks.sample(enumerate(TYPES), 3)])


if __name__ == "__main__":
    sys.exit(main())
