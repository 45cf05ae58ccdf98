#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The experiments of examples/numerics: each figure that does not depend on the machine. Sizes are those of --quick,
and where the reference system recorded figures of other sizes, those too.

Bounds are those of the reference system's acceptance list, which follow from steps of the types (ulp): f16 has steps of
2^-6 in [16, 32), bf16 of 2^-3. Closes with `N run, N failed`.
"""

import csv
import dataclasses
import functools
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/models")]
sys.dont_write_bytecode = True

import numpy as np

import checks
import llama
import runner
from llama_entries import program
from llama_text import Config

TWO_ROUNDINGS = ["GemmAdd", "FusedMatMulAdd", "MatMulAdd"]
ONE_ROUNDING = ["GemmOnly", "CastGemmAddCast", "CastGemmOnlyCast"]
LARGE_BIAS = {"E3 f16": 0.015625, "E3 bf16": 0.125, "E3 f32": 1.6e-5}  # one step at 16 of the types; eight of f32


def run(name, folder, *options, size=("--quick",), pictures=()):
    """The results of an experiment, after checks of its files; some pictures have to be among them."""
    environment = {**os.environ, "ADJOINT_BIN": str(pathlib.Path(runner.binary("ad-runner")).parent),
                   "PYTHONDONTWRITEBYTECODE": "1"}
    script = ROOT / f"examples/numerics/{name}.py"
    result = subprocess.run([sys.executable, script, *size, "--out", folder, *options], capture_output=True,
                            text=True, env=environment)
    if result.returncode:
        raise RuntimeError(f"exit code {result.returncode}: {result.stderr}")
    summary = json.loads((folder / "results.json").read_text())
    assert (folder / "log.txt").read_text() == result.stdout, "log.txt is not what was printed"
    assert summary["pictures"] and summary["tables"] and summary["seconds"] > 0
    assert all(term and meaning for term, meaning in summary["terms"].items())
    missing = {f"{name}.svg" for name in pictures} - {picture["file"] for picture in summary["pictures"]}
    assert not missing, f"no pictures {sorted(missing)}"
    for picture in summary["pictures"]:
        assert xml.etree.ElementTree.parse(folder / picture["file"]).getroot().tag.endswith("svg")
    for table in summary["tables"]:
        with open(folder / table["file"], newline="") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1 and len({len(row) for row in rows}) == 1, f"{table['file']} is no table"
    return summary["results"]


def together(found, names):
    return any(set(names) <= set(group) for group in found["classes"])


def check_gemm(size, folder):
    """Checks 34, 36 to 38, 40 and 42. The recorded sizes are 1280 x 256 x 256 for E1 and 1280 for E2 and E3."""
    found = run("gemm_or_matmul_add", folder, size=size)
    for key in ("E1", "E2 f16 strict", "E2 bf16 strict", "E3 f16", "E3 bf16"):
        for names in (TWO_ROUNDINGS, ONE_ROUNDING):
            if not together(found[key], names):
                yield f"{key}: {', '.join(names)} are not equal: {found[key]['classes']}"
        if together(found[key], ["GemmOnly", "GemmAdd"]):
            yield f"{key}: the rounding of the product changed nothing"
    for key in ("E2 f16", "E2 bf16"):
        if not together(found[key], [*ONE_ROUNDING, *TWO_ROUNDINGS]):
            yield f"{key}: fast mode should add each bias to the accumulator: {found[key]['classes']}"
    for key, bound in LARGE_BIAS.items():
        largest = max(found[key]["distances"].values())
        if not largest <= bound:
            yield f"{key}: {largest}, at most {bound}"
    for key in ("E1", "E2 f16", "E2 f16 strict"):
        if not set(found[key]["distances"].values()) <= {0, *(2.0**-e for e in range(3, 11))}:
            yield f"{key}: {found[key]['distances']}"
    for key in ("E2 f32", "E2 f32 strict"):
        if not max(found[key]["distances"].values()) <= 6.2e-5:
            yield f"{key}: {found[key]['distances']}"
    if found["rerun"] is not True:
        yield "the program of --dump-optimized gives other bits"
    if found["has_cast"] is not True:
        yield f"has_cast is {found['has_cast']}"


def check_layer_norm(size, folder):
    """Checks 35 and 56. The recorded size is 2 x 1024 x 1152."""
    pictures = ["mixes", "histogram-f32", "histogram-f16", "variants"]
    found = run("layer_norm_exchange", folder, size=size, pictures=pictures)
    for element, bound, norm in (("f32", 5e-4, 1e-6), ("f16", 0.5, 1e-3)):
        mixes = found["mixes"][element]
        if not max(mix["l2"] for mix in mixes.values()) <= norm:
            yield f"{element}: {mixes}, at most {norm} of l2"
        if mixes["AA"]["to_AA"] != 0 or mixes["BB"]["to_BB"] != 0:
            yield f"{element}: equal kernels differ"
        if not max(max(mix["to_AA"], mix["to_BB"]) for mix in mixes.values()) <= bound:
            yield f"{element}: {mixes}, at most {bound}"
    for mix in ("AB", "BA"):
        if not found["mixes"]["f32"][mix]["to_AA"] > 0:
            yield f"{mix}: the exchange changed nothing in f32"
    others = [value for name, value in found["variants"].items() if name != "dot=tf32"]
    if not found["variants"]["dot=tf32"] > 10 * max(others):
        yield f"tf32 does not stand out: {found['variants']}"


def check_reduction(folder):
    """Checks 35 and 54."""
    found = run("parallel_reduction", folder, pictures=["largest-norm", "largest-mean", "pareto-sizes", "strategies"])
    if found["orders"] != 129 or len(found["sizes"]) != 9 or set(found["deltas"]) != {"normal", "fixed", "pareto"}:
        yield f"{found['orders']} orders, sizes {found['sizes']}, {sorted(found['deltas'])}"
    for name, elements in found["deltas"].items():
        largest = {}
        for element, bound in {"f64": 1e-13, "f32": 1e-5}.items():
            rows = elements[element].values()
            deltas = [(row["mean"] / row["scale"], row["norm"] / row["norm_scale"]) for row in rows]
            largest[element] = max(map(max, deltas))
            if not largest[element] < bound:
                yield f"{name}, {element}: {largest[element]}, less than {bound}"
        if not 0 < largest["f64"] < largest["f32"]:
            yield f"{name}: {largest}"
        if any(elements[element]["2"][what] for element in elements for what in ("mean", "norm")):
            yield f"{name}: two elements depend on their order"
    if len({found["strategies"][name] for name in ("written", "serial", "pairwise")}) != 3:
        yield f"strategies do not differ: {found['strategies']}"
    if found["repeats"] is not True:
        yield "the same order gave other bits"


def check_broadcast(folder):
    """Check 52, with the gradients."""
    found = run("dynamic_broadcast", folder)
    if len(found["cases"]) != 16:
        yield f"{len(found['cases'])} cases"
    for name, case in found["cases"].items():
        sizes = [int(size) for size in name.split()[1].split("x")]
        if case != {"size": max(sizes), "z": 0, "dx": 0, "dy": 0}:
            yield f"{name}: {case}"
    if found["mismatch"]["code"] != 1 or "dimension 0 has sizes 2 and 3" not in found["mismatch"]["message"]:
        yield str(found["mismatch"])


def check_llama(folder):
    """Checks 47 and 48."""
    found = run("llama_pipelines", folder)
    compared = {name: case for name, case in found.items() if not name.startswith("align")}
    if len(compared) != 15:
        yield f"{len(compared)} comparisons"
    for name, case in compared.items():
        unscaled = name.endswith("f16 unscaled")
        if case["bound"] != (0 if name.endswith("strict") else 1e-2):
            yield f"{name}: a bound of {case['bound']}"
        if unscaled == (case["l2"] <= case["bound"] and case["abs"] <= case["tolerance"]) or unscaled == case["holds"]:
            yield f"{name}: l2={case['l2']}, abs={case['abs']}"
        if name.endswith("strict") != case["equal"]:
            yield f"{name}: {'other' if name.endswith('strict') else 'equal'} bits"
    parts = ("attention", "decoder", "model")
    gradients = {part: len(found[f"{part} gradient strict"]["results"]) - 1 for part in parts}
    if gradients != {"attention": 5, "decoder": 10, "model": 11}:
        yield f"numbers of gradients: {gradients}"
    for pipeline in ("strict", "f16"):
        if not found[f"align attention {pipeline}"]["by_name"]:
            yield f"{pipeline}: inputs are not matched by name"
    if found["align attention strict"]["first_bits"]:
        yield f"the strict pipelines differ first in {found['align attention strict']['first_bits']}"
    if "ad.dot" not in (found["align attention f16"]["first_bits"] or ""):
        yield f"f16 differs first in {found['align attention f16']['first_bits']}, expected a product"


# Runs llama_pipelines with one gradient of one pipeline replaced.
REPLACED = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
change = sys.argv.pop(1)
import experiment
import llama_pipelines
unchanged = experiment.Experiment.run
def run(self, label, text, arrays, options=()):
    results = unchanged(self, label, text, arrays, options)
    if label == "llama-attention-gradient" and "f16" in options:
        results["d_query"] = results["d_query"] * (0 if change == "zeros" else 0.5)
    return results
experiment.Experiment.run = run
llama_pipelines.PARTS = llama_pipelines.PARTS[:1]
experiment.run_program(llama_pipelines.main)
"""


def check_replaced_gradients(folder):
    """A gradient of zeros, and one that is half as large, are far from the gradient, which itself is near zero."""
    environment = {**os.environ, "ADJOINT_BIN": str(pathlib.Path(runner.binary("ad-runner")).parent)}
    for change, l2 in (("zeros", "1,"), ("half", "0.5")):
        words = [ROOT / "examples/numerics", change, "--quick", "--out", folder / change]
        result = subprocess.run([sys.executable, "-c", REPLACED, *words], capture_output=True, text=True,
                                env=environment)
        wanted = f"llama-pipelines: attention, gradient, f16: l2 of d_query is {l2}"
        if result.returncode != 1 or wanted not in result.stderr:
            yield f"{change}: exit code {result.returncode}, expected '{wanted}': {result.stderr}"


def check_attention_gradients(folder):
    """At the size of check 47, by NumPy: f16 keeps 1e-2 with a loss scale; without one, queries and keys underflow."""
    config = Config(part="attention", entry="gradient")
    given = llama.write_inputs(*llama.inputs(config, seed=0), folder / "inputs")
    names = [("loss", "f32"), *((f"d_{name}", "f32") for name in ("x", *config.parameters()))]
    base = runner.run(program(config), given, names, ["-O0", "--fuse", "single"], folder=folder)
    for scale in (65536, 1):
        text = program(dataclasses.replace(config, loss_scale=scale))
        found = runner.run(text, given, names, ["--precision", "f16"], folder=folder)
        errors = {name: np.linalg.norm(found[name] - base[name]) / np.linalg.norm(base[name]) for name in base}
        if not (max(errors.values()) <= 1e-2 if scale > 1 else min(errors["d_query"], errors["d_key"]) > 0.2):
            yield f"a loss scale of {scale}: {errors}"


def check_attention(folder):
    """Check 47 at its size, 2 x 1024 x 512 and 8 heads: fused kernels compared with single operations."""
    config = Config(part="attention", entry="forward")
    assert (config.batch, config.length, config.width, config.heads) == (2, 1024, 512, 8)
    arguments, feeds = llama.inputs(config, seed=0)
    given = llama.write_inputs(arguments, feeds, folder / "inputs")
    text = program(config)
    operations = ["-O0", "--fuse", "single"]
    base = runner.run(text, given, [("y", "f32")], operations, folder=folder)["y"]
    bounds = {("--numerics", "strict"): 0, ("--numerics", "fast"): 1e-3, ("--precision", "f16"): 1}
    for options, bound in bounds.items():
        largest = float(np.abs(runner.run(text, given, [("y", "f32")], options, folder=folder)["y"] - base).max())
        if not largest <= bound or bound == 1 and not largest:
            yield f"{options}: {largest}, at most {bound}"


def check_emulated(name, folder):
    """The same on the emulated GPU, at a smaller size."""
    assert run(name, folder, "--target", "gpu-sim")


def check_large_bias_emulated(folder):
    """Check 38 on the emulated GPU."""
    found = run("gemm_or_matmul_add", folder, "--target", "gpu-sim")
    for key, bound in LARGE_BIAS.items():
        if not max(found[key]["distances"].values()) <= bound:
            yield f"{key}: {found[key]['distances']}, at most {bound}"
        if key != "E3 f32" and together(found[key], ["GemmOnly", "GemmAdd"]):
            yield f"{key}: the rounding of the product changed nothing"


def check_reduction_emulated(folder):
    """Check 54 on the emulated GPU: the same order gives the same bits."""
    found = run("parallel_reduction", folder, "--target", "gpu-sim")
    if found["repeats"] is not True:
        yield "the same order gave other bits"


def check_refusals(folder):
    script = ROOT / "examples/numerics/dynamic_broadcast.py"
    command = [sys.executable, script, "--target", "tpu", "--out", folder / "x"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 2 or "invalid choice: 'tpu'" not in result.stderr or (folder / "x").exists():
        yield f"exit code {result.returncode}: {result.stderr}"


def main():
    quick, recorded = ("--quick",), ()
    cases = [*((f"gemm or product and sum, {size or 'recorded sizes'}", functools.partial(check_gemm, size))
               for size in (quick, recorded)),
             *((f"layer norms, {size or 'recorded sizes'}", functools.partial(check_layer_norm, size))
               for size in (quick, recorded)), ("attention, recorded size", check_attention),
             ("gradients of attention, recorded size", check_attention_gradients),
             ("gradients that are replaced", check_replaced_gradients),
             ("reductions", check_reduction), ("broadcasts", check_broadcast), ("Llama", check_llama),
             ("refusals", check_refusals),
             ("a large bias, gpu-sim", check_large_bias_emulated), ("reductions, gpu-sim", check_reduction_emulated),
             ("broadcasts, gpu-sim", functools.partial(check_emulated, "dynamic_broadcast"))]
    return checks.run_checks("numerics_experiments", checks.sample(cases, 8))


if __name__ == "__main__":
    sys.exit(main())
