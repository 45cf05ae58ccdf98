# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Contractions by wgmma on the emulated GPU: for every tile, layout and kind of remainder, in every schedule, the bits
of sums in ascending order, and no finding of the checks. Blocks that compute several output tiles reuse the stages of
the pipeline."""

import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from gpu_products import Product  # noqa: E402

# M, N, K, layout (t: transposed operand), element type, batch, tile, blocks (0: as many as the kernel requests). Whole
# tiles and remainders along each axis, less than one K tile and more K tiles than stages, one operand that all batches
# share.
CASES = [
    (128, 256, 64, "nn", "bf16", 0, "128x256", 0), (136, 264, 200, "nt", "f16", 0, "128x256", 2),
    (72, 520, 328, "tn", "bf16", 0, "128x256", 1), (200, 136, 72, "tt", "f16", 2, "128x256", 3),
    (128, 128, 320, "nn", "f16", 0, "128x128", 0), (136, 120, 400, "tt", "bf16", 0, "128x128", 1),
    (8, 136, 8, "tn", "bf16", 3, "128x128", 2), (264, 5, 136, "nt", "bf16", 0, "128x128", 2),
    (64, 64, 64, "nt", "bf16", 0, "64x64", 0), (72, 200, 640, "nn", "bf16", 0, "64x64", 3),
    (1, 3, 16, "nt", "f16", 0, "64x64", 0), (88, 72, 13, "tn", "f16", 2, "64x64", 2),
    (40, 72, 104, "tt", "bf16", 2, "64x64", 1),
    # Rasterisation in strips of eight tiles along M, and a lower strip.
    (1100, 136, 16, "nn", "bf16", 0, "64x64", 5),
    # Bytes, and f32 as tf32: K tiles of 128 and of 32.
    (128, 256, 128, "nt", "i8", 0, "128x256", 0), (136, 264, 400, "nt", "i8", 0, "128x256", 2),
    (200, 136, 656, "nt", "i8", 2, "128x128", 1),
    (264, 5, 208, "nt", "i8", 0, "128x128", 2), (72, 200, 1296, "nt", "i8", 0, "64x64", 3),
    (1, 3, 16, "nt", "i8", 3, "64x64", 0),
    (128, 256, 32, "nt", "f32", 0, "128x256", 0), (136, 264, 100, "nt", "f32", 0, "128x256", 2),
    (200, 136, 164, "nt", "f32", 2, "128x128", 1),
    (264, 5, 52, "nt", "f32", 0, "128x128", 2), (72, 200, 324, "nt", "f32", 0, "64x64", 3),
    (1, 3, 4, "nt", "f32", 3, "64x64", 0),
]


def wrong(case, folder):
    *shape, tile, blocks = case
    product = Product(folder, *shape, tile)
    if "wgmma" not in product.text:
        return "is not computed by wgmma"
    return product.wrong_bits(blocks or None)


def main():
    return checks.run_checks("gpu-warpgroups", [(case, functools.partial(wrong, case))
                                                for case in checks.sample(CASES, 3)])


if __name__ == "__main__":
    sys.exit(main())
