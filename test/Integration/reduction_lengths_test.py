# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Sum and maximum of every length from 1 to 1025, over the last and over another axis, against f64.

One program of dynamic shape serves all lengths, compiled ahead of time for the CPU and for the emulated GPU; the
data are negative, so that a padding with zero would show in the maximum.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

PROGRAM = """
func.func @main(%x: tensor<3x?xf32> {ad.name = "x"}, %y: tensor<?x3xf32> {ad.name = "y"})
    -> (tensor<3xf32> {ad.name = "row_sum"}, tensor<3xf32> {ad.name = "row_max"},
        tensor<3xf32> {ad.name = "column_sum"}, tensor<3xf32> {ad.name = "column_max"}) {
  %a = ad.reduce_sum %x axes [1] : tensor<3x?xf32> -> tensor<3xf32>
  %b = ad.reduce_max %x axes [1] : tensor<3x?xf32> -> tensor<3xf32>
  %c = ad.reduce_sum %y axes [0] : tensor<?x3xf32> -> tensor<3xf32>
  %d = ad.reduce_max %y axes [0] : tensor<?x3xf32> -> tensor<3xf32>
  return %a, %b, %c, %d : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
"""
LENGTHS = [*checks.sample(range(1, 1026), 8), 4095, 4096, 4097, 20000]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
TARGETS = ["cpu", "gpu-sim"]


def wrong(folder, target, length, generator):
    """What is wrong for one length on a target, or None."""
    x = (-1 - generator.random((3, length))).astype(np.float32)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", np.ascontiguousarray(x.T))
    command = [BIN / "adrt-run", folder / f"{target}.adx", "--out-dir", folder / "out"]
    command += [f"--arg=x={folder}/x.npy", f"--arg=y={folder}/y.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()}"
    exact = x.astype(np.float64).sum(axis=1)
    # Any order of n additions of numbers of one sign: relative error at most (n - 1) half ULPs.
    bound = np.abs(exact) * length * 2.0**-24
    for name in ["row_sum", "column_sum"]:
        got = np.load(folder / "out" / f"{name}.npy").astype(np.float64)
        if not np.all(np.abs(got - exact) <= bound):
            return f"{name} {got} instead of {exact}"
    for name in ["row_max", "column_max"]:
        if not np.array_equal(np.load(folder / "out" / f"{name}.npy"), x.max(axis=1)):
            return f"{name} is wrong"
    return None


def main():
    failed = 0
    generator = np.random.default_rng(55)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.mlir").write_text(PROGRAM)
        for target in TARGETS:
            emit = [BIN / "ad-runner", folder / "program.mlir", "--target", target, "--emit", folder / f"{target}.adx"]
            subprocess.run(emit, check=True)
        for target in TARGETS:
            for length in LENGTHS:
                problem = wrong(folder, target, length, generator)
                if problem:
                    failed += 1
                    print(f"length {length} on {target}: {problem}")
    print(f"reductions: {len(TARGETS) * len(LENGTHS)} run, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
