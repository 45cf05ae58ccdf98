# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random numbers by counters and stochastic rounding with NumPy, written from docs/spec/random.md."""

import numpy as np

import elements

MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(counter, key):
    """Philox4x32-10: arrays of four words of a counter and two of a key, in 64 bits each, to four words."""
    c0, c1, c2, c3 = [np.asarray(word, np.uint64) for word in counter]
    k0, k1 = [np.asarray(word, np.uint64) for word in key]
    for _ in range(10):
        left, right = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = right >> HALF ^ c1 ^ k0, right & MASK, left >> HALF ^ c3 ^ k1, left & MASK
        k0, k1 = k0 + np.uint64(0x9E3779B9) & MASK, k1 + np.uint64(0xBB67AE85) & MASK
    return c0, c1, c2, c3


def words(key, counter):
    """The four words at each of the counters, which broadcast with the keys."""
    key, counter = np.broadcast_arrays(*[np.asarray(x).astype(np.int64).view(np.uint64) for x in (key, counter)])
    zero = np.zeros_like(counter)
    return philox((counter & MASK, counter >> HALF, zero, zero), (key & MASK, key >> HALF))


def bits(element, key, counter):
    first, second = words(key, counter)[:2]
    return first.astype(np.uint32).view(np.int32) if element == "i32" else (first << HALF | second).view(np.int64)


def uniform(element, key, counter, pair=0):
    first, second = words(key, counter)[pair:pair + 2]
    if element == "f32":
        return ((first >> np.uint64(8)).astype(np.float64) * 2.0**-24).astype(np.float32)
    return ((first << HALF | second) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(key, counter):
    radius, angle = uniform("f64", key, counter), uniform("f64", key, counter, 2)
    return np.sqrt(-2 * np.log(1 - radius)) * np.cos(2 * np.pi * angle)


def fractions(element, x):
    """Of finite f32 numbers: the magnitude towards zero, the distance to the next one, and the share of it that is
    left, all in f64."""
    magnitude = np.abs(np.asarray(x, np.float64))
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, elements.MIN_EXPONENT[element])
    ulp = np.ldexp(1.0, exponent - elements.MANTISSA[element])
    below = np.floor(magnitude / ulp)
    return below * ulp, ulp, magnitude / ulp - below


def round_stochastically(element, x, word):
    """f32 numbers in the storage of the element type, by words of 32 bits."""
    x, word = np.broadcast_arrays(x, word)
    special = ~np.isfinite(x)
    below, ulp, share = fractions(element, np.where(special, 0, x))
    up = np.floor(share * 2.0**32) + word.astype(np.float64) >= 2.0**32
    with np.errstate(invalid="ignore"):  # a signalling NaN
        finite = np.copysign(below + np.where(up, ulp, 0), x)
    return elements.encode(element, np.where(special, x, finite).astype(np.float64))


def _normal_of_op(op, arrays):
    want = normal(*arrays)
    ulp = elements.ulp(op.result.element, want)
    # NumPy's functions and the rounded angle: near a zero of the cosine only the absolute error is small.
    return want, 8 * ulp + 2.0**-48


TABLE = {
    "rng_bits": lambda op, arrays: (bits(op.result.element, *arrays), None),
    "rng_uniform": lambda op, arrays: (uniform(op.result.element, *arrays), None),
    "rng_normal": _normal_of_op,
    "cast_stochastic": lambda op, arrays: (round_stochastically(op.result.element, arrays[0], words(*arrays[1:])[0]),
                                           None),
}
