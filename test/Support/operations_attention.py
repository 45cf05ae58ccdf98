# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random attention, and what it gives by NumPy from the whole matrix of scores; see operations.py. Of the two results
the program uses one."""

import numpy as np

import elements
from elements import FLOATS, accumulator, decode
from operations import CATALOGUE, operation
from operations_sorting import _several
from oracle import EPSILON

HEADS = ((1, 1), (2, 2), (2, 1), (4, 2), (6, 3))  # of queries, and of keys
LARGEST_SCORE = 1e30


def _tensor(g, element, sizes, closed, array=None):
    """An argument whose type has the sizes of the closed axes."""
    static = tuple(size if axis in closed else s for axis, (size, s) in enumerate(zip(sizes, g.static(sizes))))
    value = g.argument(element, sizes, static, array)
    if any(value.static[axis] is None for axis in closed):
        value = g.ops[-1].operands[0]  # the generator of smooth functions has left sizes of an argument open
    return value


def _mask(g, element, sizes):
    of_mask = tuple(1 if g.chance(0.4) else size for size in sizes)
    kind = g.pick(["i1", element])
    if kind == element:
        return _tensor(g, element, of_mask, [axis for axis, size in enumerate(of_mask) if size == 1])
    array = g.rng.random(of_mask) < g.pick([0.1, 0.5, 0.9])  # with few keys, some rows have none
    return _tensor(g, "i1", of_mask, [axis for axis, size in enumerate(of_mask) if size == 1], array)


@operation("attention", FLOATS)
def _attention(g, element):
    fits = lambda x: x.sizes[1] in (1, 2, 4, 6) and x.sizes[3] > 0 and None not in (x.static[1], x.static[3])
    found = [x for x in g.values if x.element == element and x.rank == 4 and fits(x)]
    if found and g.chance(g.reuse):
        q = g.pick(found)
        heads, groups = g.pick([pair for pair in HEADS if pair[0] == q.sizes[1]])
    else:
        heads, groups = g.pick(HEADS)
        queries = g.pick([257, 300]) if g.chance(g.long_axes) else min(g.size(), 9)
        q = _tensor(g, element, (g.rank(1, 2), heads, queries, g.pick([1, 2, 5, 8])), (1, 3))
    batch, _, queries, depth = q.sizes
    keys = g.pick([257, 300]) if g.chance(g.long_axes) else min(g.size(), 9)
    k = _tensor(g, element, (batch, groups, keys, depth), (1, 3))
    v = k if g.chance(0.2) else _tensor(g, element, (batch, groups, keys, g.pick([1, 3, 8])), (1, 3))
    mask = _mask(g, element, (batch, heads, queries, keys)) if g.chance(0.4) else None
    attributes = {"causal": g.chance(0.4), "window": g.rank(1, max(keys, 1)) if g.chance(0.3) else None,
                  "scale": g.pick([0.25, -1.0]) if g.chance(0.3) else None, "softcap": 2.0 if g.chance(0.2) else None,
                  "chunk": g.rank(1, max(keys, 2)) if g.chance(0.6) else None}
    words = "".join(f" {name}" if value is True else f" {name} {value}" for name, value in attributes.items()
                    if value not in (None, False))
    operands = [q, k, v] + ([mask] if mask else [])
    text = f"ad.attention {q}, {k}, {v}{f' mask {mask}' if mask else ''}{words} : " \
        + ", ".join(x.type for x in operands)
    place = int(g.chance(0.2))
    if place:
        return _several(g, 2, 1, "attention", accumulator(element), q.static[:3], q.sizes[:3], operands, text,
                        **attributes, number=1)
    width = v.sizes[3]
    return _several(g, 2, 0, "attention", element, (*q.static[:3], width), (*q.sizes[:3], width), operands, text,
                    **attributes, number=0)


# What it gives.

def which_count(attributes, queries, keys):
    i, j = np.arange(queries)[:, None], np.arange(keys)
    counts = np.ones((queries, keys), bool)
    if attributes["causal"]:
        counts &= j <= i
    if attributes["window"]:
        counts &= np.abs(i - j) < attributes["window"]
    return counts


def scores(attributes, q, k, mask, epsilon):
    """The scores, -inf for keys that do not count, and the largest errors of the others."""
    scale = attributes["scale"] or 1 / np.sqrt(q.shape[3])
    k = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    s = np.einsum("bhid,bhjd->bhij", q, k) * scale
    error = (q.shape[3] + 4) * epsilon * np.einsum("bhid,bhjd->bhij", np.abs(q), np.abs(k)) * abs(scale)
    cap = attributes["softcap"]
    if cap:
        s = cap * np.tanh(s / cap)
        error = error + 8 * epsilon * np.abs(s)
    if mask is not None and mask.dtype != bool:
        s = s + mask
        error = error + epsilon * (np.abs(s) + np.abs(mask))
    counts = which_count(attributes, *s.shape[2:]) & (mask if mask is not None and mask.dtype == bool else True)
    return np.where(counts, s, -np.inf), np.where(counts, error, 0.0)


def attention(op, arrays):
    element, attributes = op.operands[0].element, op.attributes
    q, k, v, *mask = (array if array.dtype == bool else decode(value.element, array)
                      for value, array in zip(op.operands, arrays))
    mask = mask[0] if mask else None
    epsilon = EPSILON[accumulator(element)]
    s, error = scores(attributes, q, k, mask, epsilon)
    heads, keys = q.shape[1], k.shape[2]
    v = np.repeat(v, heads // v.shape[1], axis=1)
    shape = s.shape[:3] if attributes["number"] else (*s.shape[:3], v.shape[3])
    seen = np.where(s > -np.inf, np.abs(s), 0.0)
    if not all(np.isfinite(x).all() for x in (q, k, v)) or not (seen < LARGEST_SCORE).all() \
            or (mask is not None and np.isnan(mask).any()):
        return np.zeros(shape), np.full(shape, -np.inf)
    largest = np.max(s, axis=3, keepdims=True, initial=-np.inf)
    shift = np.where(np.isneginf(largest), 0.0, largest)
    weights = np.exp(s - shift)
    total = np.sum(weights, axis=3, keepdims=True)
    distance = np.where(s > -np.inf, shift - s, 0.0)
    # Of a weight: the errors of both scores, of the difference, and of each chunk's factor and sum.
    of_weight = np.expm1(2 * (error + np.max(error, axis=3, keepdims=True, initial=0.0)
                              + epsilon * (keys + 20) * (1 + distance)))
    if attributes["number"]:
        want = (shift + np.log(total))[..., 0]
        bound = np.max(of_weight, axis=3, initial=0.0) + 8 * epsilon * (1 + np.abs(want))
        return want, np.where(np.isfinite(want), bound, 0.0)
    p = weights / np.where(total == 0, 1.0, total)
    want = np.einsum("bhij,bhje->bhie", p, v)
    rounded = 2.0**-elements.MANTISSA[element] if element != accumulator(element) else 0.0
    tiny = 2.0**(elements.MIN_EXPONENT[element] - elements.MANTISSA[element])
    spread = p * (of_weight + rounded) + np.where(weights > 0, tiny, 0.0)
    return want, np.einsum("bhij,bhje->bhie", spread, np.abs(v)) * 1.01 + 0.5001 * elements.ulp(element, want)


TABLE = {"attention": attention}
assert set(TABLE) <= set(CATALOGUE)
