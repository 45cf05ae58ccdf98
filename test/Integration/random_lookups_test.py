#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random lookups and scatters of many rows, columns and updates: the reference interpreter gives what NumPy gives, one
update after another, and the CPU with one thread and with several and the emulated GPU give its bits. Shapes, axes, types,
what is outside, which sizes are open, what comes before and after, and whether the input may be written over are
drawn."""

import re
import sys
import types
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import operations_indexing  # noqa: E402
import runner  # noqa: E402
from generator import Generator, Value  # noqa: E402
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


def from_constant(lines, x, array):
    """The program from one value everywhere, where it started from an argument; the array has the value from here on."""
    number, text = (1, "true") if x.element == "i1" else (0.5, f"0.5 : {x.element}") if elements.is_float(x.element) else (
        3, f"3 : {x.element}")
    array[...] = elements.encode(x.element, np.asarray(float(number)))
    open_axes = [axis for axis, size in enumerate(x.static) if size is None]
    sizes = f"({', '.join(f'%size{axis}' for axis in open_axes)})" if open_axes else ""
    return [f"%value = arith.constant {text}",
            *(line for axis in open_axes for line in (
                f"%axis{axis} = arith.constant {axis} : index",
                f"%size{axis} = tensor.dim {x}, %axis{axis} : {x.type}")),
            f"%start = ad.full %value{sizes} : {x.element} -> {x.type}",
            *(re.sub(rf"{x}\b", "%start", line) for line in lines)]


def many_updates(rng):
    """As program: a scatter of single elements whose updates GPUs sort. Often all are of a few elements."""
    element, kind = str(rng.choice(["f32", "f64", "bf16", "i32"])), str(rng.choice(["set", "add", "max", "min"]))
    count, size = int(rng.integers(16384, 20000)), int(rng.choice([1, 5, 1000, 3000]))
    x, i, u = (Value(name, each, (length,), (length,)) for name, each, length in
               (("x", element, size), ("i", "i32", count), ("u", element, count)))
    indices = rng.integers(-1, min(size, int(rng.choice([2, size]))) + 1, count).astype(np.int32)
    numbers = [elements.encode(element, np.rint(rng.normal(size=length) * 8)) for length in (size, count)]
    op = types.SimpleNamespace(mnemonic="scatter", result=Value("y", element, (size,), (size,)))
    text = (f'func.func @main(%x: {x.type} {{ad.name = "x"}}, %i: {i.type} {{ad.name = "i"}}, %u: {u.type} {{ad.name = "u"}}) '
            f'-> ({x.type} {{ad.name = "r"}}) {{\n  %y = ad.scatter {kind} %x[%i], %u axes [0] outside '
            f'{rng.choice(["drop", "clamp"])} : {x.type}, {i.type}, {u.type}\n  return %y : {x.type}\n}}\n')
    return text, [(x, numbers[0]), (i, indices), (u, numbers[1])], op, False


def program(rng):
    """(text, arguments, the operation): one operation, with a negation before and after it at times."""
    dynamic = float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    generator = WideGenerator(rng, dynamic=dynamic, constants=0.0)
    kinds, make = CATALOGUE[str(rng.choice(KINDS))]
    make(generator, str(rng.choice(kinds)))
    op = generator.ops[-1]
    x, result = op.operands[0], op.result
    donates = op.mnemonic == "scatter" and rng.random() < 0.3
    lines, last = op.lines(), str(result)
    # GPUs sort the updates of one value everywhere, where their number is open.
    if op.mnemonic == "scatter" and not donates and rng.random() < (0.8 if dynamic else 0.2):
        lines = from_constant(lines, x, next(array for value, array in generator.arguments if value is x))
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
    text, arguments, op, is_alone = many_updates(rng) if rng.random() < 0.03 else program(rng)
    element = op.result.element
    given = [(value.name, value.element, array) for value, array in arguments]
    arrays = {value.name: array for value, array in arguments}
    targets = runner.everywhere(rng, str(rng.choice(["reproducible", "strict"])))
    for label, _, reference, found in runner.match_reference(folder, text, given, [("r", element)], targets):
        wrong = np.argwhere(~elements.same_bits(element, reference, found))
        if len(wrong):
            yield f"{label}: other bits than the reference at {len(wrong)} of {reference.size} places, first {wrong[0]}: {text}"
    if not is_alone:
        return
    expected = operations_indexing.TABLE[op.mnemonic](op, [arrays[value.name] for value in op.operands])
    if not elements.same_bits(element, np.asarray(expected), reference).all():
        yield f"the reference has other bits than NumPy: {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random lookups", check, COUNT))
