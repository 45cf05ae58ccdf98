# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of f32 in parts of bf16 in NumPy: the split, the sums of tensor cores, and the bounds of
docs/named-kernels.md. Tensor cores add as the emulated GPU does (`chain_of`), or as published measurements say of
NVIDIA's chips (`truncated`: M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, 2021)."""

import numpy as np

import elements

UNIT = 2.0**-24  # roundoff of f32
PROMOTE = 128
# The number of parts, and the largest i + j of the products of part i and part j.
NAMES = {"bf16x3": (2, 1), "bf16x6": (3, 2), "bf16x9": (3, 4)}


def split(x, count):
    """Parts of bf16 of an f32 array, as f32. The first part of a finite number is finite."""
    parts, largest = [], np.float32(elements.LARGEST["bf16"])
    rest = x
    with np.errstate(all="ignore"):
        for part in range(count):
            value = rest if part else np.clip(rest, -largest, largest)
            parts.append(elements.decode("bf16", elements.encode("bf16", value)).astype(np.float32))
            rest = rest - parts[-1]
    return parts


def pairs(name):
    """The products of parts (i, j), the smallest first."""
    count, largest = NAMES[name]
    return [(i, level - i) for level in range(largest, -1, -1) for i in range(count) if 0 <= level - i < count]


def contract(name, a, b, sums):
    """a b, where `sums` gives the sum of products of two parts."""
    lhs, rhs = split(a, NAMES[name][0]), split(b, NAMES[name][0])
    total = None
    with np.errstate(all="ignore"):
        for i, j in pairs(name):
            product = sums(lhs[i], rhs[j])
            total = product if total is None else total + product
    return total


#===- Sums of tensor cores -===#

def chain_of(a, b, promote=0):
    """The product of f32 matrices along the last axis of `a` and the one before the last of `b`, as #ad.instruction
    defines it on the emulated GPU: an ascending chain in f32, each `promote` of which is one summand of another one. Products of
    8- and 16-bit floats are exact in f32, unless they overflow or underflow."""
    total = np.zeros(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1]), np.float32)
    part = total.copy()
    with np.errstate(all="ignore"):
        for i in range(a.shape[-1]):
            part = part + a[..., :, i, None] * b[..., None, i, :]
            if promote and (i + 1) % promote == 0:
                total, part = total + part, np.zeros_like(part)
        return total + part


def truncate(x, exponent):
    """Towards zero, to 24 bits below 2^exponent; f32 has no bits below 2^-149."""
    step = np.exp2(np.maximum(exponent - 24, -149).astype(np.float64))
    return np.trunc(x / step) * step


def truncated(a, b, block, promote=PROMOTE):
    """The same on a chip that adds `block` products and the sum so far at once: each term is truncated to 24 bits of
    the largest one, their sum is exact, and it is truncated to f32. Of finite numbers."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    total = np.zeros(a.shape[:-1] + b.shape[-1:], np.float32)
    for first in range(0, a.shape[-1], promote):
        part = total.astype(np.float64) * 0
        for at in range(first, min(first + promote, a.shape[-1]), block):
            k = slice(at, min(at + block, first + promote))
            terms = np.concatenate([part[None], np.einsum("mk,kn->kmn", a[:, k], b[k])])
            _, exponent = np.frexp(np.max(np.abs(terms), axis=0))
            part = np.sum(truncate(terms, exponent), axis=0)
            part = truncate(part, np.frexp(part)[1])
        total = total + part.astype(np.float32)
    return total


#===- Bounds -===#

def longest_path(k):
    """Not less than the longest path of the canonical order."""
    return min(k, 512) + int(np.ceil(np.log2(max(k, 2)))) + 2


def tensor_core_path(k, promote=PROMOTE):
    """What takes the place of the longest path on tensor cores."""
    return 2.5 * min(k, promote) + -(-k // promote)


def bound(name, path, scale):
    """Of the error, for numbers whose parts and products do not underflow; `scale` is the sum of |a||b|."""
    left_out = 2.0**-15 + 2.0**-21 if name == "bf16x3" else 0
    return (left_out + (1.04 * path + (3 if name == "bf16x9" else 4)) * UNIT) * scale


def lost(name, a, b):
    """What the bound does not have: parts of a (m, k) and b (k, n) that underflow, and sums of them; more of what
    bf16x3 leaves out of numbers above the largest bf16."""
    a, b = (np.abs(x.astype(np.longdouble)) for x in (a, b))
    parts = 2.0**-134 * (np.sum(a, axis=-1)[..., :, None] + np.sum(b, axis=-2)[..., None, :])
    sums = len(pairs(name)) * 3 * a.shape[-1] * np.longdouble(2)**-149
    above = [np.where(x > elements.LARGEST["bf16"], x, 0) for x in (a, b)]
    return parts + sums + (2.0**-15 * (above[0] @ b + a @ above[1]) if name == "bf16x3" else 0)
