# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products by mma.sync on sm_90a whose K tiles TMA loads, on the emulated GPU: for every tile, layout and kind of
remainder, in every schedule, the bits of sums in ascending order, and no finding of the checks. Blocks that compute
several output tiles load into stages that the epilogue has written. Random sizes besides. Closes with
`gpu-tensor-map-products: N run, N failed`."""

import functools
import os
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from gpu_products import MMA_SYNC, Product  # noqa: E402

TILES = ("128x256", "128x128", "128x64", "64x64")
# M, N, K, layout (t: transposed operand; ?: M is dynamic), element type, batch, tile, blocks (0: as many as the kernel
# requests). Whole tiles and remainders along each axis, less than one K tile and more K tiles than stages.
CASES = [
    (128, 256, 64, "nn", "bf16", 0, "128x256", 0), (136, 264, 200, "nt", "f16", 0, "128x256", 2),
    (72, 520, 328, "tn", "bf16", 0, "128x256", 1), (200, 136, 72, "tt", "f16", 2, "128x256", 3),
    (128, 128, 320, "nn", "f16", 0, "128x128", 0), (136, 120, 400, "tt", "bf16", 0, "128x128", 1),
    (8, 136, 8, "tn", "bf16", 3, "128x128", 2), (264, 5, 136, "nt", "bf16", 0, "128x128", 2),
    (128, 64, 264, "tn", "bf16", 0, "128x64", 0), (200, 136, 72, "nt", "bf16", 2, "128x64", 2),
    (64, 64, 64, "nt", "bf16", 0, "64x64", 0), (72, 200, 640, "nn", "bf16", 0, "64x64", 3),
    (1, 3, 16, "nt", "f16", 0, "64x64", 0), (88, 72, 16, "tn", "f16", 2, "64x64", 2),
    (40, 72, 104, "tt", "bf16", 2, "64x64", 1), (100, 72, 136, "nn?", "bf16", 0, "64x64", 2),
]
RANDOM = 3


def random_case(rng):
    """Rows in memory are multiples of 16 bytes."""
    m, n, k = (int(8 * rng.integers(1, 40)) for _ in range(3))
    layout = str(rng.choice(("nn", "nt", "tn", "tt")))
    if layout[0] == "n":
        m = max(1, m - int(rng.integers(8)))
    if layout[1] == "t":
        n = max(1, n - int(rng.integers(8)))
    return (m, n, k, layout, str(rng.choice(("bf16", "f16"))), int(rng.choice((0, 0, 2))), str(rng.choice(TILES)),
            int(rng.choice((0, 1, 2, 5))))


def wrong(case, folder):
    *shape, tile, blocks = case
    product = Product(folder, *shape, tile, numerics=MMA_SYNC)
    if "mma.sync" not in product.text or "cp.async.bulk.tensor" not in product.text or "wgmma" in product.text:
        return "is not computed by mma.sync of tiles that TMA loads"
    return product.wrong_bits(blocks or None)


def main():
    seed = int(os.environ.get("ADJOINT_SEED", "1"))
    rng = np.random.default_rng(seed)
    cases = CASES + [random_case(rng) for _ in range(RANDOM)]
    return checks.run_checks("gpu-tensor-map-products", [(case, functools.partial(wrong, case))
                                                         for case in checks.sample(cases, 3)])


if __name__ == "__main__":
    sys.exit(main())
