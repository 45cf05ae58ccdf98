# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Comparisons with zero that several selections share, of values that were extended to a wider type: LLVM's optimizer
takes some of them for a maximum or a minimum, which may change the sign of a zero (lib/Conversion/FenceExtensions.h).
The CPU and the emulated GPU give what NumPy gives, bit for bit. Closes with `zero signs: N run, N failed`."""

import functools
import os
import pathlib
import random
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
EXTENSIONS = [("f16", "f16"), ("f16", "f32"), ("f16", "f64"), ("bf16", "bf16"), ("bf16", "f32"), ("f32", "f64"),
              ("f8E5M2", "f16")]
PREDICATES = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal,
              "ne": np.not_equal}
LENGTH = 37  # whole vectors and a rest
COUNT = 12  # programs for each extension
TARGETS = ["cpu", "gpu-sim"]


class Program:
    """One comparison of the argument, extended, with a zero of either sign, and what is selected by it."""

    def __init__(self, source, wide, draw, x):
        self.source, self.wide, self.draw = source, wide, draw
        self.lines, self.expected = [], {}
        self.values = {"x": elements.decode(source, x), "zero": np.zeros(LENGTH), "minus": np.full(LENGTH, -0.0)}
        self.kind, self.bits = f"tensor<{LENGTH}x{wide}>", f"tensor<{LENGTH}xi1>"
        for name, number in (("zero", "0.0"), ("minus", "-0.0")):
            self.lines.append(f"%{name} = ad.constant dense<{number}> : {self.kind}")
        if source != wide:
            self.lines.append(f"%x = ad.cast %given : tensor<{LENGTH}x{source}> -> {self.kind}")
        predicate, zero = draw.choice(list(PREDICATES)), draw.choice(["zero", "minus"])
        self.lines.append(f"%c = ad.compare {predicate} %x, %{zero} : {self.kind}, {self.kind}")
        self.holds = PREDICATES[predicate](self.values["x"], 0.0)
        self.add("c", self.holds, "i1")
        for number in range(draw.randint(1, 3)):
            self.select(f"s{number}")
        if draw.random() < 0.5:
            self.relu()

    def add(self, name, value, element):
        self.values[name] = value
        self.expected[name] = (element, elements.encode(element, value))

    def select(self, name):
        left, right = self.draw.sample(["x", "zero", "minus"], 2)
        self.lines.append(f"%{name} = ad.select %c, %{left}, %{right} : {self.bits}, {self.kind}, {self.kind}")
        self.add(name, np.where(self.holds, self.values[left], self.values[right]), self.wide)

    def relu(self):
        self.lines.append(f"%relu = ad.relu %x : {self.kind}")
        x = self.values["x"]
        self.add("relu", np.where(x < 0, 0.0, x), self.wide)

    def text(self):
        results = ", ".join(f'tensor<{LENGTH}x{element}> {{ad.name = "{name}"}}' for name,
                            (element, _) in self.expected.items())
        types = ", ".join(f"tensor<{LENGTH}x{element}>" for element, _ in self.expected.values())
        values = ", ".join(f"%{name}" for name in self.expected)
        body = "".join(f"  {line}\n" for line in self.lines)
        given = "x" if self.source == self.wide else "given"
        return (f'func.func @main(%{given}: tensor<{LENGTH}x{self.source}> {{ad.name = "given"}}) -> ({results}) {{\n'
                f"{body}  return {values} : {types}\n}}\n")


def wrong(source, wide, folder):
    draw, rng = random.Random(f"{SEED} {source} {wide}"), np.random.default_rng(SEED)
    for _ in range(COUNT):
        x = elements.random(rng, source, (LENGTH,), special=0.7)
        program = Program(source, wide, draw, x)
        elements.save(folder / "given.npy", source, x)
        results = [(name, element) for name, (element, _) in program.expected.items()]
        for target in TARGETS:
            found = runner.run(program.text(), [f"--arg=given={folder / 'given.npy'}"], results, ["--target", target])
            for name, (element, expected) in program.expected.items():
                if not elements.same_bits(element, found[name], expected).all():
                    yield f"{target}: %{name} differs from NumPy in\n{program.text()}"


def main():
    return checks.run_checks("zero signs", [(f"{source} in {wide}", functools.partial(wrong, source, wide)) for source,
                                            wide in checks.sample(EXTENSIONS, 2)])


if __name__ == "__main__":
    sys.exit(main())
