# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Divisions of a row by one value have the bits of single divisions, although they share its reciprocal: f32 of any bits and
around each bound of the shared form, all f16 and bf16, and divisors from subnormal to infinite.

A row is divided by the maximum of a second row, which holds the divisor. Rows are short, and in registers, or so long
that a loop divides them."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SHAPES = [(96, 512), (64, 1024), (12, 5000)]
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.0, 1e-45, 1.17549435e-38, 3.4028235e38]
BOUNDS = [2.0**exponent for exponent in (-126, -100, -99, -60, 60, 100, 127)]
FINITE = 0x7F800000


def near(rng, values):
    """Numbers a few units beside the values, of both signs."""
    bits = np.float32(rng.choice(values)).view(np.int32) + rng.integers(-3, 4, dtype=np.int32)
    return np.float32(bits.view(np.float32) * rng.choice([-1, 1]))


def divisors(rng, count):
    """Of any exponent, of exponents for which reciprocals are shared, near bounds, with the longest and shortest
    significands, and special ones."""
    kinds = [lambda: rng.integers(0, FINITE, dtype=np.uint32).view(np.float32),
             lambda: np.float32(np.ldexp(rng.uniform(1, 2), int(rng.integers(-62, 63)))), lambda: near(rng, BOUNDS),
             lambda: (np.uint32(0x3F800000 + int(rng.choice([rng.integers(16), 0x7FFFFF - rng.integers(16)]))))
             .view(np.float32), lambda: np.float32(rng.choice(SPECIAL))]
    return np.array([kinds[number % len(kinds)]() for number in range(count)], np.float32)


def dividends(rng, given, length):
    """Of any bits, near the bounds as quotients of each divisor, special ones, and zeros among quotients near 1."""
    values = rng.integers(0, 1 << 32, (given.size, length), dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        for row, divisor in enumerate(given):
            values[row, ::3] = divisor * np.array([near(rng, BOUNDS) for _ in values[row, ::3]], np.float32)
    values[:, 1:1 + len(SPECIAL)] = SPECIAL
    half = length // 2
    with np.errstate(all="ignore"):
        values[:, half:] = given[:, None] * rng.uniform(0.5, 2, (given.size, length - half)).astype(np.float32)
    zeros = rng.random((given.size, length - half)) < 0.5
    values[:, half:][zeros] = rng.choice(np.array([0.0, -0.0], np.float32), zeros.sum(), p=[0.9, 0.1])
    return values


def program(element, shape):
    rows, length = shape
    t, m = f"tensor<{rows}x{length}x{element}>", f"tensor<{rows}x1x{element}>"
    return f"""func.func @main(%x: {t} {{ad.name = "x"}}, %w: {t} {{ad.name = "w"}}) -> ({t} {{ad.name = "y"}}) {{
  %m = ad.reduce_max %w axes [1] keep_dims : {t} -> {m}
  %y = ad.div %x, %m : {t}, {m}
  return %y : {t}
}}
"""


def wrong(element, x, divisor, folder):
    w = np.broadcast_to(divisor[:, None], x.shape).copy()
    targets = {"gpu-sim": ["--target=gpu-sim", "--numerics=reproducible"]}
    given = [("x", element, x), ("w", element, w)]
    yield from runner.other_bits(folder, program(element, x.shape), given, [("y", element)], targets)


def check_floats(seed, folder):
    rng = np.random.default_rng(seed)
    rows, length = SHAPES[seed % len(SHAPES)]
    given = divisors(rng, rows)
    yield from wrong("f32", dividends(rng, given, length), given, folder)


def check_all(element, seed, folder):
    """All dividends of 16 bits by one divisor."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 1 << 16, dtype=np.uint16)
    storage = elements.STORAGE[element]
    x = np.arange(1 << 16, dtype=np.uint16).reshape(64, 1024).view(storage)
    yield from wrong(element, x, np.full(64, code, np.uint16).view(storage), folder)


def check(seed, folder):
    if seed % 5 < 3:
        yield from check_floats(seed, folder)
    else:
        yield from check_all("f16" if seed % 5 == 3 else "bf16", seed, folder)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("shared reciprocals", check, 15))
