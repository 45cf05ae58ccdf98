# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What a trace of Llama's attention keeps: the program after each pass in numbered files of IR and of operations with
types and shapes, before and after simplification too, for a forward and a backward program and two pipelines each;
inputs, outputs and the values of a run, which can be repeated; nothing is overwritten."""

import functools
import json
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/models")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import llama  # noqa: E402
import runner  # noqa: E402
from llama_entries import program  # noqa: E402
from llama_text import Config  # noqa: E402

PIPELINES = {"fused": [], "operations": ["-O0", "--fuse", "single"], "gpu-sim": ["--target", "gpu-sim"]}
# Passes that a program of the entry is dumped before and after.
PASSES = {"forward": ["ad-simplify"], "gradient": ["ad-differentiate", "ad-simplify"]}


def run(*words, code=0):
    done = subprocess.run([runner.binary("ad-runner"), "--cache=off", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == code, f"exit code {done.returncode}, expected {code}: {done.stderr}"
    return done.stderr


def numbered_files(trace, stages):
    """`llama_0.mlir`, `llama_0.txt`, `llama_1.mlir`, …: nothing is left out, and run.json names the pass of each."""
    found = {file.name for file in trace.glob("llama_*")}
    expected = {f"llama_{i}.{kind}" for i in range(len(stages)) for kind in ("mlir", "txt")}
    if found != expected:
        yield f"files {sorted(found ^ expected)} are missing or too many"
    if [stage["file"] for stage in stages] != [f"llama_{i}.mlir" for i in range(len(stages))]:
        yield "run.json names other files"
    for stage in stages:
        text = (trace / stage["file"]).read_text()
        parsed = subprocess.run([runner.binary("ad-opt"), "-"], input=text, capture_output=True, text=True)
        if parsed.returncode:
            yield f"{stage['file']}, after {stage['after']}, is no program: {parsed.stderr[:300]}"
        listed = (trace / stage["file"]).with_suffix(".txt").read_text()
        if not listed.startswith("builtin.module") or ("-> tensor<" in text) != ("-> (tensor<" in listed):
            yield f"the list of {stage['file']} has no operations with their types and shapes"


def around(trace, stages, name):
    """The program before a pass and after it."""
    number = next((i for i, stage in enumerate(stages) if stage["after"] == name), None)
    assert number, f"no stage after {name}: {[stage['after'] for stage in stages]}"
    return [(trace / stages[i]["file"]).read_text() for i in (number - 1, number)]


def check_dumps(entry, pipeline, folder):
    config = Config(**{**llama.PRESETS["tiny"], "part": "attention", "entry": entry})
    arguments, feeds = llama.inputs(config, seed=1)
    given = llama.write_inputs(arguments, feeds, folder / "inputs")
    (folder / "llama.mlir").write_text(program(config))
    trace, command = folder / "trace", [folder / "llama.mlir", *given, *PIPELINES[pipeline]]
    run(*command, "--out-dir", folder / "out", "--trace", trace, "--trace-tensors", "ad.dot")
    stages = json.loads((trace / "run.json").read_text())["stages"]
    yield from numbered_files(trace, stages)
    if (trace / "llama.mlir").read_text() != program(config) or stages[0]["after"] != "parse":
        yield "the program is not kept as it was written"
    for name in PASSES[entry]:
        if pipeline == "operations" and name == "ad-simplify":
            continue
        before, after = around(trace, stages, name)
        if before == after or name == "ad-differentiate" and (
                "ad.value_and_grad" not in before or "ad.value_and_grad" in after):
            yield f"the programs before and after {name} are others than expected"
    yield from storage(trace, folder, arguments)
    yield from repeats(trace, command)


def storage(trace, folder, arguments):
    """The files have the bits that went in and that came out."""
    for name, array in arguments.items():
        if np.load(trace / f"inputs/{name}.npy").tobytes() != array.tobytes():
            yield f"input {name} has other bits"
    kept = {file.name: file.read_bytes() for file in (trace / "outputs").iterdir()}
    if kept != {file.name: file.read_bytes() for file in (folder / "out").glob("*.npy")} or not kept:
        yield f"outputs {sorted(kept)} are not those of the run"
    rows = (trace / "records.tsv").read_text().splitlines()
    values = [row for row in rows if "\tad.dot\t" in row and "values/" in row]
    if not values:
        yield "no record of the values that --trace-tensors names"


def repeats(trace, command):
    """--replay gives the bits, finds a changed output, and an existing folder stays as it is."""
    run("--replay", trace)
    before = {file: file.read_bytes() for file in trace.rglob("*") if file.is_file()}
    message = run(*command, "--trace", trace, code=2)
    if {file: file.read_bytes() for file in trace.rglob("*") if file.is_file()} != before or "trace" not in message:
        yield f"the folder was changed: {message}"
    output = sorted((trace / "outputs").iterdir())[0]
    values = np.load(output)
    np.save(output, values + np.ones((), values.dtype))
    message = run("--replay", trace, code=3)
    if output.stem not in message:
        yield f"a changed output is not named: {message}"


def check_optimised_runs_again(entry, folder):
    """The file of --dump-optimized: the same bits, and no pattern applies to it any more."""
    config = Config(**{**llama.PRESETS["tiny"], "part": "attention", "entry": entry})
    arguments, feeds = llama.inputs(config, seed=1)
    given = llama.write_inputs(arguments, feeds, folder / "inputs")
    (folder / "llama.mlir").write_text(program(config))
    run(folder / "llama.mlir", *given, "--out-dir", folder / "first", "--dump-optimized", folder / "optimised.mlir")
    run(folder / "optimised.mlir", *given, "--out-dir", folder / "again")
    for file in (folder / "first").glob("*.npy"):
        if file.read_bytes() != (folder / "again" / file.name).read_bytes():
            yield f"{file.stem} has other bits"
    if (folder / "optimised.mlir").read_text() == program(config):
        yield "nothing was optimised"


def main():
    return checks.run_checks("dumps", checks.sample([
        *((f"{entry}, {pipeline}", functools.partial(check_dumps, entry, pipeline))
          for entry in PASSES for pipeline in PIPELINES),
        *((f"optimised {entry}", functools.partial(check_optimised_runs_again, entry)) for entry in PASSES)], 2))


if __name__ == "__main__":
    sys.exit(main())
