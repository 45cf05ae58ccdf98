#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random sorts whose lines are around the tiles of GPU kernels, or several of them: the emulated GPU gives the bits of the
reference interpreter, which gives NumPy's stable order. Lengths, how many lines, element types, directions, axes, which
sizes are open, and how many elements are equal are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import operations_sorting  # noqa: E402
import runner  # noqa: E402

COUNT = 24
# Lengths beside which a kernel changes: items of a thread, lines of a tile, tiles, and the launches that merge them.
EDGES = (1, 8, 16, 32, 64, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768)
MAX_ELEMENTS = 50_000


def keys(rng, element, shape):
    """Any bits, or few different ones, a NaN of some payload and both zeros among them."""
    storage = np.dtype(elements.STORAGE[element])
    width = storage.itemsize * 8
    count = int(np.prod(shape))
    bits = rng.integers(0, 1 << 63, count, np.uint64) << np.uint64(1) ^ rng.integers(0, 1 << 63, count, np.uint64)
    if rng.random() < 0.5:
        few = np.concatenate([bits[:5], np.array([0, 1 << (width - 1), (1 << width) - 1], np.uint64)])
        bits = few[rng.integers(0, len(few), count)]
    return bits.astype(f"u{width // 8}").view(storage).reshape(shape)


def check(seed, folder):
    rng = np.random.default_rng(seed)
    element = str(rng.choice(elements.NUMBERS))
    length = int(rng.choice(EDGES)) + int(rng.choice([-1, 0, 0, 1, rng.integers(0, 3000)]))
    lines = 1 if length > MAX_ELEMENTS // 2 else int(rng.integers(1, min(MAX_ELEMENTS // max(length, 1), 200) + 1))
    axis, descending = int(rng.integers(0, 2)), bool(rng.random() < 0.5)
    shape = (lines, length) if axis == 1 else (length, lines)
    static = ["?" if rng.random() < 0.25 else str(size) for size in shape]
    kind, result = ("x".join([*static, each]) for each in (element, "i64"))
    text = (f'func.func @main(%x: tensor<{kind}> {{ad.name = "x"}}) -> (tensor<{result}> {{ad.name = "r"}}) {{\n'
            f'  %r = ad.argsort %x axis {axis}{" descending" if descending else ""} : tensor<{kind}>\n'
            f"  return %r : tensor<{result}>\n}}\n")
    array = keys(rng, element, shape)
    with np.errstate(invalid="ignore"):  # NaNs that signal
        expected = operations_sorting.positions(element, array, axis, descending)
    schedule = [[], ["--schedule=lazy"], ["--schedule=shuffled", f"--seed={seed % 2**32}"]][rng.integers(0, 3)]
    targets = {"gpu-sim": ["--target=gpu-sim", f"--chip={rng.choice(['sm_80', 'sm_90a'])}", *schedule],
               "cpu": ["--target=cpu"]}
    for label, _, reference, found in runner.match_reference(folder, text, [("x", element, array)], [("r", "i64")],
                                                             targets):
        for name, other in (("the reference", reference), ("NumPy", expected)):
            wrong = np.argwhere(other != found)
            if len(wrong):
                yield f"{label}: another order than {name}'s at {len(wrong)} places, first {wrong[0]}, of {shape}: {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random long sorts", check, COUNT))
