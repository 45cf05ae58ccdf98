# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random convolutions and reductions of moving windows, and what they give by NumPy, one element of the window after
another; see operations.py."""

import string

import numpy as np

import elements
from elements import NUMBERS, decode, is_float
from generator import common_static, tensor_type
from operations import CATALOGUE, _wide, operation
from oracle import _maximum, _minimum, _objects, wrap
from oracle_sums import bound_of

MAX_PRODUCTS = 60_000


class Window:
    """One along an axis of so many elements; drawn so that it mostly has places."""

    def __init__(self, g, elements_of_axis, largest=4, low_padding=0, input_dilation=1):
        self.stride, self.dilation = g.pick([1, 1, 1, 2, 3, 5]), g.pick([1, 1, 1, 2, 3, 4])
        self.input_dilation = input_dilation
        self.low, self.high = (g.rank(low_padding, g.pick([3, 3, 7])) if g.chance(0.4) else 0 for _ in range(2))
        self.size = g.rank(1, largest)
        self.elements = elements_of_axis
        while self.size > 1 and not self.places and g.chance(0.9):
            self.size -= 1

    @property
    def padded(self):
        dilated = (self.elements - 1) * self.input_dilation + 1 if self.elements else 0
        return dilated + self.low + self.high

    @property
    def places(self):
        room = self.padded - (max(self.size, 1) - 1) * self.dilation - 1
        return room // self.stride + 1 if room >= 0 else 0

    def indices(self, step):
        """The elements of the padded input that element `step` of the window meets, for each place."""
        return np.arange(self.places) * self.stride + step * self.dilation


def lists(g, windows, names):
    """Lists of one number for each window; those with the default everywhere are sometimes not written."""
    text = ""
    for name, field, default in names:
        numbers = [getattr(window, field) for window in windows]
        if any(number != default for number in numbers) or (numbers and g.chance(0.2)):
            text += f" {name} {numbers}"
    return text


def opened(static, size):
    return None if static is None else size


# Convolutions.

class Letters:
    """The letters of one convolution of x: those of its axes by their roles, then those of the filter's own."""

    def __init__(self, g, x):
        names = iter(string.ascii_lowercase)
        digits, self.input, self.role = 0, "", {}
        for _ in range(x.rank):
            role = g.pick(["spatial", "spatial", "channel", "batch", "group"])
            if role == "spatial" and digits == 3:
                role = "channel"
            letter = str(digits) if role == "spatial" else next(names)
            digits += role == "spatial"
            self.input, self.role[letter] = self.input + letter, role
        order = [int(i) for i in g.rng.permutation(digits)]  # digits follow the axes in any order
        self.input = "".join(str(order[int(c)]) if c.isdigit() else c for c in self.input)
        self.outputs = [next(names)] if g.chance(0.7) else []
        self.digits = [str(i) for i in range(digits)]
        of = lambda *roles: [c for c in self.input if self.role[c] in roles]
        shuffled = lambda letters: "".join(letters[int(i)] for i in g.rng.permutation(len(letters)))
        self.filter = shuffled(of("spatial", "channel", "group") + self.outputs)
        self.result = shuffled(of("spatial", "batch", "group") + self.outputs)

    @property
    def text(self):
        return f"{self.input},{self.filter}->{self.result}"


@operation("conv", NUMBERS)
def _conv(g, element):
    x = g.operand(element, low=1)
    letters = Letters(g, x)
    size = dict(zip(letters.input, x.sizes))
    windows = [Window(g, size[digit], 4, low_padding=-1, input_dilation=g.pick([1, 1, 1, 2, 3, 4, 9])) for digit in letters.digits]
    for window in windows:
        if g.chance(0.02):
            window.size = 0
        elif g.chance(0.03):  # longer than the input, so that there is none
            window.size = min(window.padded + 1, 9)
    sizes = {**size, **{letter: min(g.size(), 9) for letter in letters.outputs}}
    products = lambda: int(np.prod([max(window.places * window.size, 1) for window in windows]
                                   + [sizes[c] for c in sizes if not c.isdigit()], dtype=np.int64))
    for letter in letters.outputs:
        sizes[letter] = min(sizes[letter], max(MAX_PRODUCTS * max(sizes[letter], 1) // max(products(), 1), 1))
    while products() > MAX_PRODUCTS and any(window.size > 1 for window in windows):
        max(windows, key=lambda window: window.size).size = 1
    of_filter = tuple(windows[int(c)].size if c.isdigit() else sizes[c] for c in letters.filter)
    # A derivative needs the sizes of windows.
    static = tuple(n if c.isdigit() and not g.open_windows else s
                   for c, n, s in zip(letters.filter, of_filter, g.static(of_filter)))
    w = g.argument(element, of_filter, static)
    if not g.open_windows and any(c.isdigit() and s is None for c, s in zip(letters.filter, w.static)):
        w = g.ops[-1].operands[0]  # the generator of smooth functions has left sizes of an argument open
    known = {**dict(zip(letters.filter, w.static))}
    for letter, s in zip(letters.input, x.static):
        known[letter] = common_static(s, known.get(letter)) if not letter.isdigit() else None if s is None else known[letter]
    place = lambda c: windows[int(c)].places if c.isdigit() else sizes[c]
    result = tuple(place(c) for c in letters.result)
    static = tuple(opened(known[c], place(c)) for c in letters.result)
    text = lists(g, windows, [("strides", "stride", 1), ("low", "low", 0), ("high", "high", 0),
                              ("input_dilation", "input_dilation", 1), ("filter_dilation", "dilation", 1)])
    kind = _wide(g, element)
    return g.add("conv", kind, static, result, [x, w],
                 f'ad.conv {x}, {w} dims "{letters.text}"{text} : ({x.type}, {w.type}) -> {tensor_type(kind, static)}',
                 attributes={"dims": (letters.input, letters.filter, letters.result), "windows": windows})


def _padded(x, axis, window, value=0):
    """The elements along the axis with zeros between them, and others before and after."""
    count = x.shape[axis]
    shape = list(x.shape)
    shape[axis] = (count - 1) * window.input_dilation + 1 if count else 0
    spread = np.zeros(shape, x.dtype)
    np.moveaxis(spread, axis, 0)[::window.input_dilation] = np.moveaxis(x, axis, 0)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (max(window.low, 0), max(window.high, 0))
    whole = np.moveaxis(np.pad(spread, widths, constant_values=value), axis, 0)
    end = whole.shape[0] - max(-window.high, 0)
    return np.moveaxis(whole[min(max(-window.low, 0), whole.shape[0]):max(end, 0)], 0, axis)


def skips_inserted_zeros(windows):
    """Whether zeros between the elements of the input take no part in the sum."""
    return 1 < np.prod([window.input_dilation for window in windows], dtype=np.float64) <= 64


def _convolve(x, w, op):
    """The sum over the elements of the window: for each, the products at all places that it takes part in."""
    source, of_filter, result = op.attributes["dims"]
    windows = op.attributes["windows"]
    skips = skips_inserted_zeros(windows)
    for axis, letter in enumerate(source):
        if letter.isdigit():
            x = _padded(x, axis, windows[int(letter)])
    rename = lambda text: "".join(string.ascii_uppercase[int(c)] if c.isdigit() else c for c in text)
    rest = "".join(c for c in of_filter if not c.isdigit())
    of_result = [windows[int(c)].places if c.isdigit() else (x.shape[source.find(c)] if c in source else w.shape[of_filter.find(c)])
                 for c in result]
    total = np.zeros(of_result, x.dtype)
    for step in np.ndindex(*[window.size for window in windows]):
        at = [windows[int(c)].indices(step[int(c)]) if c.isdigit() else np.arange(n) for c, n in zip(source, x.shape)]
        element = w[tuple(step[int(c)] if c.isdigit() else slice(None) for c in of_filter)]
        part = np.einsum(f"{rename(source)},{rest}->{rename(result)}", x[np.ix_(*at)], element)
        for axis, c in enumerate(result):
            if skips and c.isdigit():
                window = windows[int(c)]
                takes = (window.indices(step[int(c)]) - window.low) % window.input_dilation == 0
                part = np.where(takes.reshape([-1] + [1] * (len(result) - axis - 1)), part, x.dtype.type(0))
        total = total + part
    return total


def conv(op, arrays):
    if not is_float(op.operands[0].element):
        left, right = (a.astype(np.int64) for a in arrays[:2])  # int64 wraps as the narrower types do
        return wrap(op.result.element, _objects(_convolve(left, right, op))), None
    x, w = (decode(v.element, a) for v, a in zip(op.operands, arrays))
    summed = [n for c, n in zip(op.attributes["dims"][1], w.shape) if c.isdigit() or c not in op.attributes["dims"][2]]
    want, finite = _convolve(x, w, op), (np.where(np.isfinite(a), np.abs(a), 0) for a in (x, w))
    error = bound_of(op, want, int(np.prod(summed, dtype=np.int64)), _convolve(np.abs(x), np.abs(w), op))
    overflows = _convolve(*finite, op) >= elements.LARGEST[elements.accumulator(op.operands[0].element)]
    return want, np.where(overflows, np.where(np.isinf(want), -1, -error), error)


# Reductions of windows.

def _windows(g, sizes, fill=0.4):
    windows = [Window(g, size, 4) if not g.chance(fill) else Window(g, size, 1) for size in sizes]
    while np.prod([window.places * window.size for window in windows], dtype=np.int64) > MAX_PRODUCTS:
        wide = max(windows, key=lambda window: window.size * window.places)
        wide.size, wide.low, wide.high = 1, 0, 0
        if wide.stride < 4:
            wide.stride += 1
    return windows


def _text(g, windows):
    return f"window {[window.size for window in windows]}" + lists(
        g, windows, [("strides", "stride", 1), ("dilation", "dilation", 1), ("low", "low", 0), ("high", "high", 0)])


def _positions(g, windows, sizes):
    count = int(np.prod([window.size for window in windows], dtype=np.int64))
    element = g.pick(["i32", "i64"])
    numbers = np.asarray(g.rng.integers(-1, count + 1, sizes))
    return g.argument(element, sizes, array=numbers.astype(elements.STORAGE[element]))


def _reduced(g, element):
    """An operand, its windows, and the static and the run-time sizes of their places."""
    x = g.operand(element)
    windows = _windows(g, x.sizes)
    places = tuple(window.places for window in windows)
    return x, windows, tuple(map(opened, x.static, places)), places


@operation("reduce_window", NUMBERS)
def _reduce_window(g, element):
    x, windows, static, sizes = _reduced(g, element)
    kind, operands, at = g.pick(["max", "min", "sum", "sum"] + ["mean"] * is_float(element)), [x], ""
    if kind == "sum" and g.chance(0.3):
        operands.append(_positions(g, windows, sizes))
        at = f" at {operands[1]}"
    types = ", ".join(value.type for value in operands)
    return g.add("reduce_window", element, static, sizes, operands,
                 f"ad.reduce_window {kind} {x}{at} {_text(g, windows)} : {types}",
                 attributes={"kind": kind, "windows": windows})


@operation("arg_reduce_window", NUMBERS)
def _arg_reduce_window(g, element):
    x, windows, static, sizes = _reduced(g, element)
    kind = g.pick(["max", "min"])
    return g.add("arg_reduce_window", "i64", static, sizes, [x],
                 f"ad.arg_reduce_window {kind} {x} {_text(g, windows)} : {x.type}",
                 attributes={"kind": kind, "windows": windows})


@operation("spread_window", NUMBERS)
def _spread_window(g, element):
    sizes = g.sizes(g.rank(0, 4), limit=g.largest // 4)
    windows, static = _windows(g, sizes), g.static(sizes)
    for window in windows:
        if window.elements and not window.places and g.chance(0.8):
            window.size = 1
    x = g.argument(element, tuple(window.places for window in windows))
    operands, prelude, at = [x], [], ""
    if g.chance(0.4):
        operands.append(_positions(g, windows, x.sizes))
        at = f" at {operands[1]}"
    types = ", ".join(value.type for value in operands)
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("spread_window", element, static, sizes, operands,
                 f"ad.spread_window {x}{at} {_text(g, windows)}{index} : ({types}) -> {tensor_type(element, static)}",
                 prelude, {"windows": windows, "positions": bool(at)})


def _outside(element, kind):
    """What max or min reads outside of the input."""
    if not is_float(element):
        info = np.iinfo(elements.STORAGE[element])
        return info.min if kind == "max" else info.max
    largest = elements.LARGEST[element] if element == "f8E4M3FN" else np.inf
    return -largest if kind == "max" else largest


def _steps(x, windows, value):
    """(number, elements) of each element of the window, with an element for each place."""
    for axis, window in enumerate(windows):
        x = _padded(x, axis, window, value)
    for number, step in enumerate(np.ndindex(*[window.size for window in windows])):
        yield number, x[np.ix_(*[window.indices(k) for window, k in zip(windows, step)])]


def _values(op, arrays):
    return decode(op.operands[0].element, arrays[0])


def reduce_window(op, arrays):
    element, kind, windows = op.operands[0].element, op.attributes["kind"], op.attributes["windows"]
    x = _values(op, arrays)
    if kind in ("max", "min"):
        folds = {"max": _maximum, "min": _minimum} if is_float(element) else {"max": np.maximum, "min": np.minimum}
        outside = _outside(element, kind)
        result = np.full(op.result.sizes, outside, x.dtype)
        for _, part in _steps(x, windows, outside):
            result = folds[kind](result, part)
        return elements.encode(element, result), None
    where = (lambda number: arrays[1] == number) if len(op.operands) > 1 else (lambda number: True)
    total, magnitude = np.zeros(op.result.sizes, x.dtype), np.zeros(op.result.sizes, x.dtype)
    for number, part in _steps(x, windows, 0):
        part = np.where(where(number), part, x.dtype.type(0))
        total, magnitude = total + part, magnitude + np.abs(part)
    return _sum(op, total, magnitude, int(np.prod([window.size for window in windows], dtype=np.int64)), kind == "mean")


def _sum(op, total, magnitude, count, is_mean=False):
    if not is_float(op.result.element):
        return wrap(op.result.element, _objects(total)), None
    # A mean may be a number whose sum is not.
    overflows = magnitude >= elements.LARGEST[elements.accumulator(op.operands[0].element)]
    if is_mean:
        total, magnitude = total / count, magnitude / count
    error = bound_of(op, total, count, magnitude)
    return total, np.where(overflows, np.where(np.isinf(total), -1, -error), error)


def arg_reduce_window(op, arrays):
    element, kind, windows = op.operands[0].element, op.attributes["kind"], op.attributes["windows"]
    x, outside = _values(op, arrays), _outside(element, kind)
    best = position = None
    for number, part in _steps(x, windows, outside):
        if best is None:
            best, position = part, np.zeros(op.result.sizes, np.int64)
            continue
        better = part > best if kind == "max" else part < best
        if is_float(element):
            first = np.signbit(best) & ~np.signbit(part) if kind == "max" else ~np.signbit(best) & np.signbit(part)
            better = (better | ((part == best) & first) | np.isnan(part)) & ~np.isnan(best)
        best, position = np.where(better, part, best), np.where(better, number, position)
    return position, None


def spread_window(op, arrays):
    windows, g = op.attributes["windows"], _values(op, arrays)
    padded = [window.padded for window in windows]
    total, magnitude = np.zeros(padded, g.dtype), np.zeros(padded, g.dtype)
    for number, step in enumerate(np.ndindex(*[window.size for window in windows])):
        part = np.where(arrays[1] == number, g, g.dtype.type(0)) if op.attributes["positions"] else g
        at = np.ix_(*[window.indices(k) for window, k in zip(windows, step)])
        total[at] += part
        magnitude[at] += np.abs(part)
    inside = tuple(slice(window.low, window.low + window.elements) for window in windows)
    count = int(np.prod([window.size for window in windows], dtype=np.int64))
    return _sum(op, total[inside], magnitude[inside], count)


def is_smooth(op, arrays):
    """Whether the largest element of each window is ahead of all others."""
    if op.mnemonic != "reduce_window" or op.attributes["kind"] not in ("max", "min"):
        return True
    outside = _outside("f64", op.attributes["kind"])
    parts = np.stack([part for _, part in _steps(_values(op, arrays), op.attributes["windows"], outside)])
    if not np.isfinite(parts).any(0).all():
        return False
    ordered = np.sort(parts if op.attributes["kind"] == "max" else -parts, 0)
    return len(ordered) < 2 or bool(np.all(ordered[-1] - ordered[-2] > 0.02))


TABLE = {"conv": conv, "reduce_window": reduce_window, "arg_reduce_window": arg_reduce_window,
         "spread_window": spread_window}
assert set(TABLE) <= set(CATALOGUE)
