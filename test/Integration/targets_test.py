#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The same file on every target: the programs of test/Integration give the same bytes on the reference interpreter, the
CPU and the emulated GPU, in `reproducible` mode and with the options that their own tests run them with, from the
compiler and from files that were compiled ahead of time; so do some steps of the digits programs, gradients and updates
of parameters included. `strict` gives these bytes too, and `fast` stays within the bound of docs/numerics.md. Closes
with `targets: N run, N failed`."""

import io
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "examples" / "digits"), str(ROOT / "test" / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import prepare  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
RUNNER, RUN_FILE = str(BIN / "ad-runner"), str(BIN / "adrt-run")
TARGETS = ["reference", "cpu", "gpu-sim"]
MIN_PROGRAMS = 20  # fewer, and the way in which the tests are written is no longer understood
# Options that say what a program gets, not how a test runs it.
KEPT = re.compile(r"--(arg|feed|dim|entry)(=|$)")
FAST_BOUND = 2.0**-14  # of the largest element of a result
STEPS = {"mlp": 6, "transformer": 1, "convolution": 1}
STEPS_WRITTEN = re.compile(r"%(steps|batches) = arith\.constant \d+ : index")


def programs():
    """(file, options) of each run of a program on the reference interpreter that needs no other file."""
    found = set()
    for path in sorted(HERE.glob("*.mlir")):
        text = path.read_text()
        defined = re.search(r"DEFINE: %\{arguments\} = (.*)", text)
        for line in re.findall(r"// RUN: (ad-runner .*)", text):
            line = re.split(r"[|>]", line.replace("%{arguments}", defined.group(1) if defined else ""))[0]
            words = [word for word in shlex.split(line)[1:] if word != "%s"]
            options = []
            while words:
                word = words.pop(0)
                has_value = word.startswith("--") and "=" not in word and words and words[0][0] != "-"
                value = [words.pop(0)] if has_value else []
                if KEPT.match(word):
                    options += [word, *value]
            if "--target reference" in line and not any("%" in option for option in options):
                found.add((path, tuple(options)))
    return sorted(found)


def digits(folder):
    """(file, options) of the digits programs with fewer steps."""
    for model, steps in STEPS.items():
        inputs = folder / model
        prepare.write_inputs(*prepare.make_inputs(model, seed=0), inputs)
        text = (ROOT / "examples" / "digits" / f"{model}.mlir").read_text()
        counts = {"steps": steps, "batches": 1}
        path = folder / f"{model}.mlir"
        path.write_text(STEPS_WRITTEN.sub(lambda m: f"%{m[1]} = arith.constant {counts[m[1]]} : index", text))
        yield path, tuple((inputs / "arguments").read_text().splitlines())


def execute(command, out):
    """What the program gives: all files by name, or why there are none."""
    done = subprocess.run([*command, "--out-dir", str(out)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()[:2000]}"
    return {file.name: file.read_bytes() for file in out.glob("*.npy")}


def compiled(target, mode, folder):
    return ["--target", target, "--numerics", mode, "--cache", str(folder / "cache")]


def reproducible(path, options, target, folder):
    """What the program gives in that mode, by what ran it."""
    yield target, execute([RUNNER, str(path), *options, *compiled(target, "reproducible", folder)], folder / target)
    if target == "reference":
        return
    file = folder / f"{target}.adx"
    entry = [word for index, word in enumerate(options) if "--entry" in [word.split("=")[0], options[index - 1]]]
    emit = [RUNNER, str(path), *entry, *compiled(target, "reproducible", folder), "--emit", str(file)]
    done = subprocess.run(emit, capture_output=True, text=True)
    name = f"{file.name} (emitted with {done.returncode}: {done.stderr[:300]})"
    yield name, execute([RUN_FILE, str(file), *options], folder / f"{target}-file")


def differences(expected, given):
    return sorted(name for name in {*expected, *given} if expected.get(name) != given.get(name))


def is_within(bound, expected, given):
    """Whether two files hold the same tensor, or floats that the bound keeps close to each other."""
    if expected is None or given is None or expected == given:
        return expected == given
    left, right = (np.load(io.BytesIO(content)) for content in (expected, given))
    if left.dtype.kind != "f" or left.shape != right.shape or left.dtype != right.dtype:
        return False
    return np.allclose(right, left, rtol=0, atol=bound * np.max(np.abs(left), initial=0, where=np.isfinite(left)),
                       equal_nan=True)


def complaint_of_modes(path, options, target, expected, folder):
    given = {mode: execute([RUNNER, str(path), *options, *compiled(target, mode, folder)], folder / f"{target}-{mode}")
             for mode in ("strict", "fast")}
    for mode, files in given.items():
        if isinstance(files, str):
            return f"{target}, {mode}: {files}"
    wrong = differences(expected, given["strict"])
    if wrong:
        return f"{target}, strict: differs from the reference in {wrong}"
    wrong = [name for name in {*expected, *given["fast"]}
             if not is_within(FAST_BOUND, expected.get(name), given["fast"].get(name))]
    return f"{target}, fast: leaves the bound around the reference in {sorted(wrong)}" if wrong else None


def complaint(path, options, folder):
    (_, expected), = reproducible(path, options, "reference", folder)
    if isinstance(expected, str):
        return f"reference: {expected}"
    for target in TARGETS[1:]:
        for name, given in reproducible(path, options, target, folder):
            if isinstance(given, str):
                return f"{name}: {given}"
            if given != expected:
                return f"{name}: differs from the reference in {differences(expected, given)}"
        wrong = complaint_of_modes(path, options, target, expected, folder)
        if wrong:
            return wrong
    return None


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cases = programs()
        if len({path for path, _ in cases}) < MIN_PROGRAMS:
            print(f"only {len({path for path, _ in cases})} programs found, expected {MIN_PROGRAMS}")
            failed += 1
        cases = [*checks.sample(cases, 10), *checks.sample(digits(folder), 3)]
        for number, (path, options) in enumerate(cases):
            (folder / str(number)).mkdir()
            wrong = complaint(path, options, folder / str(number))
            if wrong:
                failed += 1
                print(f"{path.name} {' '.join(options)}: {wrong}", flush=True)
        print(f"{len({path for path, _ in cases})} programs on {', '.join(TARGETS)}")
    print(f"targets: {len(cases)} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
