# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The part of oracle.py for operations that sum: values in f64 and the error that any order of summation may have."""

import numpy as np

import elements
from elements import accumulator, decode, is_float
from oracle import EPSILON, _maximum, _minimum, _objects, wrap

TABLE = {}


def sums(*mnemonics):
    def register(function):
        TABLE.update({name: function for name in mnemonics})
        return function
    return register


def _epsilon(element):
    return EPSILON[accumulator(element)]


def bound_of(op, want, terms, magnitude):
    """gamma_k * magnitude, half of the least subnormal for each product, which may underflow, and the rounding to the type
    of the result."""
    element, source = op.result.element, op.operands[0].element
    gamma = (terms + 4) * _epsilon(source)
    underflow = 0.5 * terms * elements.ulp(accumulator(source), 0.0)
    return 1.01 * gamma * magnitude + underflow + 0.5001 * elements.ulp(element, want)


# Reductions.

def _axes(op):
    return tuple(op.attributes["axes"])


@sums("reduce_sum", "reduce_mean", "reduce_prod")
def _reduce(op, arrays):
    source, axes, keep = op.operands[0].element, _axes(op), op.attributes["keep"]
    count = int(np.prod([op.operands[0].sizes[a] for a in axes], dtype=np.int64))
    if not is_float(source):
        fold = np.multiply if op.mnemonic == "reduce_prod" else np.add
        start = 1 if op.mnemonic == "reduce_prod" else 0
        result = _objects(arrays[0])
        result = fold.reduce(result, axis=axes, keepdims=keep, initial=start) if axes else result
        return wrap(op.result.element, result), None
    x = decode(source, arrays[0])
    if op.mnemonic == "reduce_prod":
        want = np.prod(x, axis=axes, keepdims=keep)
        # Partial products may underflow, at most once per step.
        tiny = 2.0**(elements.MIN_EXPONENT[accumulator(source)] - elements.MANTISSA[accumulator(source)])
        large = np.max(np.abs(x), initial=1.0)
        spread = tiny * count * min(large**count, 1e30) if np.any(np.abs(x) < 1) else 0.0
        return want, bound_of(op, want, count, np.abs(want)) + spread
    want, magnitude = np.sum(x, axis=axes, keepdims=keep), np.sum(np.abs(x), axis=axes, keepdims=keep)
    if op.mnemonic == "reduce_mean":
        want, magnitude = want / np.float64(count), magnitude / np.float64(count)
    return want, bound_of(op, want, count, magnitude)


@sums("reduce_max", "reduce_min")
def _extreme(op, arrays):
    source, largest = op.operands[0].element, op.mnemonic == "reduce_max"
    if is_float(source):
        x, start = decode(source, arrays[0]), -np.inf if largest else np.inf
        fold = _maximum if largest else _minimum
    else:
        info = np.iinfo(elements.STORAGE[source])
        x, start = arrays[0].astype(np.int64), info.min if largest else info.max
        fold = np.maximum if largest else np.minimum
    for axis in sorted(_axes(op), reverse=True):
        lines, result = np.moveaxis(x, axis, 0), np.full(x.shape[:axis] + x.shape[axis + 1:], start, dtype=x.dtype)
        for line in lines:
            result = fold(result, line)
        x = np.expand_dims(result, axis)
    x = x.reshape(op.result.sizes)
    return (elements.encode(source, x) if is_float(source) else x.astype(elements.STORAGE[source])), None


@sums("sum_to_shape")
def _sum_to_shape(op, arrays):
    x = op.operands[0]
    sizes = op.result.sizes
    lead = x.rank - len(sizes)
    axes = tuple(a for a in range(x.rank) if a < lead or (sizes[a - lead] == 1 and x.sizes[a] != 1))
    if not is_float(x.element):
        return wrap(x.element, np.add.reduce(_objects(arrays[0]), axis=axes, initial=0) if axes
                    else _objects(arrays[0])).reshape(sizes), None
    values = decode(x.element, arrays[0])
    want = np.sum(values, axis=axes).reshape(sizes)
    count = int(np.prod([x.sizes[a] for a in axes], dtype=np.int64))
    return want, bound_of(op, want, count, np.sum(np.abs(values), axis=axes).reshape(sizes))


@sums("cumsum")
def _cumsum(op, arrays):
    axis, element = op.attributes["axis"], op.result.element
    if not is_float(element):
        return wrap(element, np.cumsum(_objects(arrays[0]), axis=axis)), None
    x = decode(element, arrays[0])
    want = np.cumsum(x, axis=axis)
    return want, bound_of(op, want, op.result.sizes[axis], np.cumsum(np.abs(x), axis=axis))


@sums("cumprod")
def _cumprod(op, arrays):
    axis, element = op.attributes["axis"], op.result.element
    if not is_float(element):
        return wrap(element, np.cumprod(_objects(arrays[0]), axis=axis)), None
    x = decode(element, arrays[0])
    want = np.cumprod(x, axis=axis)
    # A product of a part may leave the normal numbers where the whole does not: after that, anything may come out.
    sizes = np.where(np.isfinite(x) & (x != 0), np.abs(np.log2(np.abs(x))), 0.0)
    leaves = np.cumsum(sizes, axis=axis) >= -elements.MIN_EXPONENT[elements.accumulator(element)]
    return want, np.where(leaves, -np.inf, bound_of(op, want, op.result.sizes[axis], np.abs(want)))


@sums("cummax", "cummin")
def _running_extreme(op, arrays):
    axis, element, largest = op.attributes["axis"], op.result.element, op.mnemonic == "cummax"
    if not is_float(element):
        return (np.maximum if largest else np.minimum).accumulate(arrays[0], axis=axis), None
    steps = np.moveaxis(decode(element, arrays[0]).copy(), axis, 0)
    for number in range(1, len(steps)):
        steps[number] = (_maximum if largest else _minimum)(steps[number - 1], steps[number])
    return elements.encode(element, np.moveaxis(steps, 0, axis)), None


@sums("argmax", "argmin")
def _arg(op, arrays):
    x, axis = decode(op.operands[0].element, arrays[0]), op.attributes["axis"]
    if is_float(op.operands[0].element):
        # -0 < +0, and the first NaN wins: ranks in which both hold.
        x = x if op.mnemonic == "argmax" else -x
        nan, best = np.isnan(x), np.nanmax(np.where(np.isnan(x), -np.inf, x), axis=axis, keepdims=True)
        candidates = (x == best)
        positive = candidates & ~np.signbit(x)
        candidates = np.where(np.any(positive, axis=axis, keepdims=True), positive, candidates)
        candidates = np.where(np.any(nan, axis=axis, keepdims=True), nan, candidates)
        return np.argmax(candidates, axis=axis), None
    return (np.argmax if op.mnemonic == "argmax" else np.argmin)(x, axis=axis), None


# Contractions.

def _contract(x, y, batch, contract):
    letters = iter("abcdefghijklmnop")
    left, right = [None] * x.ndim, [None] * y.ndim
    for l, r in zip([*batch[0], *contract[0]], [*batch[1], *contract[1]]):
        left[l] = right[r] = next(letters)
    left = [name or next(letters) for name in left]
    right = [name or next(letters) for name in right]
    shared = [left[a] for a in (*batch[0], *contract[0])]
    out = [left[a] for a in batch[0]] + [n for n in left if n not in shared] + [n for n in right if n not in shared]
    return np.einsum(f"{''.join(left)},{''.join(right)}->{''.join(out)}", x, y)


@sums("dot")
def _dot(op, arrays):
    batch, contract = op.attributes["batch"], op.attributes["contract"]
    if not is_float(op.operands[0].element):
        left, right = (a.astype(np.int64) for a in arrays[:2])  # int64 wraps as the narrower types do
        return wrap(op.result.element, _objects(_contract(left, right, batch, contract))), None
    x, y = (decode(v.element, a) for v, a in zip(op.operands, arrays))
    terms = int(np.prod([op.operands[0].sizes[a] for a in contract[0]], dtype=np.int64))
    want = _contract(x, y, batch, contract)
    return want, bound_of(op, want, terms, _contract(np.abs(x), np.abs(y), batch, contract))


@sums("gemm")
def _gemm(op, arrays):
    a = op.attributes
    values = [decode(v.element, array) for v, array in zip(op.operands, arrays)]
    x = values[0].T if a["transA"] else values[0]
    y = values[1].T if a["transB"] else values[1]
    want, magnitude = a["alpha"] * (x @ y), abs(a["alpha"]) * (np.abs(x) @ np.abs(y))
    if len(values) > 2:
        want, magnitude = want + a["beta"] * values[2], magnitude + np.abs(a["beta"] * values[2])
    return want, bound_of(op, want, x.shape[1], magnitude)


# Neural networks.

def _softmax_parts(x, axis):
    s = x - np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    e = np.exp(s)
    z = np.sum(e, axis=axis, keepdims=True)
    return s, e, z


@sums("softmax")
def _softmax(op, arrays):
    x = decode(op.operands[0].element, arrays[0])
    s, e, z = _softmax_parts(x, op.attributes["axis"])
    return e / z, bound_of(op, e / z, op.result.sizes[op.attributes["axis"]] + np.abs(s) + 10, e / z)


@sums("log_softmax")
def _log_softmax(op, arrays):
    x = decode(op.operands[0].element, arrays[0])
    s, e, z = _softmax_parts(x, op.attributes["axis"])
    want = s - np.log(z)
    return want, bound_of(op, want, x.shape[op.attributes["axis"]] + 10, np.abs(s) + np.log(z) + 1)


def norm_of_rows(element, x, scale, bias, epsilon, is_centred=True):
    """Rows with variance 1, scaled and shifted, and the magnitude that errors are relative to: -inf where squares of
    elements of that type overflow, since then anything may come out."""
    mean = lambda values: np.sum(values, axis=-1, keepdims=True) / np.float64(x.shape[-1])
    d = x - (mean(x) if is_centred else 0.0)
    v = mean(d * d) + epsilon
    r = 1 / np.sqrt(v)
    # Errors of the mean, relative to the largest element, go through d and through the variance.
    size = np.max(np.abs(x), axis=-1, keepdims=True, initial=0.0)
    magnitude = (np.abs(d) + 2 * size) * r * np.abs(scale) * (1 + size * size / v) + np.abs(bias)
    overflows = 4 * size * size * max(x.shape[-1], 1) >= elements.LARGEST[elements.accumulator(element)]
    return d * r * scale + bias, np.where(overflows, -np.inf, magnitude)


@sums("layer_norm", "rms_norm")
def _norm(op, arrays):
    x, scale, *bias = [decode(v.element, array) for v, array in zip(op.operands, arrays)]
    want, magnitude = norm_of_rows(op.result.element, x, scale, bias[0] if bias else np.zeros(()),
                                   op.attributes["epsilon"], op.mnemonic == "layer_norm")
    return want, bound_of(op, want, 3 * x.shape[-1] + 20, magnitude)


@sums("cross_entropy")
def _cross_entropy(op, arrays):
    x = decode(op.operands[0].element, arrays[0])
    s, e, z = _softmax_parts(x, -1)
    l = s - np.log(z)
    magnitude = np.abs(s) + np.abs(np.log(z)) + 1
    if is_float(op.operands[1].element):
        p = decode(op.operands[1].element, arrays[1])
        want, magnitude = -np.sum(p * l, axis=-1), np.sum(np.abs(p) * magnitude, axis=-1)
    else:
        labels = arrays[1][..., None]
        chosen = (np.arange(x.shape[-1]) == labels) & (labels != op.attributes.get("ignored"))
        want = -np.sum(np.where(chosen, l, 0.0), axis=-1)
        magnitude = np.max(magnitude, axis=-1, initial=1.0)
    return want, bound_of(op, want, 2 * x.shape[-1] + 20, magnitude)
