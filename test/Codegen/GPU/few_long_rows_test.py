#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Few long rows, which the blocks of a cluster share (decision 0063), or which fusion leaves to kernels that a GPU divides
(decision 0045), have the bits of the reference interpreter on the emulated GPU and the CPU: rows just below and above
the length at which the latter begins, rows of clusters of any size, operations of rows and their gradients, and element
types are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 20
DIVIDED = (131071, 131072, 131073, 140001)
CHUNK = 4096  # elements of the order, of which a block of a cluster has whole ones
CENTRED = ("%m = ad.reduce_mean %x axes [1] keep_dims : {t} -> {m}\n  %c = ad.sub %x, %m : {t}, {m}\n"
           "  %q = ad.mul %c, %c : {t}\n  ")
OPERATIONS = {
    "highest": "%h = ad.reduce_max %x axes [1] keep_dims : {t} -> {m}\n  %y = ad.sub %x, %h : {t}, {m}",
    "softmax": "%y = ad.softmax %x axis 1 : {t}",
    "log_softmax": "%y = ad.log_softmax %x axis 1 : {t}",
    "layer_norm": "%y = ad.layer_norm %x, %w, %w epsilon 1.0e-5 : {t}, {w}",
    "rms_norm": "%y = ad.rms_norm %x, %w epsilon 1.0e-5 : {t}, {w}",
    "centred": "%m = ad.reduce_mean %x axes [1] keep_dims : {t} -> {m}\n  %y = ad.sub %x, %m : {t}, {m}",
    # One value of each row: added in place to what was there, or beside the mean as a second result.
    "total": "%h = ad.reduce_max %x axes [1] keep_dims : {t} -> {m}\n  %c = ad.sub %x, %h : {t}, {m}\n"
             "  %z = ad.reduce_sum %c axes [1] keep_dims : {t} -> {m}\n  %y = ad.add %z, %g : {m}",
    "variance": CENTRED + "%y = ad.reduce_mean %q axes [1] keep_dims : {t} -> {m}",
    "normalized": CENTRED + "%v = ad.reduce_sum %q axes [1] keep_dims : {t} -> {m}\n  %y = ad.div %c, %v : {t}, {m}",
}
OF_ROWS = {"variance", "total"}
TARGETS = {target: [f"--target={target}", "--numerics=reproducible"] for target in ("gpu-sim", "cpu")}


def program(name, types, differentiates):
    """@main, whose results are a tensor and perhaps the means of its rows, or the gradient."""
    t, w, m = types["t"], types["w"], types["m"]
    body, y = OPERATIONS[name].format(**types), m if name in OF_ROWS else t
    given = f'%x: {t} {{ad.name = "x"}}, %w: {w} {{ad.name = "w"}}'
    if name == "total":
        return (f'func.func @main({given}, %g: {m} {{ad.name = "g", ad.donated = 0}}) -> ({m} {{ad.name = "r"}}) {{\n'
                f"  {body}\n  return %y : {m}\n}}\n")
    if differentiates:
        return (f"func.func private @f(%x: {t}, %w: {w}) -> {y} {{\n  {body}\n  return %y : {y}\n}}\n"
                f'func.func @main({given}, %g: {y} {{ad.name = "g"}}) -> ({t} {{ad.name = "r"}}) {{\n'
                f"  %y, %d = ad.vjp @f(%x, %w) cotangents(%g) wrt [0] : ({t}, {w}, {y}) -> ({y}, {t})\n"
                f"  return %d : {t}\n}}\n")
    if "%m =" in body:
        return (f'func.func @main({given}) -> ({y} {{ad.name = "r"}}, {m} {{ad.name = "s"}}) {{\n  {body}\n'
                f"  return %y, %m : {y}, {m}\n}}\n")
    return f'func.func @main({given}) -> ({y} {{ad.name = "r"}}) {{\n  {body}\n  return %y : {y}\n}}\n'


def shape(rng):
    """Rows of whole chunks, and with a last one of any length, a multiple of vectors or not; of few chunks also many
    rows, some of which have clusters of two or three blocks."""
    if rng.random() < 0.3:
        return int(rng.integers(1, 4)), int(rng.choice(DIVIDED))
    chunks, rest = int(rng.integers(1, 12)), int(rng.choice([0, 0, 8, 1000, int(rng.integers(1, CHUNK))]))
    rows = rng.integers(1, 8) if chunks > 5 or rng.random() < 0.7 else rng.integers(8, 67)
    return int(rows), chunks * CHUNK + rest


def check(seed, folder):
    rng = np.random.default_rng(seed)
    rows, length = shape(rng)
    name = list(OPERATIONS)[seed % len(OPERATIONS)]
    integers = name in ("highest", "total") and rng.random() < 0.4
    element = str(rng.choice(["i8", "i32", "i64"] if integers else ["f32", "bf16", "f16", "f64"]))
    differentiates = not integers and name != "total" and rng.random() < 0.4
    types = {"t": f"tensor<{rows}x{length}x{element}>", "w": f"tensor<{length}x{element}>",
             "m": f"tensor<{rows}x1x{element}>"}
    text = program(name, types, differentiates)
    wanted = [(result, element) for result in "rs" if f'"{result}"' in text]
    given = [("x", element, elements.random(rng, element, (rows, length))),
             ("w", element, elements.random(rng, element, (length,)))]
    if differentiates or name == "total":
        given.append(("g", element, elements.random(rng, element, (rows, 1 if name in OF_ROWS else length))))
    for label, _, expected, found in runner.match_reference(folder, text, given, wanted, TARGETS):
        if not elements.same_bits(element, expected, found).all():
            yield f"{label}: other bits than the reference in {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("few long rows", check, COUNT))
