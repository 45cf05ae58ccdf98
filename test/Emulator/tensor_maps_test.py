# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loads by tensor maps: rows in swizzled chunks, zeros outside the tensor, and f32 unchanged or rounded to tf32. The
swizzle and the rounding are implemented here from their documentation, independently of the emulator."""

import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from emulate import INPUTS, SCHEDULES, emulate  # noqa: E402
from wgmma_test import swizzled  # noqa: E402

ROWS, COLUMNS, WIDTH = 8, 32, 48
# Bits of f32 and of the nearest tf32, ties to the one whose last digit is 0: exact, below and above the middle, the
# middle of an even and of an odd number, up to the next power of two and to infinity, the same below zero, subnormal;
# infinities and NaN are unchanged.
ROUNDED = {
    0x3F800000: 0x3F800000, 0x3F802000: 0x3F802000, 0x3F800FFF: 0x3F800000, 0x3F801001: 0x3F802000,
    0x3F801000: 0x3F800000,
    0x3F803000: 0x3F804000, 0x3FFFF000: 0x40000000, 0x3FFFEFFF: 0x3FFFE000, 0x7F7FFFFF: 0x7F800000,
    0x7F7FEFFF: 0x7F7FE000,
    0xBF801001: 0xBF802000, 0xBF801000: 0xBF800000, 0x00001001: 0x00002000, 0x00000FFF: 0, 0x80000001: 0x80000000,
    0x80000000: 0x80000000,
    0x7F800000: 0x7F800000, 0xFF800000: 0xFF800000, 0x7FC00001: 0x7FC00001, 0x7F800001: 0x7F800001,
}


def run(folder, bits, settings, at=0, back=0, schedule=("eager",)):
    np.save(folder / "x.npy", bits.view(np.float32))
    return emulate(INPUTS / "tile.mlir", ["--block", 32, "--arg", f"map:{settings}:inout:{folder}/x.npy", "--arg",
                                          f"out:i32:{ROWS}x{COLUMNS}",
                                          "--arg", f"i32:{at}", "--arg", f"i32:{back}", "--out", folder / "x-out.npy",
                                          "--out", folder / "y.npy"], schedule)


def in_shared(tile, width):
    """The words of a tile with rows of 128 bytes, swizzled."""
    words = np.zeros(tile.size, np.uint32)
    for number, word in enumerate(tile.ravel()):
        words[swizzled(4 * number, width) // 4] = word
    return words


def nearest(values):
    """Rounded in f64: to an integer multiple of the last kept digit, ties to even."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(fraction, 11)), exponent - 11).astype(np.float32)


def moves(width, tf32, at, folder):
    values = np.random.default_rng(width).standard_normal((ROWS, WIDTH)).astype(np.float32)
    expected = (nearest(values) if tf32 else values).view(np.uint32)
    bits, specials = values.view(np.uint32), len(ROUNDED)
    bits[0, :specials] = bits[3, -specials:] = list(ROUNDED)
    expected[0, :specials] = expected[3, -specials:] = list(ROUNDED.values() if tf32 else ROUNDED)
    tile = np.zeros((ROWS, COLUMNS), np.uint32)
    there = expected[:, max(at, 0):at + COLUMNS]
    tile[:, max(-at, 0):max(-at, 0) + there.shape[1]] = there
    for schedule in SCHEDULES:
        done = run(folder, bits, f"box={ROWS}x{COLUMNS},swizzle={width}" + (",tf32" if tf32 else ""), at,
                   schedule=schedule)
        if done.returncode:
            return f"{schedule}: exit {done.returncode}: {done.stderr.strip()}"
        if not np.array_equal(np.load(folder / "y.npy").view(np.uint32).ravel(), in_shared(tile, width)):
            return f"{schedule}: other words than expected"
    return None


def takes_back(tf32, folder):
    """Loads and stores by the same map. A store by a map of tf32 is not documented, and is refused."""
    bits = np.arange(0x3F800000, 0x3F800000 + ROWS * WIDTH, dtype=np.uint32).reshape(ROWS, WIDTH)
    done = run(folder, bits, f"box={ROWS}x{COLUMNS}" + (",tf32" if tf32 else ""), back=1)
    if tf32:
        found = (done.returncode == 1 and "invalid instruction" in done.stderr
                 and "a store by a tensor map of tf32" in done.stderr)
        return None if found else f"expected a finding, got {done.returncode}: {done.stderr.strip()}"
    if done.returncode or not np.array_equal(np.load(folder / "x-out.npy").view(np.uint32), bits):
        return f"exit {done.returncode}, or other words than expected: {done.stderr.strip()}"
    return None


def main():
    cases = [((width, tf32, at), functools.partial(moves, width, tf32, at)) for width in (0, 128)
             for tf32 in (False, True) for at in (0, 16, -4, 20)]
    cases += [(("back", tf32), functools.partial(takes_back, tf32)) for tf32 in (False, True)]
    return checks.run_checks("tensor-maps", cases)


if __name__ == "__main__":
    sys.exit(main())
