# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Movements on the emulated GPU: concatenations, paddings, slices that are written over, and transpositions that keep
the last axis give the bits of the reference interpreter, whether slices begin and end where runs of 16 bytes do or
not. So do random moves of odd sizes (test/Support/moves.py), whose contiguous axes are merged and whose vectors cross
rows."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
import checks  # noqa: E402
import elements  # noqa: E402
import moves  # noqa: E402
import numpy as np  # noqa: E402
import runner  # noqa: E402

COUNT = 300
BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i8": 1, "i64": 8}


def length(rng, element, most=6):
    """Of whole runs, mostly."""
    run = 16 // BYTES[element]
    return run * rng.randrange(1, most) if rng.random() < 0.7 else rng.randrange(1, most * run)


def concat(rng, element):
    axis, count = rng.randrange(2), rng.randrange(2, 4)
    rows, columns = rng.randrange(1, 7), length(rng, element)
    shapes = [(rows, length(rng, element)) if axis else (rng.randrange(1, 7), columns) for _ in range(count)]
    whole = (rows, sum(shape[1] for shape in shapes)) if axis else (sum(shape[0] for shape in shapes), columns)
    kinds = [elements.tensor(element, shape) for shape in shapes]
    names = ", ".join(f"%x{number}" for number in range(count))
    return shapes, whole, f"  %y = ad.concat axis {axis} {names} : {', '.join(kinds)}\n"


def pad(rng, element):
    shape = (rng.randrange(1, 6), rng.randrange(1, 4), length(rng, element))
    run = 16 // BYTES[element]
    low, high = ([rng.randrange(3), rng.randrange(3), rng.choice((0, run, 2 * run, 1, run + 3))] for _ in range(2))
    interior = [rng.choice((0, 0, 1)), 0, rng.choice((0, 0, 0, 1))]
    whole = tuple(size + before + after + max(0, size - 1) * between for size, before, after,
                  between in zip(shape, low, high, interior))
    filler, kind = elements.tensor(element, ()), elements.tensor(element, shape)
    body = f"  %z = ad.constant dense<{'3' if element.startswith('i') else '1.5'}> : {filler}\n"
    return [shape], whole, body + f"  %y = ad.pad %x0, %z low {low} high {high} interior {interior} : {kind}, {filler}\n"


def permute(rng, element):
    shape = [rng.randrange(1, 6) for _ in range(3)] + [length(rng, element)]
    order = [*rng.sample(range(3), 3), 3]
    return [tuple(shape)], tuple(shape[axis]
                                 for axis in order), f"  %y = ad.transpose %x0 {order} : {elements.tensor(element, shape)}\n"


def layout(rng):
    """One of the movements above."""
    element = rng.choice(list(BYTES))
    shapes, whole, body = rng.choice((concat, pad, permute))(rng, element)
    return moves.Move(element, shapes, whole, [line.strip() for line in body.splitlines()])


def check(seed, folder):
    rng = random.Random(seed)
    move = layout(rng) if seed % 9 == 0 else moves.random_move(rng)
    values, text = np.random.default_rng(seed), move.text()
    arguments = [(f"x{number}", move.element, elements.random(values, move.element, shape))
                 for number, shape in enumerate(move.shapes)]
    for _, name, expected, found in runner.match_reference(folder, text, arguments, [("y", move.element)],
                                                           {"gpu-sim": ["--target", "gpu-sim"]}):
        if not elements.same_bits(move.element, expected, found).all():
            yield f"{name} differs from the reference in\n{text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("gpu_movements_test", check, COUNT))
