# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A pass or pipeline on a program that has not come as far as it expects says so, located at the program, and its
advice works.

Each runs alone on a program as a user writes it. Either it does something, or it fails with a located error that names
what to run before: with that before it, it succeeds.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

OPT = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-opt")
SUM = """
func.func private @loss(%w: tensor<8x4xf32>, %x: tensor<3x8xf32>) -> tensor<f32> {
  %0 = ad.dot %x, %w : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %1 = ad.softmax %0 axis 1 : tensor<3x4xf32>
  %2 = ad.reduce_sum %1 axes [0, 1] : tensor<3x4xf32> -> tensor<f32>
  return %2 : tensor<f32>
}
"""
PROGRAMS = {
    "primal": """
func.func @main(%w: tensor<8x4xf32>, %x: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %0 = ad.dot %x, %w : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %1 = ad.softmax %0 axis 1 : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
""",
    "gradient": SUM + """
func.func @main(%w: tensor<8x4xf32>, %x: tensor<3x8xf32>) -> (tensor<f32>, tensor<8x4xf32>) {
  %0, %1 = ad.value_and_grad @loss(%w, %x) wrt [0]
      : (tensor<8x4xf32>, tensor<3x8xf32>) -> (tensor<f32>, tensor<8x4xf32>)
  return %0, %1 : tensor<f32>, tensor<8x4xf32>
}
""",
}
# The passes that expect something of their input, by target.
PASSES = {
    "cpu": [
        "--ad-to-cpu-fusion", "--ad-to-cpu-kernels", "--ad-to-cpu-code", "--ad-select-kernels",
        "--convert-ad-to-linalg",
        "--ad-prepack-operands", "--ad-outline-kernels", "--ad-plan-memory", "--ad-emit-cpu", "--convert-host-to-llvm",
        "--ad-verify-numerics", "--ad-verify-fused", "--ad-verify-linalg", "--ad-verify-memory-plan",
        "--ad-lower-to-llvm",
    ],
    "gpu": [
        "--ad-to-gpu-fusion", "--ad-to-gpu-kernels", "--ad-to-gpu-code", "--ad-to-gpu-binary", "--ad-outline-kernels",
        "--ad-plan-memory", "--ad-emit-gpu", "--convert-host-to-llvm=device", "--ad-serialize-kernels",
        "--ad-lower-to-emulator",
    ],
}
# Passes that lower only a part of the input of the next pass, with the passes that follow them in the pipeline.
BEFORE = {"--convert-host-to-llvm": ["--ad-emit-cpu"], "--convert-host-to-llvm=device": ["--ad-emit-gpu"]}


def run(file, *options):
    return subprocess.run([OPT, str(file), *options], capture_output=True, text=True, timeout=120)


def advised(message, target):
    """The options that the message says to run before, or instead."""
    if target == "gpu" and (found := re.search(r"or for a GPU ((?:--[\w-]+ ?)+)", message)):
        return found[1].split()
    if found := re.search(r"run ((?:--[\w-]+ ?)+) first", message):
        return found[1].split()
    return []


def check(text, target, option):
    def run_check(folder):
        file = folder / "program.mlir"
        file.write_text(text)
        alone = run(file, option)
        if alone.returncode == 0:
            if alone.stdout == run(file).stdout:
                yield "leaves its input as it is and does not say so"
            return
        first = alone.stderr.partition("\n")[0]
        if not re.match(rf"{re.escape(str(file))}:\d+:\d+: error: 'ad\.\w+|{re.escape(str(file))}:\d+:\d+: error: 'func", first):
            yield f"expected an error at an operation of the program, but got: {first}"
        if found := re.search(r"; (--\S+) runs all passes up to this one", first):
            if run(file, found[1]).returncode:
                yield f"the advice to run {found[1]} does not work"
            return
        before = advised(first, target)
        if not before:
            yield f"expected what to run first, but got: {first}"
            return
        after = run(file, *before, *BEFORE.get(option, []), option)
        if after.returncode:
            yield f"after {' '.join(before)}, as it advises: {after.stderr.partition(chr(10))[0]}"

    return run_check


def main():
    cases = [
        (f"{option} on a {name}", check(text, target, option))
        for target, options in PASSES.items()
        for option in options
        for name, text in PROGRAMS.items()
    ]
    return checks.run_checks("advice", cases)


if __name__ == "__main__":
    sys.exit(main())
