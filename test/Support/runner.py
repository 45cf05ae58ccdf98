# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs programs with ad-runner: arguments and results as .npy files."""

import errno
import functools
import os
import pathlib
import subprocess
import tempfile

import elements
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def binary(name):
    """A tool of the build: $ADJOINT_BIN, else the bin folder of $ADJOINT_BUILD (build/release)."""
    folder = os.environ.get("ADJOINT_BIN") or ROOT / os.environ.get("ADJOINT_BUILD", "build/release") / "bin"
    return str(pathlib.Path(folder) / name)


@functools.cache
def runs_here(cpu):
    """Whether this machine has the instructions of the CPU; says so if not."""
    program = b"func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n"
    done = subprocess.run([binary("ad-runner"), "-", "--cpu", cpu, "--cache=off", "--arg=arg0=zeros"], input=program,
                          capture_output=True)
    if done.returncode == 4 and b"which this machine lacks" in done.stderr:
        print(f"not run: {done.stderr.decode().strip()}")
        return False
    return True


class Failure(RuntimeError):
    """The runner did not give results; `code` is its exit code, negative for a signal."""

    def __init__(self, code, text):
        super().__init__(f"exit code {code}: {text.strip()[:2000]}")
        self.code, self.text = code, text


def write_feeds(folder, program, name):
    """Saves what the program is fed, as the program that goes by the name; returns the options that pass it."""
    options = []
    elements_of = {op.attributes["feed"][0]: op.result.element for op in program.all_ops() if "feed" in op.attributes}
    for feed, array in program.feeds().items():
        feed, element = feed.replace("$", f"{name}_"), elements_of[feed]
        path = pathlib.Path(folder) / f"{feed}.npy"
        elements.save(path, element, array)
        options.append(f"--feed={feed}={path},cycle")
    return options


def write_arguments(folder, arguments, prefix=""):
    """Saves [(value, array)]; returns the options that pass them."""
    options = []
    for value, array in arguments:
        path = pathlib.Path(folder) / f"{prefix}{value.name}.npy"
        elements.save(path, value.element, array)
        options.append(f"--arg={prefix}{value.name}={path}")
    return options


def match_reference(folder, text, arguments, results, targets):
    """Runs @main on arguments [(name, element, array)] with the options of each of the targets {label: options}. Yields
    (label, name, expected, found) for each result, where the reference interpreter gives what is expected. Targets that
    differ in what is no part of the compiled program, such as the number of threads, share one from the cache."""
    given = []
    for name, element, array in arguments:
        elements.save(folder / f"{name}.npy", element, array)
        given.append(f"--arg={name}={folder / name}.npy")
    reference = run(text, given, results, ["--target", "reference"])
    for label, options in targets.items():
        found = run(text, given, results, options, folder=folder)
        yield from ((label, name, expected, found[name]) for name, expected in reference.items())


def everywhere(rng, numerics="reproducible"):
    """Targets for match_reference: the CPU with one thread and with several, and the emulated GPU."""
    targets = {"cpu": ["--target=cpu", "--threads=1"],
               "cpu with threads": ["--target=cpu", f"--threads={rng.choice([2, 3, 4, 8, 32])}"],
               "gpu-sim": ["--target=gpu-sim"]}
    return {label: [*options, f"--numerics={numerics}"] for label, options in targets.items()}


def other_bits(folder, text, arguments, results, targets):
    """A sentence for each result of a target whose bits are not those of the reference interpreter. As match_reference."""
    kinds = dict(results)
    for label, name, expected, found in match_reference(folder, text, arguments, results, targets):
        wrong = np.argwhere(~elements.same_bits(kinds[name], expected, found))
        if len(wrong):
            yield (f"{label}: {name} has other bits than the reference at {len(wrong)} of {expected.size} places, first "
                   f"{wrong[0]}: {text}")


def run(text, arguments, results, options=(), timeout=300, folder=None, tool=None):
    """Runs @main of the module on arguments [option]; returns {name: array} of results [(name, element)]. Runs in one
    folder find it in the cache there. `tool`: another program than ad-runner."""
    with tempfile.TemporaryDirectory(dir=folder) as out:
        program = pathlib.Path(folder or out) / "program.mlir"
        program.write_text(text)
        out = pathlib.Path(out) / "out"
        out.mkdir()
        cache = pathlib.Path(folder) / "cache" if folder else "off"
        command = [tool or binary("ad-runner"), str(program), f"--cache={cache}", f"--out-dir={out}", *options, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            raise Failure(124, f"no result after {timeout} seconds") from None
        except OSError as error:
            # A batch of programs can have more arguments than the system passes on: its halves run then.
            if error.errno != errno.E2BIG:
                raise
            raise Failure(126, "the command line is longer than the system allows") from None
        if done.returncode:
            raise Failure(done.returncode, done.stderr or done.stdout)
        # What is never received makes no file.
        paths = {name: out / f"{name}.npy" for name, _ in results}
        return {name: elements.load(paths[name], element) for name, element in results if paths[name].exists()}
