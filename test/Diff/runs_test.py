#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traces of random programs and of training programs have no different values on the reference interpreter, the CPU and
the emulated GPU in mode reproducible, and each result of the program has a pair. Closes with `runs: N run, N failed`.
"""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support"), str(HERE.parent / "Fuzz")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import programs  # noqa: E402
import runner  # noqa: E402


# Derivatives have many operations of one name, of which simplification and fusion leave other ones on each target.
TRAINING = ["first", "how-do-i/gradient", "how-do-i/training-step", "how-do-i/adam"]


def check(seed, folder):
    program = programs.random_program(seed, 0)
    (folder / "program.mlir").write_text(program.function("main", ""))
    given = [*runner.write_arguments(folder, program.arguments), *runner.write_feeds(folder, program, "main")]
    yield from differences(folder, given)
    if seed % 100_000 < len(TRAINING):
        path = HERE.parents[1] / f"examples/{TRAINING[seed % 100_000]}.mlir"
        (folder / "training").mkdir()
        (folder / "training/program.mlir").write_text(path.read_text())
        arguments = re.findall(r'%\w+: [^%]*?ad.name = "(\w+)"', path.read_text().split("@main(")[1].split("->")[0])
        assert arguments, path
        yield from differences(folder / "training", [f"--arg={name}=normal:3" for name in arguments])


def differences(folder, given):
    """What is wrong with traces of the program in the folder."""
    for target in ("reference", "cpu", "gpu-sim"):
        command = [runner.binary("ad-runner"), folder / "program.mlir", *given, "--cache=off", "--target", target,
                   "--numerics=reproducible", "--trace", folder / target]
        subprocess.run(command, check=True, capture_output=True, text=True)
    for left, right in (("reference", "cpu"), ("cpu", "gpu-sim")):
        command = [runner.binary("ad-diff"), "runs", folder / left, folder / right, "--bound=different=0",
                   "--json=-"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            yield f"{left} and {right}: exit code {done.returncode} {done.stdout[:2000]} {done.stderr}"
            continue
        alone = [text for side in ("only_left", "only_right") for text in json.loads(done.stdout)[side]
                 if text.startswith(("OUTPUT", "INPUT"))]
        if alone:
            yield f"{left} and {right}: without pair: {alone}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("runs", check, 6))
