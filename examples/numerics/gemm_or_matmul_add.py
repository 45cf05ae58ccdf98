#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gemm, or product and sum? Six ways to write a @ x + b, in three experiments.

The published figures are those of the example "Gemm or Matmul + Add" of onnx-diagnostic, made with onnxruntime and
PyTorch on a laptop.
"""

import json

import numpy as np

import svg
from experiment import NUMPY, Experiment, classes, difference, distances, run_program, ulp

NAMES = ["GemmOnly", "GemmAdd", "FusedMatMulAdd", "MatMulAdd", "CastGemmAddCast", "CastGemmOnlyCast"]
MEANINGS = {
    "linear": "NumPy: product and sum in f32, rounded once",
    "GemmOnly": "one ad.gemm with the bias: the bias is added in the f32 accumulator, and the sum is rounded once",
    "GemmAdd": "ad.gemm without a bias, then ad.add: the product is rounded before the sum",
    "FusedMatMulAdd": "the same with alpha = 1, as onnxruntime's FusedMatMul has it",
    "MatMulAdd": "ad.dot, then ad.add",
    "CastGemmAddCast": "GemmAdd in f32 between casts",
    "CastGemmOnlyCast": "GemmOnly in f32 between casts",
    "a@x+b": "NumPy: the product is rounded to the type before the sum",
}
OFF = ["-O0", "--fuse", "single"]  # each operation as it is written
PUBLISHED = {
    "E1": "numpy to all: 0.0625; {GemmOnly, CastGemmOnlyCast} to the others: 0.00097656; inside a class: 0",
    "E2 f16": "{GemmOnly, MatMulAdd, CastGemmOnlyCast} to the others: 0.0625; inside a class: 0",
    "E2 f32": "{GemmOnly, MatMulAdd, CastGemmOnlyCast} to the others: 3.0517578e-05; inside a class: 0",
    "E3 f32": "linear to GemmOnly: 7.62939453125e-06, to GemmAdd: 6e-06; a@x+b to GemmAdd: 4e-06, to GemmOnly: "
              "7.62939453125e-06",
    "E3 f16": "between classes: 0.015625",
    "E3 bf16": "on a GPU, between classes: 0.125",
}


def program(element):
    """The six results; sizes are dynamic."""
    a, x, b, y = (f"tensor<{s}x{element}>" for s in ("?x?", "?x?", "?", "?x?"))
    wa, wx, wb, wy = (t.replace(element, "f32") for t in (a, x, b, y))
    if element == "f32":
        wide, narrow = "", {"%wide_sum": "%wide_sum", "%wide_gemm": "%wide_gemm"}
        names = {"%af": "%a", "%xf": "%x", "%bf": "%b"}
    else:
        pairs = (("a", a, wa), ("x", x, wx), ("b", b, wb))
        wide = "".join(f"  %{n}f = ad.cast %{n} : {t} -> {w}\n" for n, t, w in pairs)
        narrow, names = {"%wide_sum": "%cast_sum", "%wide_gemm": "%cast_gemm"}, {}
    af, xf, bf = (names.get(n, n) for n in ("%af", "%xf", "%bf"))
    back = "".join(f"  {new} = ad.cast {old} : {wy} -> {y}\n" for old, new in narrow.items() if old != new)
    results = ", ".join(f'{y} {{ad.name = "{name}"}}' for name in NAMES)
    return f"""\
// Six ways to write a @ x + b.
func.func @main(%a: {a} {{ad.name = "a"}}, %x: {x} {{ad.name = "x"}}, %b: {b} {{ad.name = "b"}})
    -> ({results}) {{
  %gemm = ad.gemm %a, %x, %b : ({a}, {x}, {b}) -> {y}
  %gemm_alone = ad.gemm %a, %x : ({a}, {x}) -> {y}
  %gemm_add = ad.add %gemm_alone, %b : {y}, {b}
  %scaled = ad.gemm %a, %x {{alpha = 1.0 : f64}} : ({a}, {x}) -> {y}
  %fused_add = ad.add %scaled, %b : {y}, {b}
  %product = ad.dot %a, %x : ({a}, {x}) -> {y}
  %product_add = ad.add %product, %b : {y}, {b}
{wide}\
  %wide_alone = ad.gemm {af}, {xf} : ({wa}, {wx}) -> {wy}
  %wide_sum = ad.add %wide_alone, {bf} : {wy}, {wb}
  %wide_gemm = ad.gemm {af}, {xf}, {bf} : ({wa}, {wx}, {wb}) -> {wy}
{back}\
  return %gemm, %gemm_add, %fused_add, %product_add, {narrow["%wide_sum"]}, {narrow["%wide_gemm"]}
      : {", ".join([y] * 6)}
}}
"""


def references(a, x, b, element):
    """By NumPy: with one rounding at the end, and with a rounded product."""
    kind = NUMPY[element]
    product = a.astype(np.float32) @ x.astype(np.float32)
    return {"linear": (product + b.astype(np.float32)).astype(kind),
            "a@x+b": (product.astype(kind).astype(np.float32) + b.astype(np.float32)).astype(kind)}


def inputs(rng, rows, depth, columns, element, weird=False):
    a, x, b = rng.standard_normal((rows, depth)), rng.standard_normal((depth, columns)), rng.standard_normal(columns)
    if weird:
        a, x, b = a / a.max(), x / x.max(), (np.arange(columns) + 1) / columns * 16
    return [t.astype(np.float32).astype(NUMPY[element]) for t in (a, x, b)]


class Study:
    def __init__(self):
        self.e = Experiment("gemm-or-matmul-add", "Gemm, or product and sum?",
                            "Six ways to write a @ x + b differ by roundings: by one step of the type, where the bias "
                            "is added after the product was rounded.")
        self.e.explain(MEANINGS)
        self.found = {}

    def one(self, key, element, tensors, options, with_references, caption):
        """Runs the program and prints the matrix, beside the published figures."""
        a, x, b = tensors
        results = self.e.run(f"gemm-{element}", program(element), {"a": a, "x": x, "b": b}, options)
        named = {name: results[name] for name in NAMES}
        if with_references:
            one_rounding, two = references(a, x, b, element).items()
            named = {one_rounding[0]: one_rounding[1], **named, two[0]: two[1]}
        mode = " ".join(options)
        title = f"{key}, dtype={element}, {self.e.target}, {mode}, max(b)={float(b.astype(np.float64).max()):.4g}"
        largest = max(float(np.abs(v.astype(np.float64)).max()) for v in named.values())
        published = PUBLISHED.get(key, "no figure")
        beside = f" Published: {published}." if key in PUBLISHED else ""
        self.e.matrix(key.replace(" ", "-"), title, named, caption + beside)
        self.e.say(f"one step (ulp) of {element} at the largest result, {largest:.4g}: {ulp(element, largest):.6g}")
        self.e.say(f"published: {published}\n")
        self.found[key] = {"classes": classes(named), "distances": distances(named), "largest": largest,
                           "ulp": ulp(element, largest)}
        return named

    def first(self, size):
        for mode in ("strict", "fast"):
            tensors = inputs(np.random.default_rng(1), 5 * size, size, size, "f16")
            self.one("E1" if mode == "strict" else "E1 fast", "f16", tensors, [*OFF, "--numerics", mode], True,
                     f"E1: largest differences in f16, {mode}, each operation as it is written. White is an exact 0, "
                     "orange the largest.")

    def second(self, size):
        """With optimisation; the optimised program runs again to the same bits."""
        for element in ("f16", "f32", "bf16"):
            tensors = inputs(np.random.default_rng(2), size, size, size, element)
            for mode in ("fast", "strict"):
                key = f"E2 {element}" + ("" if mode == "fast" else " strict")
                self.one(key, element, tensors, ["--numerics", mode], False,
                         f"E2: the same in {element}, {mode}, optimised and with fusion.")
        self.rerun(size)

    def rerun(self, size):
        a, x, b = inputs(np.random.default_rng(2), size, size, size, "f16")
        arrays, kept = {"a": a, "x": x, "b": b}, self.e.out / "optimized.mlir"
        before = self.e.run("gemm-f16", program("f16"), arrays,
                            ["--numerics", "fast", "--dump-optimized", kept])
        after = self.e.run("gemm-f16-again", kept.read_text(), arrays)
        report = self.e.folder / "report.json"
        self.e.run("gemm-f16", program("f16"), arrays, ["--report", report])
        self.found["has_cast"] = json.loads(report.read_text()).get("has_cast")
        self.found["rerun"] = all(before[n].tobytes() == after[n].tobytes() for n in NAMES)
        self.e.say(f"--dump-optimized runs again to the same bits: {self.found['rerun']}; "
                   f"has_cast={self.found['has_cast']}\n")

    def third(self, size):
        """A bias of up to 16, 100 times as large as the product."""
        for element in ("f32", "f16", "bf16"):
            a, x, b = inputs(np.random.default_rng(3), size, size, size, element, weird=True)
            named = self.one(f"E3 {element}", element, (a, x, b), [*OFF, "--numerics", "strict"], True,
                             f"E3: a bias of up to 16, in {element}: orange is {'8 steps' if element == 'f32' else 'one step'} "
                             "of the type or less.")
            for other in ("GemmOnly", "GemmAdd"):
                self.e.say(f"labels=('linear', '{other}'), {self.e.target}/{element}: "
                           f"max(diff)={difference(named['linear'], named[other])}")
            self.scatter(element, b, named)

    def scatter(self, element, b, named):
        """The largest difference of each column over its bias."""
        points = {}
        for pair in (("linear", "GemmOnly"), ("linear", "GemmAdd")):
            left, right = (named[name].astype(np.float64) for name in pair)
            points[" to ".join(pair)] = (b.astype(np.float64), np.abs(left - right).max(axis=0))
        self.e.picture(f"E3-scatter-{element}", svg.scatter(
            f"Differences and the bias, {element}", "Each point is a column of the result. Lower is better; a step of "
            "the type doubles at powers of two.", points, "bias of the column",
            "largest difference in the column"), f"Where the differences are: over the bias, in {element}.")


def main():
    study = Study()
    quick = study.e.quick
    study.first(32 if study.e.target == "gpu-sim" else 64 if quick else 256)
    study.second(48 if study.e.target == "gpu-sim" else 192 if quick else 1280)
    study.third(48 if study.e.target == "gpu-sim" else 192 if quick else 1280)
    study.e.finish(**study.found)


if __name__ == "__main__":
    run_program(main)
