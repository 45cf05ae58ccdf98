# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs that fail while ad-diff runs them: each subcommand ends with exit code 2 and names the line of the program
that the user gave, and `nan` lists the origins until then. Closes with `failing programs: N run, N failed`."""

import functools
import json
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

# The logarithm of 0 is infinite, and then the line with FAILS fails. Comments move it away from the line that a
# printed form of the program has it on.
HEAD = """// A program
// that begins with comments.
func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %w: tensor<3x3xf32> {ad.name = "w"}, %n: tensor<1xi64> {ad.name = "n"})
    -> (tensor<f32> {ad.name = "y"}) {
  %c0 = arith.constant 0 : index

  %l = ad.log %x : tensor<?xf32> // LOG
"""
TAIL = """
  %p = ad.dot %w, %w : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %y = ad.reduce_sum %p axes [0, 1] : tensor<3x3xf32> -> tensor<f32>
  return %y : tensor<f32>
}
"""
PROGRAMS = {
    "check": "  check.expect_finite(%l) : tensor<?xf32> // FAILS",
    "equal": "  check.expect_eq(%l, %x) : tensor<?xf32> // FAILS",
    "broadcast": """  %k = ad.constant dense<1.0> : tensor<5xf32>
  %z = ad.add %l, %k : tensor<?xf32>, tensor<5xf32> // FAILS
  ad.receive "z"(%z) : tensor<5xf32>""",
    "slice": """  %i = tensor.extract %n[%c0] : tensor<1xi64>
  %size = arith.index_cast %i : i64 to index
  %z = ad.slice %l [1] strides [1](%size) : tensor<?xf32> -> tensor<?xf32> // FAILS
  ad.receive "z"(%z) : tensor<?xf32>""",
    "contraction": """  %i = tensor.extract %n[%c0] : tensor<1xi64>
  %size = arith.index_cast %i : i64 to index
  %one = arith.constant 1.0 : f32
  %o = ad.full %one(%size) : f32 -> tensor<?xf32>
  %z = ad.dot %l, %o : (tensor<?xf32>, tensor<?xf32>) -> tensor<f32> // FAILS
  ad.receive "z"(%z) : tensor<f32>""",
    "feed": """  %z = ad.feed "z" : tensor<f32> // FAILS
  ad.receive "w"(%z) : tensor<f32>""",
}
COMMANDS = {
    "nan": ["nan"], "nan cpu": ["nan", "--target", "cpu", "--cache", "off"],
    "nan gpu-sim": ["nan", "--target", "gpu-sim"],
    "shadow": ["shadow"], "precision": ["precision", "--policy", "bf16", "--bound", "abs=1"],
    "exact precision": ["precision", "--policy", "bf16", "--bound", "abs=1", "--against", "f64"],
    "stages": ["stages"], "bisect": ["bisect", "--b=-O0"], "reduce": ["reduce", "--b=-O0"],
}
RUNS = ("bisect", "reduce")  # each run is a process with an error of its own


def place_of(text, mark):
    """LINE of the operation that ends with the mark."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"// {mark}"))


def run(program, command, folder):
    text = HEAD + PROGRAMS[program] + TAIL
    (folder / "program.mlir").write_text(text)
    np.save(folder / "x.npy", np.array([1, 0, 2], np.float32))
    np.save(folder / "n.npy", np.array([7]))
    if program == "feed":  # a file that does not hold enough
        np.save(folder / "z.npy", np.zeros((0,), np.float32))
    arguments = ["--arg", "x=x.npy", "--arg", "w=arange", "--arg", "n=n.npy"]
    arguments += ["--feed", "z=z.npy"] if program == "feed" else []
    done = subprocess.run([runner.binary("ad-diff"), *command[:1], "program.mlir", *arguments, *command[1:]],
                          cwd=folder, capture_output=True, text=True)
    return text, done


def check(program, name, folder):
    text, done = run(program, COMMANDS[name], folder)
    place = f"program.mlir:{place_of(text, 'FAILS')}:"
    if done.returncode != 2:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    if place not in done.stderr:
        yield f"expected {place}: {done.stderr}"
    if done.stderr.count("error:") != (2 if name in RUNS else 1):
        yield f"expected one error: {done.stderr}"
    if name.startswith("nan"):
        origin = f"1. infinity: ad.log at program.mlir:{place_of(text, 'LOG')}:"
        # A compiled program waits for its feeds before it computes.
        begin = "none: " if program == "feed" and name != "nan" else origin
        if not done.stdout.startswith(begin) or not done.stdout.endswith("then the run failed\n"):
            yield f"expected {origin}: {done.stdout}"


def check_json(folder):
    """The error is part of the report."""
    _, done = run("check", ["nan", "--json", "-"], folder)
    report = json.loads(done.stdout)
    if done.returncode != 2 or len(report["origins"]) != 1 or "check.expect_finite" not in report["error"]:
        yield f"exit code {done.returncode}: {done.stdout}"


def check_order(folder):
    """Origins come before the error, also where both go to one file."""
    text, _ = run("check", ["nan"], folder)
    both = subprocess.run([runner.binary("ad-diff"), "nan", "program.mlir", "--arg", "x=x.npy", "--arg", "w=arange",
                           "--arg", "n=n.npy"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not 0 <= both.stdout.find("1. infinity") < both.stdout.find("error:"):
        yield both.stdout


def main():
    cases = [(f"{program}, {name}", functools.partial(check, program, name))
             for program in PROGRAMS for name in COMMANDS]
    return checks.run_checks("failing programs", [*cases, ("json", check_json), ("order", check_order)])


if __name__ == "__main__":
    sys.exit(main())
