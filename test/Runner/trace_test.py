#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs with --trace have the bits that they have without, on each target: a program with a loop, a donated argument
and a dynamic size, and random programs. The trace has what the program computes, --replay repeats it, and what cannot
be written leaves nothing. Closes with `trace: N run, N failed`."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support"), str(HERE.parent / "Fuzz")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import programs  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED") or max(checks.SAMPLE, 1))
TARGETS = ("reference", "cpu", "gpu-sim")
LOOP = [str(HERE / "Inputs/trace.mlir"), "--arg=w=normal:1", "--arg=n=normal:2", "--dim=n.0=5", "--feed=batch=normal:3"]
LOOKUP = [str(HERE / "Inputs/trace-lookup.mlir"), "--arg=table=normal:1", "--arg=ids=arange", "--dim=ids.0=7"]
RANDOM_PROGRAMS = 5


def run(*words, code=0, **options):
    done = subprocess.run([runner.binary("ad-runner"), "--cache=off", *map(str, words)], capture_output=True, text=True,
                          timeout=300, **options)
    assert done.returncode == code, f"exit code {done.returncode} of {' '.join(map(str, words))}: {done.stderr}"
    return done.stderr


def contents(folder):
    """The files of a run but the manifest, which names the run."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "manifest.json"}


def records(trace):
    header, *rows = (trace / "records.tsv").read_text().split("\n")[:-1]
    return [dict(zip(header.split("\t"), row.split("\t"))) for row in rows]


def bits_and_replay(folder, command, target, mode):
    """Problems of a program on one target."""
    command = [*command, "--target", target, "--numerics", mode]
    run(*command, "--out-dir", folder / "plain")
    run(*command, "--out-dir", folder / "traced", "--trace", folder / "trace")
    if contents(folder / "plain") != contents(folder / "traced"):
        yield f"{target}: other bits with --trace"
    about = json.loads((folder / "trace/run.json").read_text())
    if about["kernel_results_unlike_reference"]:
        yield f"{target}: {about['kernel_results_unlike_reference']} results of kernels differ from the reference"
    run("--replay", folder / "trace")
    for name in ("plain", "traced", "trace"):
        shutil.rmtree(folder / name)


def check_loop(folder):
    for target in TARGETS:
        yield from bits_and_replay(folder, LOOP, target, "strict")


def check_lookup(folder):
    """The search for an index outside is code of the compiler: a trace shows no scalars of it."""
    for target in TARGETS:
        yield from bits_and_replay(folder, LOOKUP, target, "reproducible")
        run(*LOOKUP, "--target", target, "--trace", folder / "trace")
        computed = [row["op"] for row in records(folder / "trace") if row["kind"] not in ("INPUT", "OUTPUT")]
        own = [op for op in computed if op.startswith("ad.")]
        if own != ["ad.take", "ad.reduce_sum"] or any(op.startswith("arith.") for op in computed):
            yield f"{target}: the trace has {computed}"
        shutil.rmtree(folder / "trace")


def check_random(folder):
    for number in range(RANDOM_PROGRAMS):
        program = programs.random_program(SEED, number)
        (folder / "program.mlir").write_text(program.function("main", ""))
        command = [folder / "program.mlir", *runner.write_arguments(folder, program.arguments),
                   *runner.write_feeds(folder, program, "main")]
        for target in TARGETS:
            for problem in bits_and_replay(folder, command, target, "reproducible"):
                yield f"seed {SEED}, program {number}: {problem}"


def check_content(folder):
    """Constants, arguments, feeds, each iteration, what is received, results; files of tensors; stages."""
    warning = run(*LOOP, "--trace", folder / "trace", "--trace-tensors", "u,ad.dot,nosuch,ad.tan", "--target", "cpu")
    if warning.count("warning") != 1 or "named 'nosuch', 'ad.tan'; records.tsv" not in warning:
        yield f"of names that do not occur: {warning}"
    rows = records(folder / "trace")
    runs = [(row["run"], row["origin"]) for row in rows if (row["op"], row["name"]) == ("ad.tanh", "%t")]
    if runs != [("0", "recomputed"), ("1", "recomputed"), ("2", "recomputed")]:
        yield f"%t ran {runs}"
    inputs = [row["name"] for row in rows if row["kind"] == "INPUT"]
    if inputs != ["w", "n", "batch", "batch[1]", "batch[2]"]:
        yield f"inputs {inputs}"
    outputs = [row["name"] for row in rows if row["kind"] == "OUTPUT"]
    if outputs != ["loss", "loss", "loss", "next", "odds"]:
        yield f"outputs {outputs}"
    kept = {(row["name"], row["run"]): folder / "trace" / row["value"] for row in rows if row["value"]}
    if sorted(kept) != [("%u", "0"), ("%u", "1"), ("%u", "2"), ("%y", "0"), ("%y", "1"), ("%y", "2"), ("%z", "0")]:
        yield f"kept tensors of {sorted(kept)}"
    if not np.array_equal(np.load(kept["%u", "2"]), np.load(folder / "trace/outputs/next.npy")):
        yield "the last %u is not the result"
    feeds = np.load(folder / "trace/feeds/batch.npy")
    if feeds.shape != (3, 8, 8):
        yield f"feeds of shape {feeds.shape}"
    product = feeds[0].astype(np.float64) @ np.load(folder / "trace/inputs/w.npy")
    if not np.allclose(np.load(kept["%y", "0"]), product, rtol=1e-5):
        yield "the first %y is not the product; the argument is donated"
    stages = json.loads((folder / "trace/run.json").read_text())["stages"]
    names = [stage["after"] for stage in stages]
    for name in ("parse", "ad-fuse", "ad-plan-memory", "ad-lower-to-llvm"):
        if name not in names:
            yield f"no stage after {name}: {names}"
    for stage in stages:
        listed = (folder / "trace" / stage["file"]).with_suffix(".txt").read_text()
        if not listed.startswith("builtin.module"):
            yield f"{stage['file']} has no list of operations"
    if "ad.tanh : (tensor<8x4xf32>) -> (tensor<8x4xf32>) %t" not in (folder / "trace/trace_0.txt").read_text():
        yield "trace_0.txt does not list %t"


def check_moved(folder):
    """A trace has no paths: it can be moved, and its sources may be gone. A changed output is found."""
    np.save(folder / "w.npy", np.ones((8, 4), np.float32))
    np.save(folder / "batches.npy", np.random.default_rng(1).normal(size=(2, 8, 8)).astype(np.float32))
    shutil.copy(LOOP[0], folder / "loop.mlir")
    run(folder / "loop.mlir", f"--arg=w={folder}/w.npy", f"--feed=batch={folder}/batches.npy,cycle", *LOOP[2:4],
        "--trace", folder / "first")
    (folder / "first").rename(folder / "second")
    for name in ("w.npy", "batches.npy", "loop.mlir"):
        (folder / name).unlink()
    if str(folder) in (folder / "second/run.json").read_text():
        yield "run.json names the folder"
    for target in TARGETS:
        run("--replay", folder / "second", "--target", target)
    output = folder / "second/outputs/next.npy"
    np.save(output, np.load(output) + np.float32(1))
    message = run("--replay", folder / "second", code=3)
    if "results with other bits than in the trace: 'next'" not in message:
        yield message
    (folder / "second/feeds/batch.npy").unlink()
    message = run("--replay", folder / "second", code=2)
    if "the trace lacks 'feeds/batch.npy', the values of feed 'batch'" not in message:
        yield message


def check_names(folder):
    """Streams of one file name have two files; a program may have the name of a file or folder of traces."""
    text = """func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
  ad.receive "a"(%x, %y) : tensor<2xf32>, tensor<3xf32>
  ad.receive "a.1"(%x) : tensor<2xf32>
  return %x : tensor<2xf32>
}"""
    for target, name in zip(TARGETS, ("run.json", "inputs", "precision.yaml")):
        trace, program = folder / target, folder / name
        program.write_text(text)
        run(program, "--arg=arg0=arange", "--arg=arg1=zeros", "--target", target, "--trace", trace)
        shapes = sorted(np.load(file).shape for file in (trace / "received").iterdir())
        if shapes != [(1, 2), (1, 2), (1, 3)]:
            yield f"{target}: received {shapes}"
        if json.loads((trace / "run.json").read_text())["status"] != "done":
            yield f"{target}: the run is not described"
        run("--replay", trace)


def check_failed_program(folder):
    """A program that fails has a trace until then."""
    (folder / "p.mlir").write_text("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = ad.log %x : tensor<2xf32>
  %b = ad.barrier %y : tensor<2xf32>
  check.expect_finite(%b) : tensor<2xf32>
  %z = ad.exp %b : tensor<2xf32>
  return %z : tensor<2xf32>
}""")
    for target in TARGETS:
        trace = folder / target
        run(folder / "p.mlir", "--arg=arg0=zeros", "--target", target, "--trace", trace, code=3)
        about = json.loads((trace / "run.json").read_text())
        if about["status"] != "failed" or "finite" not in about["error"]:
            yield f"{target}: {about['status']}, {about.get('error')}"
        names = [row["name"] for row in records(trace)]
        if "%y" not in names or "%z" in names:
            yield f"{target}: values {names}"


def check_refusals(folder):
    (folder / "there").mkdir()
    (folder / "own.mlir").write_text("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  ad.receive "ad.trace"(%x) : tensor<2xf32>
  return %x : tensor<2xf32>
}""")
    wrong = {
        "exists; remove it or name another": [*LOOP, "--trace", folder / "there"],
        "cannot make folder": [*LOOP, "--trace", folder / "missing/trace"],
        "--trace records one run": [*LOOP, "--trace", folder / "new", "--repeat", "2"],
        "add --trace DIR": [*LOOP, "--trace-tensors", "all"],
        "with all, or with names separated by commas": [*LOOP, "--trace", folder / "new", "--trace-tensors", "u,"],
        "--replay needs a folder that --trace has written": ["--replay", folder / "there"],
        "--replay runs the program of the trace": ["--replay", folder / "there", LOOP[0]],
        "--replay repeats the recorded run": ["--replay", folder / "there", "--numerics", "fast"],
    }
    for message, command in wrong.items():
        found = run(*command, code=2)
        if message not in found:
            yield f"expected '{message}', found {found}"
    found = run(folder / "own.mlir", "--arg=arg0=zeros", "--trace", folder / "new", code=1)
    if "has the name 'ad.trace', which traces use" not in found:
        yield found
    for text in ("{", "{}", '{"program": "../p.mlir", "options": 1}'):
        (folder / "there/run.json").write_text(text)
        found = run("--replay", folder / "there", code=2)
        if "is not of a trace" not in found:
            yield found
    left = sorted(os.listdir(folder))
    if left != ["own.mlir", "there"]:
        yield f"left {left}"


def check_full_disk(folder):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # noqa: E731
    for target in TARGETS:
        message = run(*LOOP, "--trace", folder / "trace", "--target", target, code=2, preexec_fn=limit)
        if "cannot write" not in message or os.listdir(folder):
            yield f"{target}: {message}, left {os.listdir(folder)}"


def check_signals(folder):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for target, number, code in (("reference", signal.SIGINT, 130), ("cpu", signal.SIGINT, 130),
                                 ("cpu", signal.SIGTERM, -signal.SIGTERM), ("cpu", signal.SIGHUP, -signal.SIGHUP)):
        command = [runner.binary("ad-runner"), HERE / "Inputs/long.mlir", "--arg=start=zeros", "--target", target,
                   "--trace", folder / "trace", "--out-dir", folder / "out"]
        with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
            deadline = time.time() + 60
            while time.time() < deadline and not (folder / "out/count.npy").exists():
                time.sleep(0.01)
            process.send_signal(number)
            process.communicate(timeout=60)
        if process.returncode != code or os.listdir(folder) != ["out"]:
            yield f"{target}: exit code {process.returncode} after {number.name}, left {os.listdir(folder)}"
        shutil.rmtree(folder / "out")


if __name__ == "__main__":
    sys.exit(checks.run_checks("trace", [("loop", check_loop), ("lookup", check_lookup), ("random programs", check_random),
                                         ("content", check_content), ("moved", check_moved), ("names", check_names),
                                         ("failed program", check_failed_program), ("refusals", check_refusals),
                                         ("full disk", check_full_disk), ("signals", check_signals)]))
