#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Graphs and workloads of the benchmark for GPUs: the random ones are legal, follow from the seed and have the sizes and
types that are said; nothing is timed whose results are wrong; bounds, ratios and seeds are what the tables say. On the
emulated GPU, with PyTorch or, where it is not installed, NumPy. Closes with `gpu-graphs: N run, N failed`."""

import json
import re
import subprocess
import sys

import bundles
from bundles import BIN, ROOT

import numpy as np  # isort: skip

import checks
import gpu_checked
import gpu_graph_peers
import gpu_graphs
import gpu_ours
import gpu_workloads
import ratios
import sweep_graph

COUNT, NO_DEVICE = 90, 4
BENCHMARK = [sys.executable, ROOT / "benchmarks" / "gpu.py"]
# Runs adrt-run, then replaces the results of one program.
SPOILER = """#!/bin/bash
"${{0%/*}}/adrt-run-itself" "$@" || exit
out=
for word; do [ "$last" = --out-dir ] && out=$word; last=$word; done
case "$1" in */graph{number}.adx) [ -z "$out" ] || exec {python} -c '{change}' "$out" ;; esac
"""
ZEROS = """import sys, numpy
for name in sys.argv[1:]:
    path = name + "/r0.npy"
    numpy.save(path, numpy.zeros_like(numpy.load(path)))"""
ONE = """import sys, numpy
for name in sys.argv[1:]:
    path = name + "/r0.npy"
    values = numpy.load(path)
    values.reshape(-1).view(numpy.uint8)[-1] ^= 0x40
    numpy.save(path, values)"""


def programs(folder):
    """Legal, the same from the same seed and others from another; half are gradients; no estimate is out of range."""
    drawn = [gpu_graphs.random_cases(seed, COUNT) for seed in (3, 3, 4)]
    texts = [[case.text() for case in cases] for cases in drawn]
    if texts[0] != texts[1] or len(set(texts[0]) & set(texts[2])) > 2:
        yield "programs do not follow from the seed alone"
    gradients = [bool(case.wrt) for case in drawn[0]]
    if gradients.count(True) != COUNT // 2:
        yield f"{gradients.count(True)} of {COUNT} programs are gradients"
    for case in drawn[0]:
        if not set(case.elements) <= {"f32", "bf16"} or "?" in case.text():
            yield f"{case.name} has other types or open sizes"
        if not 1e-5 < gpu_graphs.work(case.graph)[2] < 5e-3:
            yield f"{case.name} takes about {gpu_graphs.work(case.graph)[2]} s"
    for element in ("f32", "bf16"):
        if sum(element in case.elements for case in drawn[0]) < COUNT / 5:
            yield f"few programs have {element}"
    file = folder / "programs.mlir"
    file.write_text("\n// -----\n".join([*texts[0], *(case.text() for case in gpu_workloads.cases())]))
    done = subprocess.run([BIN / "ad-opt", "--split-input-file", file], capture_output=True, text=True)
    if done.returncode:
        yield done.stderr[:1000]


def make(folder, *options):
    made = folder / "made"
    done = subprocess.run([*BENCHMARK, "--target", "gpu-sim", "--make", made, *options], capture_output=True, text=True)
    return made, done.stdout + done.stderr


def measure(made, *options, **more):
    done = subprocess.run([*BENCHMARK, "--from", made, "--rounds", "1", *options], capture_output=True, text=True,
                          env=bundles.environment(), **more)
    return done.returncode, done.stdout + done.stderr


def right(folder):
    """All are measured, with their errors; the slowest with their kernels; the quantiles follow from the ratios."""
    made, said = make(folder, "--count", "18", "--seed", "11", "--part", "graphs", "--part", "workloads")
    code, output = measure(made, "--part", "graphs", "--part", "workloads", "--json", folder / "rows.json")
    rows = json.loads((folder / "rows.json").read_text())
    measured = [row for row in rows if row["kind"] in ("graph", "workload")]
    if code or "seed 11" not in said or "seed 11" not in output:
        yield f"exit code {code}: {said}{output}"
    if len(measured) != 18 + len(list(gpu_workloads.cases(small=True))):
        yield f"{len(measured)} rows"
    for row in measured:
        if len(row["seconds"]) != 2 or row["failed"] or not row["error"] < 0.1 or row["seed"] != 11:
            yield f"got {row}"
    kernels = [row for row in rows if row["kind"] == "kernels"]
    if not kernels or any(row["ratio"] >= 1 or not row["kernels"] for row in kernels):
        yield f"kernels of the slowest: {kernels}"
    graphs = [gpu_checked.ratio_of(row) for row in measured if row["kind"] == "graph"]
    for what, value in (("10th percentile", np.quantile(graphs, 0.1)), ("median", np.median(graphs)),
                        ("minimum", min(graphs))):
        if f"gpu: {what} of 18 random graphs: {value:.2f}x of the peer\n" not in output:
            yield f"expected {what} {value}: {output}"


def wrong(folder):
    """Zeros and one wrong element are named, and not timed; the other programs are."""
    made, _ = make(folder, "--count", "3", "--seed", "1", "--part", "graphs")
    (made / "adrt-run").rename(made / "adrt-run-itself")
    for number, change in enumerate((ZEROS, ONE)):
        (made / "adrt-run").write_text(SPOILER.format(number=2 * number, python=sys.executable, change=change))
        (made / "adrt-run").chmod(0o755)
        code, output = measure(made, "--part", "graphs", "--json", folder / "rows.json")
        rows = [row for row in json.loads((folder / "rows.json").read_text()) if row["kind"] == "graph"]
        for row in rows:
            spoiled = row["number"] == 2 * number
            if spoiled != ("ours" not in row["seconds"]) or spoiled != ("off by" in row["failed"].get("ours", "")):
                yield f"{2 * number} is spoiled, {row}"
        if code != 1 or not re.search("^FAILED: .*: ours: .*r0 is off by ", output, re.MULTILINE):
            yield f"exit code {code}: {output}"


def fresh_seeds(folder):
    seeds = [re.search(r"random graphs of seed (\d+)", make(folder / str(number), "--count", "0", "--part", "graphs")[1])[1]
             for number in range(2)]
    if seeds[0] == seeds[1]:
        yield f"two folders have the seed {seeds[0]}"


def without_peer(folder):
    """For a GPU NumPy is no peer, and without PyTorch nothing is measured."""
    made, _ = make(folder, "--count", "1", "--seed", "1", "--part", "graphs")
    plan = json.loads((made / "gpu.json").read_text())
    (made / "gpu.json").write_text(json.dumps({**plan, "target": "cuda"}))
    (folder / "torch.py").write_text("raise ImportError('none here')")
    done = subprocess.run([*BENCHMARK, "--from", made, "--part", "graphs"], capture_output=True, text=True,
                          env=bundles.environment(ADJOINT_LIBCUDA=bundles.FAKE_CUDA, PYTHONPATH=folder))
    if done.returncode != NO_DEVICE or "graphs are not measured: torch is not installed (none here)" not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"


def bounds(_folder):
    """What is right: within the tolerance, or not much worse than the peer; never zeros or NaN."""
    near, far = (0, 0), (1, 1)
    for error, peer, ours, expected in [
            ((1e-5, 1e-5), near, near, True), ((1e-3, 1e-5), near, near, False), ((1e-5, 1e-3), near, near, False),
            ((3e-3, 1e-5), (1e-3, 0), near, True), ((0.3, 0.3), (0.2, 0.2), near, False), (far, far, near, True),
            (far, far, far, False), ((np.nan, 0), near, near, False), (near, far, (np.nan, 0), False),
            ((0, np.nan), near, near, False)]:
        if gpu_graph_peers.is_right(error, peer, ours, 1e-4) != expected:
            yield f"{error} next to {peer}, {ours} is {'wrong' if expected else 'right'}"
    truth = np.array([3.0, 4.0])
    if gpu_graph_peers.distances(np.array([3.0, 4.5]), truth) != (0.1, 0.125):
        yield "distances are others"
    try:
        gpu_graph_peers.judge({"r0": (0.5, 0.5)}, {"r0": (0, 0)}, {"r0": (0.5, 0.5)}, 1e-4)
        yield "0.5 is right"
    except gpu_ours.Failed as error:
        if "r0 is off by 5.0e-01" not in str(error):
            yield str(error)
    for numbers, met in (([0.9] * 9 + [1.4] * 11, [True] * 3), ([0.2] + [2.0] * 19, [True, True, False]),
                         ([0.7] * 20, [False, False, True])):
        if [each[3] for each in ratios.verdicts(numbers)] != met:
            yield f"{numbers}: {ratios.verdicts(numbers)}"


def numbers_of_f8(_folder):
    """The bytes of all multiples of 1/8 below 2, which arrays of NumPy do not have, against their definition."""
    for number in range(-15, 16):
        byte = int(gpu_graph_peers.NumpyGraphs.eighth(number / 8))
        exponent, fraction = byte >> 3 & 15, byte & 7
        value = (1 + fraction / 8) * 2.0 ** (exponent - 7) if exponent else fraction / 8 * 2.0**-6
        if (-value if byte & 0x80 else value) != number / 8:
            yield f"{number / 8} is {byte:#x}"


def slopes(_folder):
    """Gradients that are wrong in one argument, or zero, are seen without PyTorch."""
    graph = sweep_graph.Graph()
    x, y = graph.input((4, 3)), graph.input((3,))
    graph.results, graph.wrt = [graph.reduce("sum", graph.binary("mul", graph.unary("tanh", x), y), (0, 1))], [0, 1]
    case, peer = gpu_graphs.GraphCase("a graph", graph), gpu_graph_peers.NumpyGraphs()
    random = np.random.default_rng(0)
    peer.given = [random.uniform(-1, 1, (4, 3)), random.uniform(-1, 1, 3)]
    exact = {0: peer.given[1] * (1 - np.tanh(peer.given[0]) ** 2), 1: np.tanh(peer.given[0]).sum(0)}
    for gradients, expected in ((exact, True), ({**exact, 0: 1.01 * exact[0]}, False), ({**exact, 1: 0 * exact[1]}, False),
                                ({i: 0 * g for i, g in exact.items()}, False)):
        if (peer.slope_error(case, gradients) < 1e-6) != expected:
            yield f"the slope is off by {peer.slope_error(case, gradients)}"


def main():
    every = (programs, right, wrong, fresh_seeds, without_peer, bounds, numbers_of_f8, slopes)
    return checks.run_checks("gpu-graphs", [(check.__name__, check) for check in checks.sample(every, 4)])


if __name__ == "__main__":
    sys.exit(main())
