# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Every operation of the families elementwise, creation, shape, contraction, reduction and nn: how a random instance of
it is made. CATALOGUE maps a mnemonic to its element types and a function (generator, element) → result; what an
instance was is noted in its attributes, from which oracle.py computes what it must give."""

import numpy as np

from elements import ALL, FLOATS, INTEGERS, NUMBERS, SMALL_FLOATS, STORAGE, WIDTHS, accumulator, is_float
from generator import LONG, common_static, join_static, tensor_type

CATALOGUE = {}


def operation(mnemonic, types):
    def register(function):
        CATALOGUE[mnemonic] = (types, function)
        return function
    return register


# Elementwise.

UNARY_FLOAT = ["exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos", "tan", "tanh", "sqrt", "rsqrt", "recip",
               "erf", "floor", "ceil", "round_even", "sigmoid", "relu", "silu", "softplus"]
LOGICAL = ["i1", "i8", "i32", "i64"]


def _unary(mnemonic):
    def make(g, element):
        x = g.operand(element)
        return g.add(mnemonic, element, x.static, x.sizes, [x], f"ad.{mnemonic} {x} : {x.type}")
    return make


def broadcast_result(operands):
    sizes = np.broadcast_shapes(*[v.sizes for v in operands])
    return join_static([v.static for v in operands]), sizes


def _broadcasting(mnemonic, arity, result=None):
    def make(g, element):
        x = g.operand(element)
        operands = [x] + [g.like(x) for _ in range(arity - 1)]
        try:
            static, sizes = broadcast_result(operands)
        except ValueError:  # two operands repeat in different ways
            operands = [x] * arity
            static, sizes = x.static, x.sizes
        types = ", ".join(v.type for v in operands)
        text = f"ad.{mnemonic} {', '.join(map(str, operands))} : {types}"
        return g.add(mnemonic, result or element, static, sizes, operands, text)
    return make


def _shift(mnemonic):
    """Mostly by places that leave some bits; sometimes by any number."""
    def make(g, element):
        if g.chance(0.3):
            return _broadcasting(mnemonic, 2)(g, element)
        x = g.operand(element)
        storage = np.dtype(STORAGE[element])
        places = np.asarray(g.rng.integers(-1, 8 * storage.itemsize + 2, x.sizes)).astype(storage)
        y = g.argument(element, x.sizes, x.static, places)
        return g.add(mnemonic, element, x.static, x.sizes, [x, y], f"ad.{mnemonic} {x}, {y} : {x.type}, {y.type}")
    return make


for _name in UNARY_FLOAT:
    CATALOGUE[_name] = (FLOATS, _unary(_name))
for _name in ["abs", "neg", "sign"]:
    CATALOGUE[_name] = (NUMBERS, _unary(_name))
CATALOGUE["not"] = (LOGICAL, _unary("not"))
for _name in ["add", "sub", "mul", "div", "rem", "max", "min"]:
    CATALOGUE[_name] = (NUMBERS, _broadcasting(_name, 2))
for _name in ["pow", "atan2"]:
    CATALOGUE[_name] = (FLOATS, _broadcasting(_name, 2))
for _name in ["and", "or", "xor"]:
    CATALOGUE[_name] = (LOGICAL, _broadcasting(_name, 2))
for _name in ["shift_left", "shift_right", "shift_right_logical"]:
    CATALOGUE[_name] = (INTEGERS, _shift(_name))
CATALOGUE["clamp"] = (NUMBERS, _broadcasting("clamp", 3))
CATALOGUE["fma"] = (FLOATS, _broadcasting("fma", 3))


@operation("gelu", FLOATS)
def _gelu(g, element):
    x, form = g.operand(element), g.pick(["none", "tanh"])
    text = f"ad.gelu {x} {{form = #ad<gelu_form {form}>}} : {x.type}" if form == "tanh" else f"ad.gelu {x} : {x.type}"
    return g.add("gelu", element, x.static, x.sizes, [x], text, attributes={"form": form})


@operation("is_finite", FLOATS)
def _is_finite(g, element):
    x = g.operand(element)
    return g.add("is_finite", "i1", x.static, x.sizes, [x],
                 f"ad.is_finite {x} : {x.type} -> {tensor_type('i1', x.static)}")


@operation("cast", ALL)
def _cast(g, element):
    x = g.operand(g.pick(ALL))
    return g.add("cast", element, x.static, x.sizes, [x], f"ad.cast {x} : {x.type} -> {tensor_type(element, x.static)}")


@operation("bitcast", ALL)
def _bitcast(g, element):
    x = g.operand(g.pick([other for other in ALL if WIDTHS[other] == WIDTHS[element]]))
    return g.add("bitcast", element, x.static, x.sizes, [x],
                 f"ad.bitcast {x} : {x.type} -> {tensor_type(element, x.static)}")


@operation("compare", ALL)
def _compare(g, element):
    predicate = g.pick(["eq", "ne", "lt", "le", "gt", "ge"])
    x = g.operand(element)
    y = g.like(x)
    static, sizes = broadcast_result([x, y])
    return g.add("compare", "i1", static, sizes, [x, y], f"ad.compare {predicate} {x}, {y} : {x.type}, {y.type}",
                 attributes={"predicate": predicate})


@operation("select", ALL)
def _select(g, element):
    x = g.operand(element)
    operands = [g.like(x, "i1"), x, g.like(x)]
    try:
        static, sizes = broadcast_result(operands)
    except ValueError:
        operands[2] = x
        static, sizes = broadcast_result(operands)
    types = ", ".join(v.type for v in operands)
    return g.add("select", element, static, sizes, operands, f"ad.select {', '.join(map(str, operands))} : {types}")


# Random numbers: any key and counter.

def _random(mnemonic):
    def make(g, element):
        counter = g.operand("i64")
        operands = [g.like(counter), counter]
        static, sizes = broadcast_result(operands)
        types = ", ".join(v.type for v in operands)
        return g.add(mnemonic, element, static, sizes, operands,
                     f"ad.{mnemonic} {', '.join(map(str, operands))} : {types} -> {tensor_type(element, static)}")
    return make


CATALOGUE["rng_bits"] = (["i32", "i64"], _random("rng_bits"))
for _name in ["rng_uniform", "rng_normal"]:
    CATALOGUE[_name] = (["f64", "f32"], _random(_name))


@operation("cast_stochastic", SMALL_FLOATS)
def _cast_stochastic(g, element):
    x = g.operand("f32")
    operands = [x, g.like(x, "i64"), g.like(x, "i64")]
    try:
        static, sizes = broadcast_result(operands)
    except ValueError:
        operands[2] = operands[1]
        static, sizes = broadcast_result(operands)
    types = ", ".join(v.type for v in operands)
    return g.add("cast_stochastic", element, static, sizes, operands,
                 f"ad.cast_stochastic {', '.join(map(str, operands))} : {types} -> {tensor_type(element, static)}")


# Creation.

@operation("constant", ALL)
def _constant(g, element):
    from elements import random
    sizes = g.sizes(g.rank(), limit=60)
    sizes = tuple(max(size, 1) for size in sizes)
    return g.constant(element, sizes, np.asarray(random(g.rng, element, sizes, g.special)))


@operation("full", ALL)
def _full(g, element):
    sizes = g.sizes(g.rank())
    static, prelude, operands = g.static(sizes), [], []
    if element == "i1":
        number, text = g.pick([0, 1]), None
        text = "true" if number else "false"
    else:
        number = g.pick([0, 1, -2, 3])
        text = f"{float(number)} : {element}" if is_float(element) else f"{number} : {element}"
    scalar = "%" + g.name("s")
    prelude.append(f"{scalar} = arith.constant {text}")
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("full", element, static, sizes, operands,
                 f"ad.full {scalar}{index} : {element} -> {tensor_type(element, static)}", prelude, {"value": number})


@operation("iota", NUMBERS)
def _iota(g, element):
    sizes = g.sizes(g.rank(1))
    static, prelude, operands, axis = g.static(sizes), [], [], g.rank(0, len(sizes) - 1)
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("iota", element, static, sizes, operands,
                 f"ad.iota axis {axis} {index} : {tensor_type(element, static)}", prelude, {"axis": axis})


# Shape.

def _factors(g, count):
    """A random shape with the given number of elements."""
    sizes, rest = [], count
    while rest > 1 and len(sizes) < 3:
        divisors = [d for d in range(1, rest + 1) if rest % d == 0]
        sizes.append(g.pick(divisors))
        rest //= sizes[-1]
    if rest != 1 or not sizes and g.chance(0.5):
        sizes.append(rest)
    if count == 0:
        sizes = [0] + [g.size() for _ in range(g.rank(0, 2))]
    return tuple(sizes)


@operation("reshape", ALL)
def _reshape(g, element):
    x = g.operand(element)
    sizes = _factors(g, int(np.prod(x.sizes, dtype=np.int64)))
    static, prelude, operands = g.static(sizes), [], [x]
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("reshape", element, static, sizes, operands,
                 f"ad.reshape {x}{index} : {x.type} -> {tensor_type(element, static)}", prelude)


@operation("broadcast", ALL)
def _broadcast(g, element):
    x = g.operand(element, high=3)
    sizes = [g.pick([1, 2, 3, 0]) if size == 1 and g.chance(0.7) else size for size in x.sizes]
    static = [None if g.chance(g.dynamic) else size for size in sizes]
    for _ in range(g.rank(0, 4 - len(sizes)) if g.chance(0.5) else 0):
        size = g.pick([1, 2, 3])
        sizes.insert(0, size)
        static.insert(0, None if g.chance(g.dynamic) else size)
    prelude, operands = [], [x]
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("broadcast", element, static, sizes, operands,
                 f"ad.broadcast {x}{index} : {x.type} -> {tensor_type(element, static)}", prelude)


@operation("sum_to_shape", NUMBERS)
def _sum_to_shape(g, element):
    x = long_operand(g, element, low=0)
    sizes, static = [], []
    for size, known in zip(x.sizes, x.static):
        one = g.chance(0.4)
        sizes.append(1 if one else size)
        static.append((None if g.chance(g.dynamic) else 1) if one else known)
    drop = g.rank(0, x.rank) if g.chance(0.4) else 0
    sizes, static, prelude, operands = sizes[drop:], static[drop:], [], [x]
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("sum_to_shape", element, static, sizes, operands,
                 f"ad.sum_to_shape {x}{index} : {x.type} -> {tensor_type(element, static)}", prelude)


@operation("transpose", ALL)
def _transpose(g, element):
    x = g.operand(element, low=3 if g.chance(0.5) else 0)
    # Only from three axes on does a permutation differ from its inverse, and rotations always do.
    rotate = x.rank > 2 and g.chance(0.5)
    order = [*range(1, x.rank), 0] if rotate else [int(axis) for axis in g.rng.permutation(x.rank)]
    return g.add("transpose", element, [x.static[a] for a in order], [x.sizes[a] for a in order], [x],
                 f"ad.transpose {x} {order} : {x.type}", attributes={"order": order})


@operation("slice", ALL)
def _slice(g, element):
    x = g.operand(element)
    offsets, strides, sizes = [], [], []
    for size in x.sizes:
        offset, stride = g.rank(0, max(size - 1, 0)), g.pick([1, 1, 2, 3])
        high = -(-(size - offset) // stride) if size else 0
        offsets.append(offset)
        strides.append(stride)
        sizes.append(g.rank(0 if g.chance(0.1) else min(1, high), high))
    static, prelude, operands = g.static(sizes), [], [x]
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("slice", element, static, sizes, operands,
                 f"ad.slice {x} {offsets} strides {strides}{index} : {x.type} -> {tensor_type(element, static)}",
                 prelude, {"offsets": offsets, "strides": strides})


def _window(g, x, prelude, operands):
    """Sizes of a part of x, its offsets as index operands, and attributes that give its position. Inside of a loop an
    offset may move with the iterations, so that parts of several iterations overlap, touch or are disjoint."""
    sizes = [g.rank(min(1, size), size) for size in x.sizes]
    moving = [(axis, loop) for loop in g.loops for axis, size in enumerate(x.sizes) if size > loop.last]
    axis, loop = g.pick(moving) if moving and g.chance(0.7) else (None, None)
    if loop:
        sizes[axis] = g.rank(1, x.sizes[axis] - loop.last)
    offsets = [g.rank(0, whole - part - (loop.last if at == axis else 0))
               for at, (whole, part) in enumerate(zip(x.sizes, sizes))]
    names = [g.index(offset, prelude, operands) for offset in offsets]
    attributes = {"offsets": offsets}
    if loop:
        names[axis] = "%" + g.name("n")
        shift = offsets[axis] - loop.first
        prelude += [f"{names[axis]}s = arith.constant {shift} : index",
                    f"{names[axis]} = arith.addi {loop.index}, {names[axis]}s : index"]
        attributes["moving"] = (axis, loop.index, shift)
    return tuple(sizes), attributes, ", ".join(names)


@operation("dynamic_slice", ALL)
def _dynamic_slice(g, element):
    x, prelude = g.operand(element), []
    operands = [x]
    sizes, attributes, names = _window(g, x, prelude, operands)
    static = g.static(sizes)
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("dynamic_slice", element, static, sizes, operands,
                 f"ad.dynamic_slice {x}[{names}]{index} : {x.type} -> {tensor_type(element, static)}", prelude,
                 attributes)


@operation("dynamic_update_slice", ALL)
def _dynamic_update_slice(g, element):
    x, prelude = g.operand(element), []
    operands = [x]
    sizes, attributes, names = _window(g, x, prelude, operands)
    update = g.argument(element, sizes)
    operands.insert(1, update)
    return g.add("dynamic_update_slice", element, x.static, x.sizes, operands,
                 f"ad.dynamic_update_slice {x}, {update}[{names}] : {x.type}, {update.type}", prelude, attributes)


@operation("pad", ALL)
def _pad(g, element):
    x, value = g.operand(element, high=3), g.operand(element, high=0)
    low, high, interior = ([g.pick([0, 0, 1, 2]) for _ in x.sizes] for _ in range(3))
    padded = lambda n, axis: None if n is None else low[axis] + high[axis] + n + max(n - 1, 0) * interior[axis]
    static, sizes = ([padded(n, axis) for axis, n in enumerate(shape)] for shape in (x.static, x.sizes))
    return g.add("pad", element, static, sizes, [x, value],
                 f"ad.pad {x}, {value} low {low} high {high} interior {interior} : {x.type}, {value.type}",
                 attributes={"low": low, "high": high, "interior": interior})


@operation("concat", ALL)
def _concat(g, element):
    x = g.operand(element, low=1)
    axis, inputs = g.rank(0, x.rank - 1), [x]
    for _ in range(g.rank(0, 3)):
        sizes = list(x.sizes)
        sizes[axis] = g.size()
        inputs.append(g.argument(element, tuple(sizes)))
    static, sizes = list(x.static), list(x.sizes)
    for other in inputs[1:]:
        for a in range(x.rank):
            if a == axis:
                static[a] = None if static[a] is None or other.static[a] is None else static[a] + other.static[a]
            else:
                static[a] = common_static(static[a], other.static[a])
        sizes[axis] += other.sizes[axis]
    return g.add("concat", element, static, sizes, inputs,
                 f"ad.concat axis {axis} {', '.join(map(str, inputs))} : {', '.join(v.type for v in inputs)}",
                 attributes={"axis": axis})


@operation("reverse", ALL)
def _reverse(g, element):
    x = g.operand(element)
    axes = [axis for axis in range(x.rank) if g.chance(0.5)]
    return g.add("reverse", element, x.static, x.sizes, [x], f"ad.reverse {x} axes {axes} : {x.type}",
                 attributes={"axes": axes})


# Reduction.

def long_operand(g, element, low=1):
    """An operand with, sometimes, an axis that is longer than lanes and blocks."""
    if not g.chance(0.2):
        return g.operand(element, low=low)
    sizes = list(g.sizes(g.rank(max(low, 1), 3) - 1, limit=6))
    sizes.insert(g.rank(0, len(sizes)), g.pick([4097, 5000]) if g.chance(0.08) else g.pick(LONG))
    return g.argument(element, tuple(sizes))


def _wide(g, element):
    """The element type of a sum: the operand's or the accumulator's."""
    return accumulator(element) if g.chance(0.3) else element


def _reduction(mnemonic, sums):
    def make(g, element):
        x = long_operand(g, element, low=0)
        axes = [axis for axis in range(x.rank) if g.chance(0.5)]
        keep = g.chance(0.4)
        result = _wide(g, element) if sums else element
        kept = lambda shape: tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
        static, sizes = kept(x.static), kept(x.sizes)
        text = f"ad.{mnemonic} {x} axes {axes}{' keep_dims' if keep else ''} : {x.type} -> {tensor_type(result, static)}"
        return g.add(mnemonic, result, static, sizes, [x], text, attributes={"axes": axes, "keep": keep})
    return make


for _name in ["reduce_sum", "reduce_prod"]:
    CATALOGUE[_name] = (NUMBERS, _reduction(_name, True))
for _name in ["reduce_max", "reduce_min"]:
    CATALOGUE[_name] = (NUMBERS, _reduction(_name, False))
CATALOGUE["reduce_mean"] = (FLOATS, _reduction("reduce_mean", True))


def _arg_reduction(mnemonic):
    def make(g, element):
        x = g.operand(element, low=1, where=lambda v: 0 not in v.sizes)
        axis = g.rank(0, x.rank - 1)
        drop = lambda shape: shape[:axis] + shape[axis + 1:]
        return g.add(mnemonic, "i64", drop(x.static), drop(x.sizes), [x], f"ad.{mnemonic} {x} axis {axis} : {x.type}",
                     attributes={"axis": axis})
    return make


CATALOGUE["argmax"] = (ALL, _arg_reduction("argmax"))
CATALOGUE["argmin"] = (ALL, _arg_reduction("argmin"))


def _running(mnemonic):
    def make(g, element):
        x = long_operand(g, element)
        axis = g.rank(0, x.rank - 1)
        return g.add(mnemonic, element, x.static, x.sizes, [x], f"ad.{mnemonic} {x} axis {axis} : {x.type}",
                     attributes={"axis": axis})
    return make


for _name in ["cumsum", "cumprod", "cummax", "cummin"]:
    CATALOGUE[_name] = (NUMBERS, _running(_name))
