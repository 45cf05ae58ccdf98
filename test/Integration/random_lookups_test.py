#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random lookups and scatters of many rows, columns and updates: the reference interpreter gives what NumPy gives, one
update after another, and the CPU with one thread and with several and the emulated GPU give its bits. Shapes, axes, types,
what is outside, which sizes are open, what comes before and after, and whether the input may be written over are
drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import operations_indexing  # noqa: E402
import runner  # noqa: E402
from generator import Generator  # noqa: E402
from operations import CATALOGUE  # noqa: E402

COUNT = 60
# Around vectors, warps, the columns that a warp updates at once, and the ranges that threads own.
SIZES = (1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 200, 256, 300, 513, 1500)
MAX_ELEMENTS = 30_000
KINDS = ("scatter", "scatter", "scatter", "gather", "take", "embedding")


class WideGenerator(Generator):
    """Values with long axes."""

    largest = MAX_ELEMENTS

    def size(self):
        return int(self.rng.choice(SIZES))


def program(rng):
    """(text, arguments, the operation): one operation, with a negation before and after it at times."""
    generator = WideGenerator(rng, dynamic=float(rng.choice([0.0, 0.0, 0.5])), constants=0.0)
    types, make = CATALOGUE[str(rng.choice(KINDS))]
    make(generator, str(rng.choice(types)))
    op = generator.ops[-1]
    x, result = op.operands[0], op.result
    donates = op.mnemonic == "scatter" and rng.random() < 0.3
    lines, last = op.lines(), str(result)
    if result.element != "i1" and not donates and rng.random() < 0.3:
        lines.append(f"%after = ad.neg {result} : {result.type}")
        last = "%after"
    names = [f'{value}: {value.type} {{ad.name = "{value.name}"{", ad.donated = 0" if donates and value is x else ""}}}'
             for value, _ in generator.arguments]
    text = (f"func.func @main({', '.join(names)}) -> ({result.type} {{ad.name = \"r\"}}) {{\n  "
            + "\n  ".join(lines) + f"\n  return {last} : {result.type}\n}}\n")
    return text, generator.arguments, op, last == str(result)


def check(seed, folder):
    rng = np.random.default_rng(seed)
    text, arguments, op, is_alone = program(rng)
    element = op.result.element
    given = [(value.name, value.element, array) for value, array in arguments]
    arrays = {value.name: array for value, array in arguments}
    expected = operations_indexing.TABLE[op.mnemonic](op, [arrays[value.name] for value in op.operands])
    targets = runner.everywhere(rng, str(rng.choice(["reproducible", "strict"])))
    for label, _, reference, found in runner.match_reference(folder, text, given, [("r", element)], targets):
        wrong = np.argwhere(~elements.same_bits(element, reference, found))
        if len(wrong):
            yield f"{label}: other bits than the reference at {len(wrong)} of {reference.size} places, first {wrong[0]}: {text}"
    if is_alone and not elements.same_bits(element, np.asarray(expected), reference).all():
        yield f"the reference has other bits than NumPy: {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random lookups", check, COUNT))
