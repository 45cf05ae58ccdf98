#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs every case of a bundle that bundle.py has made, and compares with what the reference interpreter gave.

  check.py [FOLDER] [--sanitizer compute-sanitizer] [--only TEXT]

Equal are the same bits, or NaN on both sides: its sign and payload are the processor's. Needs Python with NumPy, and for `cuda` the driver of the GPU. With --sanitizer each case runs under it as well. Closes with
`device: N run, N failed`. The exit code is 1 when a case failed, 4 when adrt-run does not start.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SECONDS = 120  # that a case may take
SLOWER = 10  # times, under compute-sanitizer
NO_DEVICE = 4
SANITIZER = ["--leak-check", "full", "--error-exitcode", "99"]


# What only the magnitude of a NaN exceeds, as bits.
LARGEST = {"f64": 0x7FF0000000000000, "f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80, "f8E4M3FN": 0x7E, "f8E5M2": 0x7C}


def widened(array, element):
    """The values of an array in f64; NumPy stores bf16 as two bytes without a type."""
    if element == "bf16":
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def run(command, folder, seconds=SECONDS):
    """What is wrong with the run of a command, or None."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"ran longer than {seconds} seconds"
    return f"exit code {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}" if done.returncode else None


def does_not_start(bundle):
    """Why adrt-run does not start here, or None."""
    try:
        return run([bundle / "adrt-run", "--version"], bundle)
    except OSError as error:
        return str(error)


def outside(bound, expected, got):
    """What leaves the bound around the results of a contraction, or None. `sum` is `dot` and an operand, rounded once more."""
    exact, given = ({name: widened(np.load(folder / f"{name}.npy"), bound["element"]) for name in ("dot", "sum")} for folder in (expected, got))
    for name, values in exact.items():
        if given[name].shape != values.shape:
            return f"{name}.npy has the shape {given[name].shape}, expected {values.shape}"
        allowed = bound["relative"] * (np.abs(exact["dot"]) + np.abs(values)) + bound["absolute"]
        error = np.abs(given[name] - values) - allowed
        if not (error <= 0).all():
            return f"{name}.npy leaves the bound by {np.nanmax(error)}"
    return None


def equal(element, expected, got):
    """Whether two files hold the same tensor."""
    if expected.read_bytes() == got.read_bytes():
        return True
    left, right = np.load(expected), np.load(got)
    if element not in LARGEST or left.shape != right.shape or left.dtype != right.dtype:
        return False
    word = np.dtype(f"u{left.itemsize}")
    left, right = (array.reshape(-1).view(word) for array in (left, right))
    magnitude = word.type(np.iinfo(word).max >> 1)
    nan = ((left & magnitude) > LARGEST[element]) & ((right & magnitude) > LARGEST[element])
    return bool(((left == right) | nan).all())


def different(elements, expected, got):
    """Which files differ, or None."""
    files = {file.name for folder in (expected, got) for file in folder.glob("*")}
    wrong = sorted(name for name in files if not all((folder / name).exists() for folder in (expected, got))
                   or not equal(elements[name.removesuffix(".npy")], expected / name, got / name))
    return f"differs from the reference in {', '.join(wrong)}" if wrong else None


def complaint(bundle, target, case, sanitizer):
    folder = bundle / "cases" / case["name"]
    command = [bundle / "adrt-run", "program.adx", "--target", target, *case["options"]]
    with tempfile.TemporaryDirectory() as name:
        out = pathlib.Path(name) / "out"
        wrong = run([*command, "--out-dir", out], folder)
        if wrong:
            return wrong
        if sanitizer:
            wrong = run([sanitizer, *SANITIZER, *command], folder, SLOWER * SECONDS)
            if wrong:
                return f"under {sanitizer}: {wrong}"
        if case["bound"] and (names := {file.name for file in out.glob("*")}) != {"dot.npy", "sum.npy"}:
            return f"wrote {sorted(names)}, expected dot.npy and sum.npy"
        return outside(case["bound"], folder / "expected", out) if case["bound"] else different(case["elements"], folder / "expected", out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parent)
    parser.add_argument("--sanitizer", help="compute-sanitizer, or where it lies")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    options = parser.parse_args()
    bundle = options.folder.resolve()
    manifest = json.loads((bundle / "manifest.json").read_text())
    cases = [case for case in manifest["cases"] if options.only in case["name"]]
    if wrong := does_not_start(bundle):
        print(f"check.py: adrt-run does not start here ({wrong}); it needs x86-64 Linux with glibc 2.36 or newer", file=sys.stderr)
        return NO_DEVICE
    failed = 0
    for case in cases:
        wrong = complaint(bundle, manifest["target"], case, options.sanitizer)
        if wrong:
            failed += 1
            print(f"FAILED: {case['name']}: {wrong}", flush=True)
    print(f"device: {len(cases)} run, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
