# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Philox4x32-10 (Salmon et al. 2011) in NumPy: the numbers of ad.rng_uniform and ad.rng_normal, for arrays that are made outside of
traced functions."""

from __future__ import annotations

import numpy as np

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def words(key: int, counters: np.ndarray) -> list[np.ndarray]:
    """w0 to w3 of a 64-bit key and 64-bit counters."""
    bits = np.uint64(key & (2**64 - 1))
    first, second = bits & _LOW, bits >> _HALF
    counters = counters.astype(np.uint64)
    c0, c1, c2, c3 = counters & _LOW, counters >> _HALF, np.zeros_like(counters), np.zeros_like(counters)
    for _ in range(10):
        left, right = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (right >> _HALF) ^ c1 ^ first, right & _LOW, (left >> _HALF) ^ c3 ^ second, left & _LOW
        first, second = (first + _WEYL[0]) & _LOW, (second + _WEYL[1]) & _LOW
    return [c0, c1, c2, c3]


def fold(key: int, data: int) -> int:
    """A key of a key and a number, as adjoint.random.fold_in has it."""
    w0, w1, *_ = words(key, np.array([data + (1 << 62) + (1 << 61)], np.int64))
    return int((w0[0] << _HALF) | w1[0])


def uniform(key: tuple[int, int], count: int) -> np.ndarray:
    """f64 numbers in [0, 1) of the key fold(*key), with the precision of f32."""
    w0 = words(fold(*key), np.arange(count))[0]
    return (w0 >> np.uint64(8)).astype(np.float64) * 2.0**-24


def normal(key: tuple[int, int], count: int) -> np.ndarray:
    """f64 numbers of the normal distribution, of the key fold(*key): those of ad.rng_normal, but for the last bits of
    NumPy's logarithm and cosine."""
    w0, w1, w2, w3 = words(fold(*key), np.arange(count))
    u, v = (((high << _HALF | low) >> np.uint64(11)).astype(np.float64) * 2.0**-53 for high, low in ((w0, w1), (w2, w3)))
    made: np.ndarray = np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)
    return made
