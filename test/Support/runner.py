# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs programs with ad-runner: arguments and results as .npy files."""

import os
import pathlib
import subprocess
import tempfile

import elements

ROOT = pathlib.Path(__file__).resolve().parents[2]


def binary(name):
    """A tool of the build: $ADJOINT_BIN, else the bin folder of $ADJOINT_BUILD (build/release)."""
    folder = os.environ.get("ADJOINT_BIN") or ROOT / os.environ.get("ADJOINT_BUILD", "build/release") / "bin"
    return str(pathlib.Path(folder) / name)


class Failure(Exception):
    """The runner did not give results; `code` is its exit code, negative for a signal."""

    def __init__(self, code, text):
        super().__init__(f"exit code {code}: {text.strip()[:2000]}")
        self.code, self.text = code, text


def write_arguments(folder, arguments, prefix=""):
    """Saves [(value, array)]; returns the options that pass them."""
    options = []
    for value, array in arguments:
        path = pathlib.Path(folder) / f"{prefix}{value.name}.npy"
        elements.save(path, value.element, array)
        options.append(f"--arg={prefix}{value.name}={path}")
    return options


def run(text, arguments, results, options=(), timeout=300):
    """Runs @main of the module on arguments [option]; returns the arrays of results [(name, element)]."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.mlir"
        program.write_text(text)
        out = pathlib.Path(folder) / "out"
        out.mkdir()
        command = [binary("ad-runner"), str(program), "--cache=off", f"--out-dir={out}", *options, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure(124, f"no result after {timeout} seconds") from None
        if done.returncode:
            raise Failure(done.returncode, done.stderr or done.stdout)
        return {name: elements.load(out / f"{name}.npy", element) for name, element in results}
