# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations at indices that tensors hold, and what they give by NumPy, one update after another; see
operations.py. Indices are often equal, sometimes all, and are outside where that is no error."""

import numpy as np

from elements import ALL, FLOATS, decode, encode, is_float
from generator import common_static
from operations import CATALOGUE, operation


def _indices(g, shape, size, outside):
    """Random positions along an axis of that size, as an argument of that shape."""
    element = g.pick(["i32", "i64"])
    low, high = (-2, size + 2) if outside != "error" else (0, size)
    if g.chance(0.2):
        high = low + 1 if high > low else high  # all the same
    numbers = g.rng.integers(low, max(high, low + 1), shape)
    return g.argument(element, shape, array=np.asarray(numbers).astype({"i32": np.int32, "i64": np.int64}[element]))


class Lists:
    """The lists of axes of one gather or scatter into x, drawn at random, with its indices."""

    def __init__(self, g, x, modes):
        self.outside = g.pick(modes)
        # An axis without elements has none to read or write, nor a nearest one.
        sized = [axis for axis in range(x.rank) if x.sizes[axis] or self.outside in ("fill", "drop")]
        order = [int(axis) for axis in g.rng.permutation(sized)]
        self.axes = sorted(order[:g.rank(1, min(2, len(order)))])
        self.batch = sorted(order[len(self.axes):][:1] if g.chance(0.3) else [])
        others = [axis for axis in range(x.rank) if axis not in self.axes + self.batch]
        known = int(np.prod([x.sizes[axis] for axis in others + self.batch], dtype=np.int64))
        sizes = list(g.sizes(g.rank(0, 2), limit=max(g.largest // max(known, 1), 1)))
        self.index_batch = [g.rank(0, len(sizes)) for _ in self.batch]  # one at most
        for place, axis in zip(self.index_batch, self.batch):
            sizes.insert(place, x.sizes[axis])
        self.indices = [_indices(g, tuple(sizes), x.sizes[axis], self.outside) for axis in self.axes]
        rank = len(sizes) + len(others)
        self.slices = sorted(int(i) for i in g.rng.permutation(rank)[:len(others)])
        self.part = [None] * rank  # (size, static size) of each axis of what is read or written
        for place, axis in zip(self.slices, others):
            self.part[place] = (x.sizes[axis], x.static[axis])
        free = [place for place in range(rank) if place not in self.slices]
        for number, place in enumerate(free):
            static = None
            for index in self.indices:
                static = common_static(static, index.static[number])
            if number in self.index_batch:
                static = common_static(static, x.static[self.batch[self.index_batch.index(number)]])
            self.part[place] = (sizes[number], static)
        self.free = free

    @property
    def sizes(self):
        return tuple(size for size, _ in self.part)

    @property
    def static(self):
        return tuple(static for _, static in self.part)

    def names(self):
        return ", ".join(map(str, self.indices))

    def types(self):
        return ", ".join(index.type for index in self.indices)

    def text(self):
        batch = f" batch {self.batch} x {self.index_batch}" if self.batch else ""
        slices = f" slices {self.slices}" if self.slices else ""
        outside = f" outside {self.outside}" if self.outside != "error" else ""
        return f"axes {self.axes}{batch}{slices}{outside}"

    def attributes(self):
        return {"axes": self.axes, "batch": self.batch, "index_batch": self.index_batch, "slices": self.slices,
                "free": self.free, "outside": self.outside}


def _indexed(g, element):
    return g.operand(element, low=1, where=lambda value: any(value.sizes))


@operation("gather", ALL)
def _gather(g, element):
    x = _indexed(g, element)
    lists = Lists(g, x, ["error", "clamp", "fill"])
    fill = g.pick([0.0, 1.0, -2.5]) if lists.outside == "fill" else 0.0
    value = f" value {fill}" if fill else ""
    return g.add("gather", element, lists.static, lists.sizes, [x, *lists.indices],
                 f"ad.gather {x}[{lists.names()}] {lists.text()}{value} : {x.type}, {lists.types()}",
                 attributes={**lists.attributes(), "fill": fill})


def _index_sizes(g, x, axis):
    rows = int(np.prod([size for other, size in enumerate(x.sizes) if other != axis], dtype=np.int64))
    return g.sizes(g.rank(0, 2), limit=max(g.largest // max(rows, 1), 1))


def _along(x, axis, indices):
    """The lists of a take."""
    rank = len(indices.sizes)
    slices = [a if a < axis else a - 1 + rank for a in range(x.rank) if a != axis]
    return {"axes": [axis], "batch": [], "index_batch": [], "slices": slices,
            "free": [axis + place for place in range(rank)], "fill": 0.0}


@operation("take", ALL)
def _take(g, element):
    x = _indexed(g, element)
    outside = g.pick(["error", "clamp", "fill"])
    axis = g.pick([axis for axis in range(x.rank) if x.sizes[axis] or outside == "fill"])
    indices = _indices(g, _index_sizes(g, x, axis), x.sizes[axis], outside)
    mode = f" outside {outside}" if outside != "error" else ""
    replaced = lambda shape, new: tuple(shape[:axis]) + tuple(new) + tuple(shape[axis + 1:])
    return g.add("take", element, replaced(x.static, indices.static), replaced(x.sizes, indices.sizes), [x, indices],
                 f"ad.take {x}, {indices} axis {axis}{mode} : {x.type}, {indices.type}",
                 attributes={**_along(x, axis, indices), "outside": outside})


@operation("embedding", FLOATS)
def _embedding(g, element):
    x = g.operand(element, low=1, where=lambda value: value.sizes[0])
    ids = _indices(g, _index_sizes(g, x, 0), x.sizes[0], "error")
    padding = g.rank(0, x.sizes[0] - 1) if g.chance(0.3) else None
    named = "" if padding is None else f" padding {padding}"
    return g.add("embedding", element, ids.static + x.static[1:], ids.sizes + x.sizes[1:], [x, ids],
                 f"ad.embedding {x}, {ids}{named} : {x.type}, {ids.type}",
                 attributes={**_along(x, 0, ids), "outside": "error", "padding": padding})


@operation("scatter", ALL)
def _scatter(g, element):
    x = _indexed(g, element)
    kind = g.pick(["set", "add", "max", "min"]) if element != "i1" else "set"
    lists = Lists(g, x, ["error", "clamp", "drop"])
    update = g.argument(element, lists.sizes)
    return g.add("scatter", element, x.static, x.sizes, [x, *lists.indices, update],
                 f"ad.scatter {kind} {x}[{lists.names()}], {update} {lists.text()} : "
                 f"{x.type}, {lists.types()}, {update.type}", attributes={**lists.attributes(), "kind": kind})


# What they give.

def _positions(attributes, x, indices, place):
    """The position in x of an element of the part; None if it is outside."""
    number = tuple(place[axis] for axis in attributes["free"])
    position = [None] * x.ndim
    for axis, index in zip(attributes["axes"], indices):
        at = int(index[number])
        if attributes["outside"] == "clamp":
            at = min(max(at, 0), x.shape[axis] - 1)
        if not 0 <= at < x.shape[axis]:
            return None
        position[axis] = at
    for axis, place_of_index in zip(attributes["batch"], attributes["index_batch"]):
        position[axis] = number[place_of_index]
    others = [axis for axis in range(x.ndim) if position[axis] is None]
    for axis, from_part in zip(others, attributes["slices"]):
        position[axis] = place[from_part]
    return tuple(position)


def lookup(op, arrays):
    x, *indices = arrays
    fill = encode(op.result.element, np.float64(op.attributes["fill"])) if op.result.element != "i1" \
        else np.bool_(op.attributes["fill"])
    result = np.zeros(op.result.sizes, x.dtype)
    for place in np.ndindex(result.shape):
        position = _positions(op.attributes, x, indices, place)
        result[place] = fill if position is None else x[position]
    return result


def _combined(kind, old, new):
    if kind == "set":
        return new
    if kind == "add":
        return old + new
    if old != old or new != new:
        return old + new  # NaN
    if old == new == 0 and np.asarray(old).dtype.kind == "f":  # -0 is less than +0
        negative = (np.signbit(old) or np.signbit(new)) if kind == "min" else (np.signbit(old) and np.signbit(new))
        return old.dtype.type(-0.0 if negative else 0.0)
    return max(old, new) if kind == "max" else min(old, new)


def scattered(op, arrays):
    x, *indices, update = arrays
    element, kind = op.result.element, op.attributes["kind"]
    widens = is_float(element) and element not in ("f64", "f32") and kind != "set"
    values = [decode(element, array).astype(np.float32) if widens else array for array in (x, update)]
    result, touched = np.array(values[0]), np.zeros(x.shape, bool)
    with np.errstate(all="ignore"):
        for place in np.ndindex(update.shape):
            position = _positions(op.attributes, x, indices, place)
            if position is not None:
                result[position] = _combined(kind, result[position], values[1][place])
                touched[position] = True
    return np.where(touched, encode(element, result.astype(np.float64)), x) if widens else result


TABLE = {"gather": lookup, "take": lookup, "embedding": lookup, "scatter": scattered}
assert set(TABLE) <= set(CATALOGUE)
