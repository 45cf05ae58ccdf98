# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Concatenations, paddings and updates of slices along any axis: axes with one element, with few and with none, dynamic
sizes, every width of element. The CPU, on one thread and on three, and the emulated GPU give what the
reference interpreter gives, bit for bit. Closes with `inserts: N run, N failed`."""

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
SIZES = [0, 1, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 64, 100]
COUNT = 40  # of each kind in a program
MAX_ELEMENTS = 1 << 14  # elements
TARGETS = {"cpu": ["--target", "cpu", "--threads", "1"], "three threads": ["--target", "cpu", "--threads", "3"],
           "gpu-sim": ["--target", "gpu-sim"]}


class Case:
    """One insertion: the lines of the program, and its arguments with their types."""

    def __init__(self, name, kind, element, draw):
        self.name, self.element, self.draw = name, element, draw
        self.shapes, self.types, self.prefix = [], [], ""
        shape = [MAX_ELEMENTS + 1]
        while np.prod(shape) > MAX_ELEMENTS:
            shape = [draw.choice(SIZES) for _ in range(draw.randint(1, 4))] + [1] * draw.choice([0, 0, 1, 2])
        getattr(self, kind)(shape)

    def known(self, shape):
        """What the program says of the sizes."""
        return [self.draw.choice([size, size, "?"]) for size in shape]

    def argument(self, shape, known):
        self.shapes.append(shape)
        self.types.append(elements.tensor(self.element, known))
        return f"%{self.name}_{len(self.shapes) - 1}"

    def result_of(self, text, known):
        self.result = elements.tensor(self.element, known)
        self.text = f"{self.prefix}  %{self.name} = {text}\n"

    def concat(self, shape):
        axis, parts = self.draw.randrange(len(shape)), []
        known = self.known(shape)
        for _ in range(self.draw.randint(1, 4)):
            size = self.draw.choice(SIZES[:8])
            own = self.draw.choice([size, size, "?"])
            parts.append((self.argument([*shape[:axis], size, *shape[axis + 1:]],
                                        [*known[:axis], own, *known[axis + 1:]]), own))
        sizes = [own for _, own in parts]
        known[axis] = "?" if "?" in sizes else sum(sizes)
        self.result_of(f"ad.concat axis {axis} {', '.join(name for name, _ in parts)} : {', '.join(self.types)}", known)

    def pad(self, shape):
        known = self.known(shape)
        low, high, interior = ([self.draw.choice([0, 0, 1, 3]) for _ in shape] for _ in range(3))
        value = self.argument([], [])
        source = self.argument(shape, known)
        grown = [size if size == "?" else a + size + max(size - 1, 0) * i + b for a, size, b,
                 i in zip(low, known, high, interior)]
        self.result_of(f"ad.pad {source}, {value} low {low} high {high} interior {interior} : {self.types[1]}, {self.types[0]}", grown)

    def update(self, shape):
        known = self.known(shape)
        part = [self.draw.choice([size, size, self.draw.randint(0, size)]) for size in shape]
        offsets = [self.draw.randint(0, size - own) for size, own in zip(shape, part)]
        whole = self.argument(shape, known)
        written = self.argument(part, self.known(part))
        names = [f"%{self.name}_at{axis}" for axis in range(len(shape))]
        self.prefix = "".join(f"  {name} = arith.constant {offset} : index\n" for name, offset in zip(names, offsets))
        self.result_of(f"ad.dynamic_update_slice {whole}, {written} [{', '.join(names)}] : {self.types[0]}, {self.types[1]}", known)


def program(cases):
    arguments = ", ".join(f'%{case.name}_{number}: {kind} {{ad.name = "{case.name}_{number}"}}'
                          for case in cases for number, kind in enumerate(case.types))
    results = ", ".join(f'{case.result} {{ad.name = "{case.name}"}}' for case in cases)
    values = ", ".join(f"%{case.name}" for case in cases)
    types = ", ".join(case.result for case in cases)
    return f"func.func @main({arguments}) -> ({results}) {{\n{''.join(case.text for case in cases)}  return {values} : {types}\n}}\n"


def wrong(kind, element, folder):
    draw, rng = random.Random(f"{SEED} {kind} {element}"), np.random.default_rng(SEED)
    cases = [Case(f"c{number}", kind, element, draw) for number in range(COUNT)]
    arguments = [(f"{case.name}_{number}", element, elements.random(rng, element, shape))
                 for case in cases for number, shape in enumerate(case.shapes)]
    results = [(case.name, element) for case in cases]
    texts = {case.name: case.text.strip() for case in cases}
    for label, name, expected, found in runner.match_reference(folder, program(cases), arguments, results, TARGETS):
        if not elements.same_bits(element, found, expected).all():
            yield f"{label}: {texts[name]}: differs from the reference"


def main():
    return checks.run_checks("inserts", [(f"{kind} {element}", functools.partial(wrong, kind, element))
                                         for kind in ("concat", "pad", "update")
                                         for element in checks.sample(("f32", "f64", "bf16", "i8", "i1"), 2)])


if __name__ == "__main__":
    sys.exit(main())
