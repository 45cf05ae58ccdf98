# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The folder of --out-dir: its manifest says whether the run is whole and which files are its own, a second run at the
same time is refused, and received values are in their files within a second, also if the process is killed."""

import json
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

RUNNER = runner.binary("ad-runner")
FIRST = """
func.func @main(%x: tensor<4xf32> {ad.name = "x"}) -> (tensor<4xf32> {ad.name = "NAME"}) {
  %y = ad.exp %x : tensor<4xf32>
  ad.receive "seen"(%y) : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
# Sends a value, and then computes for minutes.
LONG = """
func.func @main(%x: tensor<600x600xf32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "w"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 10000000 : index
  %s = ad.reduce_max %x axes [0, 1] : tensor<600x600xf32> -> tensor<f32>
  ad.receive "first"(%s) : tensor<f32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<600x600xf32>) {
    %y = ad.dot %a, %x : (tensor<600x600xf32>, tensor<600x600xf32>) -> tensor<600x600xf32>
    scf.yield %y : tensor<600x600xf32>
  }
  %t = ad.reduce_max %r axes [0, 1] : tensor<600x600xf32> -> tensor<f32>
  return %t : tensor<f32>
}
"""
SECONDS = 60


def write(folder, text):
    path = folder / "program.mlir"
    path.write_text(text)
    return path


def manifest(out):
    return json.loads((out / "manifest.json").read_text())


def run(folder, text, out, *options):
    return subprocess.run([RUNNER, str(write(folder, text)), "--cache=off", "--arg=x=normal:1", f"--out-dir={out}",
                           *options], capture_output=True, text=True, timeout=SECONDS)


def check_whole(folder):
    out = folder / "out"
    identifiers = set()
    for name, earlier in (("y", []), ("y", []), ("z", ["y.npy"]), ("y", ["z.npy"])):
        done = run(folder, FIRST.replace("NAME", name), out)
        assert done.returncode == 0, done.stderr
        found = manifest(out)
        identifiers.add(found["run"])
        if (found["state"], sorted(found["files"]), found["earlier"]) != ("whole", sorted(["seen.npy", f"{name}.npy"]),
                                                                          earlier):
            yield f"after {name}: {found}"
        for file, entry in found["files"].items():
            if entry["bytes"] != (out / file).stat().st_size or len(entry["blake3"]) != 64:
                yield f"{file}: {entry}"
    if found["files"]["y.npy"]["blake3"] == found["files"]["seen.npy"]["blake3"]:
        yield "different files have one hash"
    if len(identifiers) != 2:  # of the outputs with y.npy, and of those with z.npy
        yield f"runs with two kinds of outputs have {len(identifiers)} identifiers"


def check_failed(folder):
    out = folder / "out"
    assert run(folder, FIRST.replace("NAME", "y"), out).returncode == 0
    failing = FIRST.replace("NAME", "y").replace(
        "  return", "  %z = ad.constant dense<1.0> : tensor<4xf32>\n  check.expect_eq(%y, %z) : tensor<4xf32>\n  return")
    done = run(folder, failing, out, "--target=reference")
    if done.returncode == 0:
        yield "the check holds"
    if manifest(out)["state"] != "running" or manifest(out)["earlier"] != ["seen.npy", "y.npy"]:
        yield f"after a failed run: {manifest(out)}"


def wait_for(condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def check_killed(folder):
    out = folder / "out"
    process = subprocess.Popen([RUNNER, str(write(folder, LONG)), "--cache=off", "--arg=x=zeros", f"--out-dir={out}"],
                               stderr=subprocess.PIPE, text=True)
    try:
        stream = out / "first.npy"
        assert wait_for(stream.exists), "no value was received"
        if not wait_for(lambda: len(np.load(stream)) == 1, seconds=1.5):
            yield "the value is not in its file after a second"
        if manifest(out)["state"] != "running":
            yield f"while it runs: {manifest(out)}"
        second = run(folder, FIRST.replace("NAME", "y"), out)
        if second.returncode != 2 or "another run writes into" not in second.stderr:
            yield f"a second run: exit code {second.returncode}: {second.stderr}"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=SECONDS)
    if manifest(out)["state"] != "running" or len(np.load(stream)) != 1:
        yield f"after a kill: {manifest(out)}, {len(np.load(stream))} values"
    third = run(folder, FIRST.replace("NAME", "y"), out)
    if third.returncode or manifest(out)["state"] != "whole":
        yield f"a run after a kill: exit code {third.returncode}: {third.stderr}"


def moved(folder, text, begins):
    """A run whose folder is moved once it has begun writes nothing into the one that has its name since."""
    out = folder / "out"
    process = subprocess.Popen([RUNNER, str(write(folder, text)), "--cache=off", "--arg=x=zeros", "--threads=1",
                                f"--out-dir={out}"], stderr=subprocess.PIPE, text=True)
    assert wait_for((out / begins).exists), f"no {begins}"
    out.rename(folder / "moved")
    out.mkdir()
    errors = process.communicate(timeout=SECONDS)[1]
    if process.returncode != 2 or "was moved or removed" not in errors or list(out.iterdir()):
        yield f"exit code {process.returncode}: {errors} {list(out.iterdir())}"


def check_moved(folder):
    """Neither results nor a stream that begins later."""
    text = LONG.replace("10000000", "300")
    yield from moved(folder, text, "first.npy")
    late = text.replace('  ad.receive "first"(%s) : tensor<f32>\n', "").replace(
        "  return %t", '  ad.receive "last"(%t) : tensor<f32>\n  return %t')
    other = folder / "late"
    other.mkdir()
    yield from moved(other, late, "manifest.json")


def check_partial(folder):
    """A stream whose last value is incomplete is read, with a warning."""
    values = np.arange(8, dtype=np.float32).reshape(2, 4)
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (                   1, 4), }"
    header = header.ljust(117) + b"\n"
    stream = folder / "stream.npy"
    stream.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes() + b"abc")
    text = FIRST.replace("NAME", "y").replace("%x: tensor<4xf32>", "%x: tensor<2x4xf32>").replace(
        "ad.exp %x : tensor<4xf32>", "ad.reduce_sum %x axes [0] : tensor<2x4xf32> -> tensor<4xf32>")
    done = subprocess.run([RUNNER, str(write(folder, text)), "--cache=off", f"--arg=x={stream}", "--print"],
                          capture_output=True, text=True, timeout=SECONDS)
    warning = "the last value is incomplete, since it was being written; 2 whole values before it"
    if done.returncode or "[ 4.  6.  8. 10.]" not in done.stdout or warning not in done.stderr:
        yield f"exit code {done.returncode}: {done.stdout} {done.stderr}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("output folder", [("whole", check_whole), ("failed", check_failed),
                                                 ("killed", check_killed), ("moved", check_moved),
                                                 ("partial", check_partial)]))
