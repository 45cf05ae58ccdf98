# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations of layers, and what they give by NumPy; see operations.py. Of several results the program uses one."""

import numpy as np

import elements
import random_numbers
from elements import ALL, FLOATS, INTEGERS, accumulator, decode, encode
from generator import tensor_type
from operations import CATALOGUE, long_operand, operation
from operations_attention import _tensor
from operations_sorting import _several
from oracle import EPSILON
from oracle_sums import bound_of, norm_of_rows

CHANNELS = (1, 2, 3, 4, 6)


def _integers(g, low, high, sizes, closed=()):
    element = g.pick(INTEGERS)
    return _tensor(g, element, sizes, closed, g.rng.integers(low, high, sizes).astype(elements.STORAGE[element]))


# Of which elements.

@operation("one_hot", ALL)
def _one_hot(g, element):
    depth = g.pick([0, 1, 3, 7, 130])
    x = _integers(g, -1, min(depth, 126) + 2, g.sizes(g.rank(0, 2)))
    axis = g.rank(0, x.rank)
    longer = lambda shape: (*shape[:axis], depth, *shape[axis:])
    static = longer(x.static)
    return g.add("one_hot", element, static, longer(x.sizes), [x],
                 f"ad.one_hot {x} axis {axis} : {x.type} -> {tensor_type(element, static)}",
                 attributes={"axis": axis, "depth": depth})


def one_hot(op, arrays):
    axis, depth = op.attributes["axis"], op.attributes["depth"]
    index = np.arange(depth).reshape([-1] + [1] * (arrays[0].ndim - axis))
    return encode(op.result.element, np.expand_dims(arrays[0].astype(np.int64), axis) == index), None


@operation("dropout", FLOATS)
def _dropout(g, element):
    x = g.operand(element)
    key, counter = (_tensor(g, "i64", (), (), np.asarray(g.rng.integers(-2**62, 2**62))) for _ in range(2))
    rate = g.pick([0.0, 0.1, 0.5, 0.75])
    return g.add("dropout", element, x.static, x.sizes, [x, key, counter],
                 f"ad.dropout {x}, {key}, {counter} rate {rate:e} : {x.type}", attributes={"rate": rate})


def dropout(op, arrays):
    element, rate = op.result.element, op.attributes["rate"]
    x, key, counter = arrays
    wide = np.float64 if element == "f64" else np.float32
    with np.errstate(over="ignore"):
        counters = counter + np.arange(x.size, dtype=np.int64).reshape(x.shape)
    is_kept = random_numbers.uniform("f32", key, counters) >= np.float32(rate)
    scaled = decode(element, x).astype(wide) / wide(1 - rate)
    return encode(element, np.where(is_kept, scaled, 0).astype(np.float64)), None


# Sums of exponentials.

@operation("logsumexp", FLOATS)
def _logsumexp(g, element):
    x = long_operand(g, element)
    axis = g.rank(0, x.rank - 1)
    drop = lambda shape: shape[:axis] + shape[axis + 1:]
    return g.add("logsumexp", element, drop(x.static), drop(x.sizes), [x], f"ad.logsumexp {x} axis {axis} : {x.type}",
                 attributes={"axis": axis})


def logsumexp(op, arrays):
    axis, element = op.attributes["axis"], op.result.element
    x = decode(element, arrays[0])
    largest = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    want = (np.log(np.sum(np.exp(x - largest), axis=axis, keepdims=True)) + largest).squeeze(axis)
    size = np.abs(largest.squeeze(axis)) + np.where(np.isfinite(want), np.abs(want), 0.0) + 1
    epsilon = EPSILON[accumulator(element)]
    return want, (x.shape[axis] + 20) * epsilon * size + 0.5001 * elements.ulp(element, want)


# Rotations.

@operation("rotary_embedding", FLOATS)
def _rotary(g, element):
    rank, size = g.rank(1, 3), g.pick([0, 2, 4, 6, 10])
    x = _tensor(g, element, (*(min(g.size(), 9) for _ in range(rank - 1)), size), (rank - 1,))
    kept = x.sizes[g.rank(0, rank - 1):-1]
    sizes = tuple(1 if g.chance(0.3) else size for size in kept)
    positions = _integers(g, 0, 100, sizes, [axis for axis, size in enumerate(sizes) if size == 1])
    base, interleaved = g.pick([1e4, 5e5, 10.0, 0.5]), g.chance(0.5)
    return g.add("rotary_embedding", element, x.static, x.sizes, [x, positions],
                 f"ad.rotary_embedding {x}, {positions} base {base:e}{' interleaved' if interleaved else ''} : "
                 f"{x.type}, {positions.type}", attributes={"base": base, "interleaved": interleaved})


def pairs(x, interleaved):
    half = x.shape[-1] // 2
    return (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])


def joined(first, second, interleaved):
    if not interleaved:
        return np.concatenate([first, second], axis=-1)
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], 2 * first.shape[-1])


def rotary_embedding(op, arrays):
    element, interleaved = op.result.element, op.attributes["interleaved"]
    x, positions = decode(element, arrays[0]), arrays[1].astype(np.float64)
    size = x.shape[-1]
    angles = positions[..., None] * op.attributes["base"] ** (-np.arange(0, size, 2) / max(size, 1))
    epsilon = EPSILON[accumulator(element)]
    first, second = pairs(x, interleaved)
    cosines, sines = np.cos(angles), np.sin(angles)
    want = joined(first * cosines - second * sines, second * cosines + first * sines, interleaved)
    error = (np.abs(first) + np.abs(second)) * (4 * np.abs(angles) + 8) * epsilon
    return want, joined(error, error, interleaved) + 0.5001 * elements.ulp(element, want)


# Norms of channels.

def _channels(g, element, first):
    """An input with channels, their axis, and as many parameters as asked for."""
    rank = g.rank(first + 1, 4)
    axis = g.rank(first, rank - 1)
    sizes = tuple(g.pick(CHANNELS) if place == axis else min(g.size(), 7) for place in range(rank))
    return _tensor(g, element, sizes, (axis,)), axis


def _parameters(g, element, channels, count):
    return [_tensor(g, element, (channels,), (0,)) for _ in range(count)]


@operation("group_norm", FLOATS)
def _group_norm(g, element):
    x, axis = _channels(g, element, 1)
    channels, epsilon = x.sizes[axis], g.pick([1e-5, 0.25])
    groups = g.pick([n for n in range(1, channels + 1) if channels % n == 0])
    operands = [x, *_parameters(g, element, channels, 2)]
    return g.add("group_norm", element, x.static, x.sizes, operands,
                 f"ad.group_norm {', '.join(map(str, operands))} groups {groups} axis {axis} epsilon {epsilon:e} : "
                 f"{x.type}, {operands[1].type}", attributes={"groups": groups, "axis": axis, "epsilon": epsilon})


def group_norm(op, arrays):
    axis, groups = op.attributes["axis"], op.attributes["groups"]
    x, scale, bias = (decode(v.element, array) for v, array in zip(op.operands, arrays))
    ordered = np.moveaxis(x, axis, 1)
    rows = lambda vector: np.broadcast_to(vector.reshape(-1, *[1] * (x.ndim - 2)), ordered.shape).reshape(shape)
    length = ordered[:1].size // groups if x.shape[0] else 0
    shape = (x.shape[0], groups, length)
    want, magnitude = norm_of_rows(op.result.element, ordered.reshape(shape), rows(scale), rows(bias),
                                   op.attributes["epsilon"])
    back = lambda array: np.moveaxis(array.reshape(ordered.shape), 1, axis)
    return back(want), bound_of(op, back(want), 3 * length + 20, back(magnitude))


def _of_channels(values, axis, rank):
    return values.reshape(-1, *[1] * (rank - 1 - axis))


@operation("batch_norm", FLOATS)
def _batch_norm(g, element):
    x, axis = _channels(g, element, 0)
    epsilon, place = g.pick([1e-5, 0.25]), g.pick([0, 0, 1, 2])
    operands = [x, *_parameters(g, element, x.sizes[axis], 2)]
    text = (f"ad.batch_norm {', '.join(map(str, operands))} axis {axis} epsilon {epsilon:e} : "
            f"{x.type}, {operands[1].type}")
    static, sizes = (x.static, x.sizes) if place == 0 else ((x.sizes[axis],),) * 2
    return _several(g, 3, place, "batch_norm", accumulator(element) if place else element, static, sizes, operands, text,
                    axis=axis, epsilon=epsilon, number=place)


def batch_norm(op, arrays):
    axis, number = op.attributes["axis"], op.attributes["number"]
    x, scale, bias = (decode(v.element, array) for v, array in zip(op.operands, arrays))
    rows = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1) if x.size else np.zeros((x.shape[axis], 0))
    length = rows.shape[1]
    mean = np.mean(rows, axis=1, keepdims=True) if length else np.full((len(rows), 1), np.nan)
    size = np.max(np.abs(rows), axis=1, initial=0.0)
    if number == 1:
        overflows = size * max(length, 1) >= elements.LARGEST[accumulator(op.operands[0].element)]
        return mean[:, 0], np.where(overflows, -np.inf, bound_of(op, mean[:, 0], length + 20, size))
    if number == 2:
        variance = np.mean((rows - mean)**2, axis=1) if length else np.full(len(rows), np.nan)
        overflows = 4 * size * size * max(length, 1) >= elements.LARGEST[accumulator(op.operands[0].element)]
        return variance, bound_of(op, variance, 3 * length + 20, np.where(overflows, -np.inf, 4 * size * size))
    want, magnitude = norm_of_rows(op.result.element, rows, scale[:, None], bias[:, None], op.attributes["epsilon"])
    moved = np.moveaxis(x, axis, 0).shape
    back = lambda array: np.moveaxis(array.reshape(moved), 0, axis)
    return back(want), bound_of(op, back(want), 3 * length + 20, back(magnitude))


@operation("batch_norm_inference", FLOATS)
def _batch_norm_inference(g, element):
    x, axis = _channels(g, element, 0)
    channels, epsilon = x.sizes[axis], g.pick([1e-5, 0.25])
    statistics = g.pick([element, accumulator(element)])
    positive = encode(statistics, g.rng.random(channels) + 0.25)
    operands = [x, *_parameters(g, element, channels, 2), _tensor(g, statistics, (channels,), (0,)),
                _tensor(g, statistics, (channels,), (0,), positive)]
    return g.add("batch_norm_inference", element, x.static, x.sizes, operands,
                 f"ad.batch_norm_inference {', '.join(map(str, operands))} axis {axis} epsilon {epsilon:e} : "
                 f"{x.type}, {operands[1].type}, {operands[3].type}", attributes={"axis": axis, "epsilon": epsilon})


def batch_norm_inference(op, arrays):
    axis = op.attributes["axis"]
    x, *vectors = (decode(v.element, array) for v, array in zip(op.operands, arrays))
    scale, bias, mean, variance = (_of_channels(vector, axis, x.ndim) for vector in vectors)
    r = 1 / np.sqrt(variance + op.attributes["epsilon"])
    want = (x - mean) * r * scale + bias
    distance = np.abs(x) + np.abs(mean)
    magnitude = distance * r * np.abs(scale) + np.abs(bias)
    overflows = np.maximum(np.maximum(distance, distance * r), magnitude) >= elements.LARGEST[accumulator(op.result.element)]
    return want, np.where(overflows, -np.inf, bound_of(op, want, 20, magnitude))


TABLE = {"one_hot": one_hot, "dropout": dropout, "logsumexp": logsumexp, "rotary_embedding": rotary_embedding,
         "group_norm": group_norm, "batch_norm": batch_norm, "batch_norm_inference": batch_norm_inference}
assert set(TABLE) <= set(CATALOGUE)
