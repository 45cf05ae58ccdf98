#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Standard output that is full or closed is an error of each tool, in one line and with exit code 2, whatever is
printed. Standard error that is full or closed changes no exit code. Closes with `N run, N failed`."""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True

import checks
import runner

FIRST = str(ROOT / "examples/first.mlir")
RUN = [FIRST, "--arg", "x=normal:1", "--cache", "off"]
COMMANDS = [
    ["ad-diff", "--help"], ["ad-diff", "stages", "--help"], ["ad-diff", "tensors", "a.npy", "b.npy"],
    ["ad-diff", "tensors", "a.npy", "b.npy", "--bound", "abs=0"], ["ad-diff", "matrix", "a.npy", "b.npy"],
    ["ad-diff", "tensors", "a.npy", "b.npy", "--json", "-"], ["ad-diff", "nan", FIRST, "--arg", "x=normal:1"],
    ["ad-diff-programs", "--help"],
    ["ad-runner", "--help"], ["ad-runner", "--version"], ["ad-runner", "--env"], ["ad-runner", "--list-kernels"],
    ["ad-runner", "--print-precision", "bf16"], ["ad-runner", *RUN, "--print"], ["ad-runner", *RUN, "--report", "-"],
    ["adrt-run", "--help"], ["adrt-run", "first.adx", "--arg", "x=normal:1", "--print"],
    ["ad-opt", "--help"], ["ad-opt", "--list-passes"], ["ad-opt", "--show-dialects"], ["ad-opt", "--version"],
    ["ad-opt", FIRST], ["ad-gpu-emulate", "--help"], ["ad-lsp-server", "--help"], ["ad-list-patterns"],
    ["ad-list-rules"],
]
WRONG = [["ad-diff", "tensors", "a.npy", "none.npy"], ["ad-diff", "--none"], ["ad-runner", "none.mlir"],
         ["ad-runner", "--none"], ["adrt-run", "none.adx"], ["ad-opt", "none.mlir"], ["ad-opt", "--none"],
         ["ad-gpu-emulate", "--none"], *COMMANDS[2:4]]


def execute(command, folder, words):
    """Standard output and standard error are as the shell's words say."""
    tool = runner.binary(command[0])
    return subprocess.run(["bash", "-c", f'exec "$@" {words}', "bash", tool, *command[1:]], cwd=folder, text=True,
                          capture_output=True, timeout=300)


def prepare(folder):
    np.save(folder / "a.npy", np.arange(4, dtype=np.float32))
    np.save(folder / "b.npy", np.arange(4, dtype=np.float32) + 1)
    subprocess.run([runner.binary("ad-runner"), FIRST, "--emit", "first.adx"], cwd=folder, check=True)


def check_output(command, folder):
    prepare(folder)
    for words, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        done = execute(command, folder, words)
        lines = done.stderr.splitlines()
        if done.returncode != 2 or len(lines) != 1 or not lines[0].endswith(f": {reason}"):
            yield f"{words}: exit code {done.returncode}: {done.stderr}"
        elif "standard output" not in lines[0] or ": error: cannot write" not in lines[0]:
            yield f"{words}: {done.stderr}"


def check_errors(command, folder):
    prepare(folder)
    expected = execute(command, folder, "")
    for words in ("2>/dev/full", "2>&-"):
        done = execute(command, folder, words)
        if done.returncode != expected.returncode or done.stdout != expected.stdout:
            yield f"{words}: exit code {done.returncode}, expected {expected.returncode}"


def check_files(folder):
    """A file does not take the number of standard output that is closed."""
    prepare(folder)
    done = execute(["ad-diff", "tensors", "a.npy", "b.npy", "--json", "x.json"], folder, ">&-")
    if done.returncode != 2 or not (folder / "x.json").read_text().startswith("{"):
        yield f"exit code {done.returncode}: {(folder / 'x.json').read_text()}"


def main():
    if not os.path.exists("/dev/full"):
        sys.exit("expected the device /dev/full")
    cases = [*((" ".join(command), functools.partial(check_output, command)) for command in COMMANDS),
             *((" ".join(command), functools.partial(check_errors, command)) for command in WRONG),
             ("files", check_files)]
    return checks.run_checks("standard_output", cases)


if __name__ == "__main__":
    sys.exit(main())
