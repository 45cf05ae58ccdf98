# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The largest and smallest element of rows with NaN, infinities and zeros of both signs, against a definition in
Python: NaN wins, and -0 is less than +0.

Rows of every kind are in one tensor, in lengths that fill the lanes of the CPU's kernels, that leave some over, and
that take several chunks.
"""

import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
LENGTHS = [1, 7, 16, 33, 64, 65, 100, 128, 200, 1024, 1000, 4096, 8192, 10000]
ELEMENTS = {"f32": np.float32, "f64": np.float64}
SPECIAL = [math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0]
ROUNDS = 12


def program(length, element):
    """`length` is a number or `?`."""
    rows, result = f"tensor<?x{length}x{element}>", f"tensor<?x{element}>"
    return f"""func.func @main(%x: {rows} {{ad.name = "x"}}) -> ({result} {{ad.name = "max"}}, {result} {{ad.name = "min"}}) {{
  %a = ad.reduce_max %x axes [1] : {rows} -> {result}
  %b = ad.reduce_min %x axes [1] : {rows} -> {result}
  return %a, %b : {result}, {result}
}}
"""


def rows(length, dtype, random):
    """Rows of one sign, of zeros only, and each with some special values at random places."""
    made = [np.full(length, zero) for zero in (0.0, -0.0)]
    made.append(np.where(random.random(length) < 0.5, 0.0, -0.0))
    for sign in (1.0, -1.0) * ROUNDS:
        row = sign * random.random(length)
        made.append(row)
        for value in SPECIAL:
            changed = row.copy()
            changed[random.integers(length, size=random.integers(1, 3))] = value
            made.append(changed)
        zeros = row.copy()
        zeros[random.integers(length, size=2)] = [0.0, -0.0]
        made.append(zeros)
    return np.array(made, dtype)


def expected(row, largest):
    """Bits without the payload of a NaN: None stands for one."""
    if np.isnan(row).any():
        return None
    key = (lambda value: (value, math.copysign(1.0, value)))
    return (max if largest else min)((float(value) for value in row), key=key).hex()


def problem(folder, length, name, dynamic, random):
    """What is wrong with one length and type, or None."""
    x = rows(length, ELEMENTS[name], random)
    np.save(folder / "x.npy", x)
    (folder / "program.mlir").write_text(program("?" if dynamic else length, name))
    done = subprocess.run([RUNNER, str(folder / "program.mlir"), "--cache=off", f"--arg=x={folder}/x.npy", "--out-dir",
                           str(folder)],
                          capture_output=True, text=True)
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    for result in ("max", "min"):
        for number, (row, value) in enumerate(zip(x, np.load(folder / f"{result}.npy"))):
            got, wanted = None if np.isnan(value) else float(value).hex(), expected(row, result == "max")
            if got != wanted:
                return f"{result} of row {number} is {got}, not {wanted}"
    return None


def main():
    random, failed = np.random.default_rng(1), 0
    cases = [(length, name, dynamic) for length in LENGTHS for name in ELEMENTS for dynamic in (False, True)]
    cases = checks.sample(cases, 3)
    with tempfile.TemporaryDirectory() as folder:
        for length, name, dynamic in cases:
            wrong = problem(pathlib.Path(folder), length, name, dynamic, random)
            if wrong:
                failed += 1
                print(f"{length} elements of {name}{', a dynamic length' if dynamic else ''}: {wrong}")
    print(f"extremes: {len(cases)} run, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
