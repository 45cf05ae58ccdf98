#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reductions with few results, whose K the CPU divides: random contractions and sums, deep ones above all, give the
bits of the reference interpreter with 1, 2 and 7 threads, each launch divided, with tiles of both tables and on
CPUs with AVX2 and with AVX-512. Takes --seed and --count; closes with `divided reductions: N run, N failed`."""

import math
import pathlib
import random
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 24
MAX_WORK = 12_000_000  # multiply-adds of a case, for the interpreter
TARGETS = {"one thread": ["--threads=1"], "two threads": ["--threads=2"], "seven threads": ["--threads=7"],
           "small tiles": ["--tiles=small", "--threads=2"], "AVX2": ["--cpu=haswell", "--threads=2"]}
ELEMENTS = ("f32", "f32", "f64", "bf16", "f16", "i32")


def type_of(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def contraction(draw):
    """Operands with their axes in any order; b: batch, m: rows, n: columns, k and j: K."""
    element = draw.choice(ELEMENTS)
    sizes = {"b": draw.choice((1, 1, 2, 3)), "m": draw.choice((0, 1, 2, 7, 8, 9, 33, 64)),
             "n": draw.choice((0, 1, 5, 16, 33, 64, 100)), "j": draw.choice((1, 1, 3))}
    if draw.random() < 0.3:  # few long rows, of a large operand
        sizes.update(b=1, m=draw.choice((1, 1, 2, 3, 8)), n=draw.choice((draw.randint(100, 1000), 1500, 2048, 4100)),
                     j=1)
    results = sizes["b"] * sizes["m"] * sizes["n"]
    deepest = min(70_000, MAX_WORK // max(1, results * sizes["j"]))
    sizes["k"] = draw.choice((513, 1024, 1500, 4096, deepest, draw.randint(1, deepest)))
    left, right = (draw.sample(letters, len(letters)) for letters in ("bmjk", "bnjk"))
    axes = [[operand.index(letter) for letter in letters] for letters in ("b", "jk") for operand in (left, right)]
    shapes = [[sizes[letter] for letter in operand] for operand in (left, right)]
    result = type_of([sizes[letter] for letter in "bmn"], element)
    lines = [f"%y = ad.dot %a, %b batch {axes[0]} x {axes[1]} contract {axes[2]} x {axes[3]} : "
             f"({type_of(shapes[0], element)}, {type_of(shapes[1], element)}) -> {result}"]
    if draw.random() < 0.5:
        lines[0] = lines[0].replace("%y", "%s")
        lines.append(f"%y = ad.mul %s, %s : {result}")
    return element, shapes, lines, result


def reduction(draw):
    element = draw.choice(ELEMENTS)
    shape = [draw.choice((0, 1, 2, 5, 33, 300)) for _ in range(draw.randint(1, 2))]
    shape.insert(draw.randint(0, len(shape)), draw.choice((513, 4096, 4097, 20_000)))
    if draw.random() < 0.3:
        shape = [draw.choice((100, 513, draw.randint(300, 3000))), 1,
                 draw.choice((draw.randint(300, 1500), 2000, 4500))]
    shape = [size if math.prod(shape) < MAX_WORK or size < 300 else 17 for size in shape]
    axes = sorted(draw.sample(range(len(shape)), draw.randint(1, len(shape))))
    result = type_of([size for axis, size in enumerate(shape) if axis not in axes], element)
    kind = draw.choice(("sum", "max", "min"))
    return element, [shape], [f"%y = ad.reduce_{kind} %a axes {axes} : {type_of(shape, element)} -> {result}"], result


def check(seed, folder):
    draw = random.Random(seed)
    element, shapes, lines, result = draw.choice((contraction, contraction, reduction))(draw)
    generator = np.random.default_rng(seed)
    arguments = []
    for name, shape in zip("ab", shapes):
        values = generator.integers(-50, 50, shape) if element == "i32" else generator.uniform(-1, 1, shape)
        arguments.append((name, element, elements.encode(element, values)))
    given = ", ".join(f"%{name}: {type_of(shape, element)} {{ad.name = \"{name}\"}}" for name,
                      shape in zip("ab", shapes))
    body = "\n".join(f"  {line}" for line in lines)
    text = f"func.func @main({given}) -> ({result} {{ad.name = \"y\"}}) {{\n{body}\n  return %y : {result}\n}}\n"
    targets = {label: ["--numerics=reproducible", *options] for label, options in TARGETS.items()}
    for label, _, expected, found in runner.match_reference(folder, text, arguments, [("y", element)], targets):
        if expected.tobytes() != found.tobytes():
            yield f"{label}: {np.count_nonzero(expected != found)} of {expected.size} elements differ from the reference\n{text}"


def main():
    return checks.run_seeds("divided reductions", check, COUNT)


if __name__ == "__main__":
    sys.exit(main())
