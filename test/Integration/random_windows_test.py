#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random convolutions and reductions of moving windows: the reference interpreter gives what NumPy gives, as far as an
order of summation may differ, and the CPU with one thread and with several and the emulated GPU give its bits.
Operations, element types, letters, shapes, strides, paddings, dilations, positions, which sizes are open, and operations
before and after are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import operations_windows  # noqa: E402
import oracle  # noqa: E402
import runner  # noqa: E402
from generator import Generator  # noqa: E402
from operations import CATALOGUE  # noqa: E402

COUNT = 60
# Around vectors, register tiles and warps.
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65)
MAX_ELEMENTS = 6000
KINDS = ("conv", "conv", "conv", "reduce_window", "reduce_window", "arg_reduce_window", "spread_window")


class ImageGenerator(Generator):
    """Values with long and short axes."""

    largest = MAX_ELEMENTS

    def size(self):
        return int(self.rng.choice(SIZES))

    def rank(self, low=0, high=4):
        return int(self.rng.integers(low, max(high, low) + 1))


def program(rng):
    """(text, arguments, the operation): one operation, with negations before and after it at times."""
    generator = ImageGenerator(rng, dynamic=float(rng.choice([0.0, 0.0, 0.5])), constants=0.0)
    generator.open_windows = True
    types, make = CATALOGUE[str(rng.choice(KINDS))]
    element = str(rng.choice(types))
    if rng.random() < 0.3:
        CATALOGUE["neg"][1](generator, element)
        generator.reuse = 1.0
    make(generator, element)
    op = generator.ops[-1]
    lines = [line for each in generator.ops for line in each.lines()]
    last = str(op.result)
    if rng.random() < 0.3:
        lines.append(f"%after = ad.neg {op.result} : {op.result.type}")
        last = "%after"
    names = ", ".join(f'{value}: {value.type} {{ad.name = "{value.name}"}}' for value, _ in generator.arguments)
    body = "\n  ".join(lines)
    text = (f'func.func @main({names}) -> ({op.result.type} {{ad.name = "r"}}) {{\n  {body}\n'
            f"  return {last} : {op.result.type}\n}}\n")
    return text, generator.arguments, op, len(generator.ops) == 1 and last == str(op.result)


def check(seed, folder):
    rng = np.random.default_rng(seed)
    text, arguments, op, is_alone = program(rng)
    element = op.result.element
    given = [(value.name, value.element, array) for value, array in arguments]
    arrays = {value.name: array for value, array in arguments}
    targets = runner.everywhere(rng, str(rng.choice(["reproducible", "strict"])))
    if "ad.conv" in text:  # in strict a GPU adds 16-bit products by tensor cores, which order them otherwise
        targets["gpu-sim"] = runner.everywhere(rng)["gpu-sim"]
    for label, _, reference, found in runner.match_reference(folder, text, given, [("r", element)], targets):
        wrong = np.argwhere(~elements.same_bits(element, reference, found))
        if len(wrong):
            yield f"{label}: other bits than the reference at {len(wrong)} of {reference.size} places, first {wrong[0]}: {text}"
    if is_alone and len(oracle.differences(op, [arrays[value.name] for value in op.operands], reference)):
        yield f"the reference has other values than NumPy: {text}"


assert set(KINDS) == set(operations_windows.TABLE)
if __name__ == "__main__":
    sys.exit(checks.run_seeds("random windows", check, COUNT))
