#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How accurate products of f32 in parts of bf16 are: on tensor cores of the emulated GPU, and f32 by FMA.

Largest errors of 16 x 16 results against NumPy's extended precision, in units of 2^-24 times the sum of |a||b|, where
the bounds of docs/named-kernels.md count in the same unit. `A100` is bf16x6 by the model of measured tensor cores in
test/Support/split_products.py, and `one chain` that model without promotion. The table in docs/named-kernels.md comes
from here.
"""

import pathlib
import sys
import tempfile

import measure

sys.path.insert(0, str(measure.ROOT / "test/Support"))
import numpy as np  # noqa: E402

import elements  # noqa: E402
import runner  # noqa: E402
import split_products as oracle  # noqa: E402

NAME = "split-accuracy"
SIZE, BLOCK = 16, 8
NUMBERS = {"in [0, 1)": lambda rng, shape: rng.random(shape), "normal": lambda rng, shape: rng.normal(size=shape),
           "2^-30 to 2^30": lambda rng, shape: rng.normal(size=shape) * np.exp2(rng.integers(-30, 31, shape))}
CASES = {f"{kind}, K = {k}": (kind, k) for kind in NUMBERS for k in (128, 1024, 8192)}
COLUMNS = ["f32", *oracle.NAMES, "A100", "one chain"]


def program(name, k):
    x, y, z = f"tensor<{SIZE}x{k}xf32>", f"tensor<{k}x{SIZE}xf32>", f"tensor<{SIZE}x{SIZE}xf32>"
    attribute = "" if name == "f32" else f' {{ad.named_kernel = "{name}"}}'
    return (f'func.func @main(%a: {x} {{ad.name = "a"}}, %b: {y} {{ad.name = "b"}}) -> {z} {{\n'
            f"  %0 = ad.dot %a, %b{attribute} : ({x}, {y}) -> {z}\n  return %0 : {z}\n}}\n")


def errors(folder, kind, k):
    rng, given = np.random.default_rng(0), []
    a, b = (NUMBERS[kind](rng, shape).astype(np.float32) for shape in ((SIZE, k), (k, SIZE)))
    for name, array in (("a", a), ("b", b)):
        elements.save(folder / f"{name}.npy", "f32", array)
        given.append(f"--arg={name}={folder / name}.npy")
    wide = [array.astype(np.longdouble) for array in (a, b)]
    exact, scale = wide[0] @ wide[1], np.abs(wide[0]) @ np.abs(wide[1])
    found = {name: runner.run(program(name, k), given, [("res0", "f32")], ["--target", "gpu-sim"])["res0"]
             for name in ("f32", *oracle.NAMES)}
    for name, promote in (("A100", oracle.PROMOTE), ("one chain", k)):
        found[name] = oracle.contract("bf16x6", a, b, lambda x, y, p=promote: oracle.truncated(x, y, BLOCK, p))
    return {name: float(np.max(np.abs(result - exact) / scale) / oracle.UNIT) for name, result in found.items()}


def main():
    options = measure.parse_options(__doc__, 1)
    cases = measure.select(list(CASES), options, NAME)
    print(f"largest error in units of 2^-24 sum |a||b|\n{'numbers':24} " + " ".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            row = errors(pathlib.Path(folder), *CASES[case])
            print(f"{case:24} " + " ".join(f"{row[name]:9.2f}" for name in COLUMNS), flush=True)
            rows.append({"case": case, "errors": row})
    for row in rows:
        ratio = row["errors"]["f32"] / row["errors"]["bf16x6"]
        measure.close(NAME, ratio, "the error of f32 by FMA", row["case"])
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
