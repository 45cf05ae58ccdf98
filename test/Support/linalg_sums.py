# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reductions of linalg in NumPy, bit for bit in the order that a kernel has."""

import numpy as np


def _maximum(a, b):
    """IEEE maximum: NaN wins, and -0 < +0."""
    return np.where((a == 0) & (b == 0), a + b, np.maximum(a, b))


def _minimum(a, b):
    return np.where((a == 0) & (b == 0), -(-a + -b), np.minimum(a, b))


def _unsigned(apply):
    def on_bits(a, b):
        kind = np.asarray(a).dtype
        unsigned = np.dtype(f"u{kind.itemsize}")
        return apply(np.asarray(a).astype(unsigned), np.asarray(b).astype(unsigned)).astype(kind)
    return on_bits


COMBINERS = {
    "addf": np.add, "subf": np.subtract, "mulf": np.multiply, "maximumf": _maximum, "minimumf": _minimum,
    "addi": np.add, "subi": np.subtract, "muli": np.multiply, "maxsi": np.maximum, "minsi": np.minimum,
    "maxui": _unsigned(np.maximum), "minui": _unsigned(np.minimum), "andi": np.bitwise_and, "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}


def neutral(name, kind):
    """What the combiner keeps; of sums the zero that keeps -0."""
    if name in ("addf", "fma"):
        return kind(-0.0)
    if name in ("maximumf", "minimumf"):
        return kind(-np.inf if name == "maximumf" else np.inf)
    if name in ("mulf", "muli"):
        return kind(1)
    if name in ("andi", "minui"):
        return kind(-1)
    if name in ("maxsi", "minsi"):
        return np.iinfo(kind).min if name == "maxsi" else np.iinfo(kind).max
    return kind(0)


def fused(a, b, c):
    """a * b + c of f32, rounded once: the sum in f64 is rounded to odd, which rounds right when it becomes f32."""
    product, wide = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + wide
    back = total - product
    rest = (product - (total - back)) + (wide - back)
    even = (total.view(np.int64) & 1) == 0
    towards = np.where(rest > 0, np.inf, -np.inf)
    odd = np.where(np.isfinite(total) & (rest != 0) & even, np.nextafter(total, towards), total)
    return odd.astype(np.float32)


def _halved(parts, present, join):
    """Lanes along the last axis, joined by halves; lanes without an element take part in no join."""
    half = parts.shape[-1] // 2
    while half:
        low, both = parts[..., :half].copy(), max(0, min(present - half, half))
        low[..., :both] = join(low[..., :both], parts[..., half:half + both])
        parts, present, half = low, min(present, half), half // 2
    return parts[..., 0]


def _paired(parts, join):
    while len(parts) > 1:
        pairs = [join(*parts[i:i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
        parts = pairs
    return parts[0]


def nested_chains(lengths, extent, start, own, step, join):
    """The accumulators before and after each step of a running reduction, along the last axis. lengths: None for one
    chain, or those of a block and of the blocks of a tile. The first block starts from `start`, all others from `own`."""
    block, tile = lengths or (extent, 1)
    before, after, carries = [], [], [None, None]  # the running totals of the tiles before, and of the blocks in the tile
    for lower in range(0, extent, block):
        if lower and lower // block % tile == 0:
            carries = [carries[1] if carries[0] is None else join(*carries), None]
        total = start[..., None] if lower == 0 else np.full_like(start, own)[..., None]
        carry = carries[0] if carries[1] is None else carries[1] if carries[0] is None else join(*carries)
        joined = (lambda own, carry=carry: own if carry is None else join(carry, own))
        for k in range(lower, min(lower + block, extent)):
            before.append(joined(total))
            total = step(total, k, 1)
            after.append(joined(total))
        carries[1] = total if carries[1] is None else join(carries[1], total)
    return (np.concatenate(part, axis=-1) if part else np.zeros((*start.shape, 0), start.dtype) for part in (before, after))


def in_order(order, extent, start, step, join):
    """The sum over 0 … extent - 1. order: None, ("block", length) or ("lanes", lanes, chunk). step(accumulators, first,
    count) adds elements first … first + count - 1, each to an accumulator along the last axis."""
    def chain(lower, upper):
        total = start[..., None]
        for k in range(lower, upper):
            total = step(total, k, 1)
        return total[..., 0]

    def lane_chunk(lower, upper):
        lanes = order[1]
        totals = np.repeat(start[..., None], lanes, -1)
        for k in range(lower, upper, lanes):
            count = min(lanes, upper - k)
            totals[..., :count] = step(totals[..., :count], k, count)
        return _halved(totals, min(lanes, max(upper - lower, 1)), join)

    if order is None:
        return chain(0, extent)
    length, part = order[-1], lane_chunk if order[0] == "lanes" else chain
    return _paired([part(low, min(low + length, extent)) for low in range(0, max(extent, 1), length)], join)
