# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Long rows on the emulated GPU: rows that are too long for the registers of a group stay in those of a thread block,
whose threads exchange the terms of sums in shared memory. Rows that are too long for these are loaded once into shared
memory, by copies of every width, and exponentials are computed there once. All give in every schedule the bits of the
reference interpreter, with no finding of the checks. Blocks that take several rows use the memory again, and so do
clusters of blocks that share a row. What does not fit is read again."""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from gpu_kernel import Kernel  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
SCHEDULES = [["eager"], ["lazy"], ["shuffled", "--seed", "1"], ["shuffled", "--seed", "2"]]
# Rows of up to so many elements have no clusters, nor have those of up to three chunks in an order of longer ones.
WITHOUT_CLUSTERS, CHUNK = 12288, 4096
LONG_CHUNKS = "{order = #ad.order<lanes = 64, chunk = 16384>} "
SOFTMAX = "%y = ad.softmax %x axis {axis} {order}: {t}"
BOTH = "%0 = ad.mul %x, %w : {t}\n  %1 = ad.softmax %0 axis {axis} {order}: {t}\n  %y = ad.sub %1, %w : {t}"
VARIANCE = """%0 = ad.reduce_mean %x axes [{axis}] {order}: {t} -> {r}
  %1 = ad.reshape %0 : {r} -> {u}
  %2 = ad.sub %x, %1 : {t}, {u}
  %3 = ad.mul %2, %2 : {t}
  %y = ad.reduce_sum %3 axes [{axis}] {order}: {t} -> {r}"""
# Text, operands, element type, shape, chip, and what a block has of a row in shared memory. Of rows in registers: bytes of
# the term of a sum. Of others: bytes of an element of each operand that is loaded, then of each exponential that is
# computed there. A row has one chunk or several, whole lanes or not, and consists of chunks of 16, 8 or 4 bytes; or of
# fewer, and of more than a block has room for.
CASES = [
    (SOFTMAX, "x", "f32", (3, 4096), "sm_90a", [4]), (SOFTMAX, "x", "f32", (5, 2049), "sm_80", [4]),
    (SOFTMAX, "x", "f32", (3, 9002), "sm_90a", [4]), (SOFTMAX, "x", "f32", (1, 5000), "sm_80", [4]),
    (SOFTMAX, "x", "f32", (2, 2, 4100), "sm_80", [4]), (SOFTMAX, "x", "f32", (4500,), "sm_90a", [4]),
    (SOFTMAX, "x", "f16", (3, 5002), "sm_80", [4]), (SOFTMAX, "x", "f16", (2, 5001), "sm_90a", [4]),
    (SOFTMAX, "x", "bf16", (3, 9004), "sm_80", [4]), (SOFTMAX, "x", "f64", (2, 4099), "sm_90a", [8]),
    (SOFTMAX, "x", "f32", (2, 30000), "sm_90a", [4]), (SOFTMAX, "x", "f32", (2, 30000), "sm_80", []),
    (BOTH, "xw", "f32", (3, 6001), "sm_80", [4]), (BOTH, "xw", "f32", (2, 14000), "sm_86", [4]),
    (VARIANCE, "x", "f32", (3, 6000), "sm_80", [4]),
    (SOFTMAX, "x", "f32", (2, 40000), "sm_90a", [4]), (SOFTMAX, "x", "bf16", (3, 36004), "sm_90a", [2, 4]),
    (SOFTMAX, "x", "f16", (2, 33002), "sm_90a", [2, 4]), (SOFTMAX, "x", "f16", (2, 33001), "sm_90a", []),
    (SOFTMAX, "x", "f64", (2, 17001), "sm_90a", [8]), (BOTH, "xw", "f32", (2, 17001), "sm_90a", [4, 4, 4]),
    (VARIANCE, "x", "f32", (2, 40000), "sm_90a", [4]),
]
# The same of rows that the blocks of a cluster share, of which each has a chunk.
CLUSTERS = [
    (SOFTMAX, "x", "f32", (3, 20000), "sm_90a", [4]), (SOFTMAX, "x", "bf16", (3, 16384), "sm_90", [4]),
    (VARIANCE, "x", "f64", (3, 12289), "sm_90a", [8]), (BOTH, "xw", "f16", (4, 32766), "sm_90a", [4]),
]


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def program(text, operands, element, shape, order):
    kinds = {"t": tensor(shape, element), "r": tensor(shape[:-1], element), "u": tensor((*shape[:-1], 1), element)}
    result = kinds["r" if text == VARIANCE else "t"]
    arguments = ", ".join(f'%{name}: {kinds["t"]} {{ad.name = "{name}"}}' for name in operands)
    return f"""func.func @main({arguments}) -> ({result} {{ad.name = "y"}}) {{
  {text.format(axis=len(shape) - 1, order=order, **kinds)}
  return %y : {result}
}}
"""


def wrong(case, folder):
    text, operands, element, shape, chip, lines = case
    in_cluster = case in CLUSTERS
    file = folder / "program.mlir"
    order = "" if in_cluster or shape[-1] <= WITHOUT_CLUSTERS else LONG_CHUNKS
    file.write_text(program(text, operands, element, shape, order))
    random, kind = np.random.default_rng(shape[-1]), {"f16": "f2", "bf16": "f4", "f32": "f4", "f64": "f8"}[element]
    for name in operands:
        values = random.standard_normal(shape).astype(kind)
        np.save(folder / f"{name}.npy", (values.view(np.uint32) >> 16).astype(np.uint16).view("V2") if element == "bf16"
                else values)
    files = [f"{name}={folder / name}.npy" for name in operands]
    subprocess.run([BIN / "ad-runner", file, "--numerics=reproducible", "--target=reference", f"--out-dir={folder}",
                    *(f"--arg={pair}" for pair in files)], check=True, capture_output=True)
    expected = np.load(folder / "y.npy")
    kernel = Kernel(file, chip)
    length = CHUNK if in_cluster else shape[-1]
    expected_bytes = sum(-(-length * size // 16) * 16 for size in lines)
    if (kernel.cluster > 1) != in_cluster:
        return f"the launch has clusters of {kernel.cluster} blocks"
    if kernel.shared != expected_bytes:
        return f"the launch has {kernel.shared} bytes of shared memory, expected {expected_bytes}"
    arguments = [*(f"{element}:{folder / name}.npy" for name in operands),
                 f"out:{element}:{'x'.join(map(str, expected.shape))}"]
    for blocks in 1, 2:
        for schedule in SCHEDULES[:1] if blocks == 1 else SCHEDULES:
            done = kernel.run(folder, arguments, blocks * kernel.cluster, schedule)
            if done.returncode:
                return f"{blocks} blocks, {' '.join(schedule)}: exit {done.returncode}: {done.stderr.strip()}"
            if np.load(folder / "found.npy").tobytes() != expected.tobytes():
                return f"{blocks} blocks, {' '.join(schedule)}: other bits than those of the reference interpreter"
    return None


def main():
    return checks.run_checks("gpu-rows", [(case[1:], functools.partial(wrong, case))
                                          for case in checks.sample(CASES + CLUSTERS, 3)])


if __name__ == "__main__":
    sys.exit(main())
