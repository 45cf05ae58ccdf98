#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No pass and no target changes a bit of random programs in mode reproducible. Closes with `stages: N run, N failed`."""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support"), str(HERE.parent / "Fuzz")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import programs  # noqa: E402
import runner  # noqa: E402


def check(seed, folder):
    program = programs.random_program(seed, 0)
    (folder / "program.mlir").write_text(program.function("main", ""))
    given = [*runner.write_arguments(folder, program.arguments), *runner.write_feeds(folder, program, "main")]
    command = [runner.binary("ad-diff"), "stages", folder / "program.mlir", *given, "--numerics=reproducible",
               "--bound=different=0", "--cache=off"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or "all equal" not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout[-500:]} {done.stderr}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("stages", check, 8))
