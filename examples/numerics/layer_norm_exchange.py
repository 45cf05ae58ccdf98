#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which kernel makes the difference? A layer norm and a product, each in two implementations.

The published figures are those of the example "LayerNormalization implementation cannot be exchanged" of
onnx-diagnostic, where the implementations are those of PyTorch and of onnxruntime.
"""

import numpy as np

import svg
from experiment import NUMPY, Experiment, run_program

# A is what the program says. B: the variance by Welford's recurrence, and sums of a product in a balanced tree.
KERNELS = {"A": {"layer_norm": "written", "dot": "written"}, "B": {"layer_norm": "welford", "dot": "pairwise"}}
MIXES = ["AA", "AB", "BA", "BB"]  # layer norm, product
THRESHOLDS = ["0.0", "0.0001", "0.001", "0.01", "0.1", "1.0"]
PUBLISHED = {
    "f32": ["PyTorch against onnxruntime, CPU: abs 0.000152587890625, rel 5.568541537966721e-07; 1484455 of 2359296 "
            "elements > 0, 2032 > 0.0001",
            "mixed: layer norm of onnxruntime and product of PyTorch: 9.155e-05 and 1.526e-04 from the two; the other "
            "way round: 0.018799",
            "on a GPU: abs 0.0196, by a product in tf32"],
    "f16": ["PyTorch against onnxruntime, CPU: abs 0.25, rel 0.00097656; 585826 of 2359296 elements > 0",
            "mixed: 0.5 and 0.25 from the two"],
}


def program(element, rows, depth):
    x, z = (f"tensor<{rows}x{depth}x{element}>",) * 2
    vector, matrix = f"tensor<{depth}x{element}>", f"tensor<{depth}x{depth}x{element}>"
    named = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in
                      {"x": x, "scale": vector, "bias": vector, "weights": matrix, "bias2": vector}.items())
    return f"""\
// A layer norm and a product with a bias.
func.func @main({named}) -> ({z} {{ad.name = "z"}}) {{
  %normed = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : {x}, {vector}
  %product = ad.dot %normed, %weights : ({x}, {matrix}) -> {z}
  %z = ad.add %product, %bias2 : {z}, {vector}
  return %z : {z}
}}
"""


class Study:
    def __init__(self):
        self.e = Experiment("layer-norm-exchange", "Which kernel makes the difference?",
                            "A layer norm and a product, each in two implementations: either exchange changes "
                            "the last digits of many elements in f32, and one step of few in f16.")
        self.e.explain({"layer norm A": "mean and variance in two passes, as written",
                        "layer norm B": "--kernel layer_norm=welford: one pass by Welford's recurrence",
                        "product A": "sums in the order of docs/numerics.md, as written",
                        "product B": "--kernel dot=pairwise: each element is a sum in a balanced tree",
                        "AB": "layer norm A and product B; AA, BA and BB likewise"})
        self.rows, self.depth = (256, 256) if self.e.quick else (2048, 1152)
        if self.e.target == "gpu-sim":
            self.rows = 16
        rng = np.random.default_rng(0)
        inputs = {"x": (rng.random((self.rows, self.depth)) - 0.5) * 120, "scale": rng.random(self.depth),
                  "bias": rng.random(self.depth), "weights": rng.random((self.depth, self.depth)),
                  "bias2": rng.random(self.depth)}
        self.inputs = {name: x.astype(np.float16) for name, x in inputs.items()}
        self.summary, self.results = [], {}

    def run(self, element, layer_norm, dot):
        """With these implementations; `written` is what the program says."""
        options = [word for operation, name in (("layer_norm", layer_norm), ("dot", dot)) if name != "written"
                   for word in ("--kernel", f"{operation}={name}")]
        arrays = {name: x.astype(NUMPY[element]) for name, x in self.inputs.items()}
        return self.e.run(f"layer-norm-{element}", program(element, self.rows, self.depth), arrays, options)["z"]

    def compare(self, expected, got):
        """What `ad-diff tensors` says, as its JSON."""
        return self.e.compare({"z": expected}, {"z": got})["pairs"][0]

    def element(self, element):
        mixes = {mix: self.run(element, KERNELS[mix[0]]["layer_norm"], KERNELS[mix[1]]["dot"]) for mix in MIXES}
        rows, found = [], {}
        for mix in MIXES:
            to_a, to_b = (self.compare(mixes[base], mixes[mix]) for base in ("AA", "BB"))
            rows.append([mix, KERNELS[mix[0]]["layer_norm"], KERNELS[mix[1]]["dot"], to_a["abs"], to_b["abs"],
                         to_a["rel"], to_a["l2"], *(int(to_a["counts"].get(f">{t}", 0)) for t in THRESHOLDS)])
            found[mix] = {"to_AA": to_a["abs"], "to_BB": to_b["abs"], "changed": rows[-1][7],
                          "l2": max(to_a["l2"], to_b["l2"])}
        self.e.table(f"mixes-{element}", f"{element}, {self.rows} x {self.depth}: differences of the mixes to AA and BB "
                     f"(n={mixes['AA'].size})", ["mix", "layer_norm", "dot", "abs to AA", "abs to BB", "rel to AA",
                                                 "l2 to AA",
                                                 *(f">{t}" for t in THRESHOLDS)], rows)
        values = mixes["AA"].astype(np.float64)
        self.e.say(f"values from {values.min():.6g} to {values.max():.6g}, mean {values.mean():.6g}")
        for line in PUBLISHED[element]:
            self.e.say(f"published: {line}")
        self.e.say()
        self.results[element] = found
        self.histogram(element, mixes)
        return mixes

    def histogram(self, element, mixes):
        counts = {f"{mix} - AA": svg.powers(mixes[mix].astype(np.float64) - mixes["AA"].astype(np.float64))
                  for mix in ("BA", "AB", "BB")}
        self.e.picture(f"histogram-{element}", svg.histogram(
            f"How many elements differ by how much, {element}", "BA: only the layer norm is exchanged; AB: only the "
            "product. Further left is better; 0: equal.", counts, "absolute difference to AA, in powers of two",
            "elements"), f"Differences of the elements by size, {element}.")

    def bars(self):
        groups = [(f"{mix}, {element}", [self.results[element][mix]["to_AA"], self.results[element][mix]["to_BB"]])
                  for element in self.results for mix in MIXES]
        self.e.picture("mixes", svg.bars(
            "The largest difference of each mix", "First letter: layer norm, second: product. A as written, B exchanged. "
            "Lower is better; 0: equal.", groups, ["to AA", "to BB"], "largest absolute difference"),
            "Mixes of two layer norms and two products against both originals.")

    def variants(self, written):
        """Other implementations, in f32: one exchange at a time."""
        rows = []
        for layer_norm, dot in (("pairwise", "written"), ("one_pass", "written"), ("written", "pairwise"),
                                ("written", "tf32"), ("written", "bf16x3"), ("written", "bf16x9")):
            found = self.compare(written, self.run("f32", layer_norm, dot))
            rows.append([f"layer_norm={layer_norm}" if dot == "written" else f"dot={dot}", found["abs"], found["rel"],
                         found["l2"]])
        self.e.table("variants", "f32: one implementation exchanged, difference to the written one",
                     ["exchange", "abs", "rel", "l2"], rows)
        self.e.picture("variants", svg.bars(
            "One implementation exchanged, f32", "Lower is better. A product in tf32 changes more than everything else: "
            "published 0.0196 on a GPU.", [(row[0], [row[1]]) for row in rows], ["largest difference"],
            "largest absolute difference"), "Other layer norms and products, one at a time.")
        return {row[0]: row[1] for row in rows}


def main():
    study = Study()
    written = study.element("f32")["AA"]
    study.element("f16")
    study.bars()
    study.e.finish(mixes=study.results, variants=study.variants(written))


if __name__ == "__main__":
    run_program(main)
