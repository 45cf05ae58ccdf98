#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Dynamic sizes and broadcasting: one compiled product x * y for every pair of sizes that NumPy allows.

The published example is "Dynamic Shapes and Broadcasting" of onnx-diagnostic, where an export for sizes 2 and 2 assumes
that both are equal.
"""

import numpy as np

import svg
from experiment import NUMPY, Experiment, difference, run_program

CASES = [(1, 1), (1, 3), (4, 1), (3, 3)]
MISMATCH = (2, 3)
ELEMENTS = ["f32", "f16", "bf16", "f64"]


def program(element):
    v, s = f"tensor<?x{element}>", f"tensor<{element}>"
    return f"""\
// x * y for vectors of any sizes that broadcast, and the gradients of the sum of its squares.
func.func private @loss(%x: {v}, %y: {v}) -> {s} {{
  %z = ad.mul %x, %y : {v}
  %square = ad.mul %z, %z : {v}
  %loss = ad.reduce_sum %square axes [0] : {v} -> {s}
  return %loss : {s}
}}
func.func @main(%x: {v} {{ad.name = "x"}}, %y: {v} {{ad.name = "y"}})
    -> ({v} {{ad.name = "z"}}, {v} {{ad.name = "dx"}}, {v} {{ad.name = "dy"}}) {{
  %z = ad.mul %x, %y : {v}
  %loss, %dx, %dy = ad.value_and_grad @loss(%x, %y) wrt [0, 1] : ({v}, {v}) -> ({s}, {v}, {v})
  return %z, %dx, %dy : {v}, {v}, {v}
}}
"""


def expected(x, y):
    """z and the gradients of sum(z * z), in f64: what was repeated is summed."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    z = x * y
    dx, dy = 2 * z * y, 2 * z * x
    dx, dy = (d.sum(keepdims=True) if one.size == 1 else d for d, one in ((dx, x), (dy, y)))
    return {"z": z, "dx": dx, "dy": dy}


def vectors(sizes, element):
    """Small integers and halves, so that all results are exact in every type."""
    rng = np.random.default_rng(sum(sizes))
    return [(rng.integers(-4, 5, size) / 2).astype(NUMPY[element]) for size in sizes]


def run_case(e, element, sizes):
    x, y = vectors(sizes, element)
    found = e.run(f"broadcast-{element}", program(element), {"x": x, "y": y})
    wanted = expected(x, y)
    fits = all(found[name].shape == wanted[name].shape for name in wanted)
    errors = {name: difference(wanted[name], found[name]) if fits else float("inf") for name in wanted}
    return found["z"].shape[0], errors


def mismatch(e):
    """The message of sizes that do not broadcast."""
    x, y = (np.ones(size, np.float32) for size in MISMATCH)
    command = e.command("broadcast-f32", program("f32"), {"x": x, "y": y}, [], e.folder / "none")
    result = e.call(command, expected=(1,))
    e.say(f"sizes {MISMATCH[0]} and {MISMATCH[1]}: exit code {result.returncode}\n{result.stderr.strip()}\n")
    return {"code": result.returncode, "message": result.stderr.replace(str(e.out), "OUT")}


def main():
    e = Experiment("dynamic-broadcast", "Which sizes may a compiled product have?",
                   "One program compiled for tensor<?xf32> broadcasts at run time, forward and backward, and refuses "
                   "sizes that do not fit with a message that names both.")
    rows, found = [], {}
    for element in ELEMENTS:
        for sizes in CASES:
            size, errors = run_case(e, element, sizes)
            rows.append([element, *sizes, size, max(sizes), *errors.values()])
            found[f"{element} {sizes[0]}x{sizes[1]}"] = {"size": size, **errors}
    e.table("configurations", "x * y of the sizes, and the gradients: differences to f64 (expected: exactly 0)",
            ["type", "size of x", "size of y", "size of x * y", "expected", "error of x * y", "error of dx",
             "error of dy"], rows)
    texts, colors = pairs(e)
    e.picture("sizes", svg.cells(
        "What one compiled program does with x * y", "Green: the size of the result. Orange: sizes that do not broadcast, "
        "refused with a message.", texts, colors, "size of x", "size of y"),
        "Pairs of sizes that the compiled program accepts, and the size of the result.")
    e.finish(cases=found, mismatch=mismatch(e))


def pairs(e):
    """Texts and colours for all pairs of sizes up to a limit, rows by the size of y."""
    limit = 3 if e.quick else 6
    texts = [["refused"] * limit for _ in range(limit)]
    colors = [["#f2b36b"] * limit for _ in range(limit)]
    for a in range(1, limit + 1):
        for b in range(1, limit + 1):
            arrays = {"x": np.ones(a, np.float32), "y": np.ones(b, np.float32)}
            out = e.folder / f"pair{a}x{b}"
            if e.call(e.command("broadcast-f32", program("f32"), arrays, [], out), expected=(0, 1)).returncode == 0:
                texts[b - 1][a - 1], colors[b - 1][a - 1] = str(np.load(out / "z.npy").shape[0]), "#a8d5ae"
    return texts, colors


if __name__ == "__main__":
    run_program(main)
