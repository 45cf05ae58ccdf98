#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels over rows with few elements, which have values of their own (maxima, sums, means): softmax, norms, their
gradients, and results with one element per row and others with all: random shapes, also of dynamic numbers of rows,
and element types. The CPU gives the bits of the reference interpreter. Closes with `short norms: N run, N failed`."""

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
TYPES = ["f32", "f32", "f64", "bf16", "f16"]
CASES = 10  # of a program
TARGETS = {"cpu": [], "two threads": ["--threads", "2"], "256-bit vectors": ["--cpu", "x86-64-v3"],
           "small tiles": ["--tiles", "small"]}


class Case:
    """A function of an array and of vectors along its rows, or its gradient."""

    def __init__(self, number, element):
        self.draw, self.numbers = random.Random(1000 * SEED + number), np.random.default_rng(1000 * SEED + number)
        self.name, self.element, self.arguments, self.lines, self.results = f"c{number}", element, [], [], []
        leading = [self.draw.choice([1, 2, 3, 5]) for _ in range(self.draw.choice([0, 0, 1, 2]))]
        rows = self.draw.choice([1, 7, 8, 15, 16, 17, 33, 64, 150])
        between = [1] if self.draw.random() < 0.15 else []
        self.shape = [*leading, rows, *between, self.draw.randint(1, 18)]
        self.last = len(self.shape) - 1
        known = list(self.shape)
        if self.draw.random() < 0.2:
            known[len(leading)] = "?"
        self.type, self.column = elements.tensor(element, known), elements.tensor(element, [*known[:-1], 1])
        x = self.operand(self.type, self.shape)
        if self.draw.random() < 0.3:
            x = self.add(f"ad.add {x}, {self.operand(self.type, self.shape)} : {self.type}")
        kind = self.draw.choice([self.softmax, self.softmax, self.norm, self.norm, self.deviation, self.share])
        self.end(kind(x), is_loss=self.draw.random() < 0.25)

    def operand(self, type, shape):
        name, special = f"{self.name}_{len(self.arguments)}", 0.01 * self.draw.choice([0, 0, 0, 1])
        self.arguments.append((name, type, elements.random(self.numbers, self.element, shape, special=special)))
        return f"%{name}"

    def vector(self):
        return self.operand(elements.tensor(self.element, self.shape[-1:]), self.shape[-1:])

    def add(self, text):
        self.lines.append(f"  %v{len(self.lines)} = {text}\n")
        return f"%v{len(self.lines) - 1}"

    def per_row(self, function, x):
        return self.add(f"ad.reduce_{function} {x} axes [{self.last}] keep_dims : {self.type} -> {self.column}")

    def with_row(self, op, x, row):
        return self.add(f"ad.{op} {x}, {row} : {self.type}, {self.column}")

    def softmax(self, x):
        return self.add(f"ad.{self.draw.choice(['softmax', 'log_softmax'])} {x} axis {self.last} : {self.type}")

    def norm(self, x):
        op, vectors = self.draw.choice([("layer_norm", 2), ("rms_norm", 1)])
        operands = ", ".join([x, *(self.vector() for _ in range(vectors))])
        return self.add(f"ad.{op} {operands} epsilon 1.0e-5 : {self.type}, {elements.tensor(self.element, self.shape[-1:])}")

    def deviation(self, x):
        y = self.with_row("sub", x, self.per_row("mean", x))
        return self.with_row("div", y, self.per_row(self.draw.choice(["max", "min"]),
                                                    self.add(f"ad.abs {y} : {self.type}")))

    def share(self, x):
        y = self.add(f"ad.exp {x} : {self.type}")
        return self.with_row("div", y, self.per_row("sum", y))

    def end(self, y, is_loss):
        """The results: a loss, or the array, perhaps with a value of each row."""
        self.is_loss = is_loss
        if is_loss:
            square = self.add(f"ad.mul {y}, {y} : {self.type}")
            scalar, axes = elements.tensor(self.element, []), list(range(self.last + 1))
            self.returned = [(self.add(f"ad.reduce_sum {square} axes {axes} : {self.type} -> {scalar}"), scalar)]
            return
        self.returned = [(y, self.type)]
        if self.draw.random() < 0.3:
            self.returned.append((self.per_row(self.draw.choice(["max", "sum"]), y), self.column))

    def function(self):
        arguments = ", ".join(f"%{name}: {type}" for name, type, _ in self.arguments)
        types = ", ".join(type for _, type in self.returned)
        values = ", ".join(value for value, _ in self.returned)
        return f"func.func private @{self.name}({arguments}) -> ({types}) {{\n{''.join(self.lines)}  return {values} : {types}\n}}\n"

    def call(self):
        """The line in @main, and its results as [(value, type)]."""
        operands = ", ".join(f"%{name}" for name, _, _ in self.arguments)
        given = [type for _, type in self.returned]
        if self.is_loss:
            given += [type for _, type, _ in self.arguments]
        results = [(f"%{self.name}_r#{number}", type) for number, type in enumerate(given)]
        op = f"ad.value_and_grad @{self.name}({operands}) wrt {list(range(len(self.arguments)))}" if self.is_loss else \
            f"func.call @{self.name}({operands})"
        types = ", ".join(type for _, type, _ in self.arguments)
        return f"  %{self.name}_r:{len(given)} = {op} : ({types}) -> ({', '.join(given)})\n", results


def program(cases):
    """Its text and the names of its results."""
    calls = [case.call() for case in cases]
    named = [(f"{case.name}_out{number}", value, type)
             for case, (_, results) in zip(cases, calls) for number, (value, type) in enumerate(results)]
    arguments = ", ".join(f'%{name}: {type} {{ad.name = "{name}"}}' for case in cases for name, type,
                          _ in case.arguments)
    results = ", ".join(f'{type} {{ad.name = "{name}"}}' for name, _, type in named)
    returned = f"{', '.join(value for _, value, _ in named)} : {', '.join(type for _, _, type in named)}"
    text = "".join(case.function() for case in cases)
    body = "".join(line for line, _ in calls)
    return f"{text}func.func @main({arguments}) -> ({results}) {{\n{body}  return {returned}\n}}\n", [name for name, _, _ in named]


def wrong(element, first, folder):
    cases = [Case(first + number, element) for number in range(CASES)]
    arguments = [(name, element, array) for case in cases for name, _, array in case.arguments]
    text, names = program(cases)
    functions = {case.name: case.function() for case in cases}
    for target, name, expected, found in runner.match_reference(folder, text, arguments,
                                                                 [(name, element) for name in names], TARGETS):
        if not elements.same_bits(element, expected, found).all():
            yield f"{target}: {name} differs from the reference:\n{functions[name.split('_')[0]]}"


def main():
    return checks.run_checks("short norms", [(element, functools.partial(wrong, element, 100 * number))
                                             for number, element in checks.sample(enumerate(TYPES), 2)])


if __name__ == "__main__":
    sys.exit(main())
