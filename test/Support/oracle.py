# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What an operation must give, computed by NumPy in f64, and how far a result may be from it.

expected(op, arrays) returns (array, None) where the bits follow from the specification (data movement, integers,
correctly rounded operations), else (values in f64, largest error), element by element; where the error is negative,
the result may be an infinity or NaN, too.
Elementwise functions are allowed the bounds of docs/numerics-functions.md, sums gamma_k * sum of |a_i b_i|."""

import math

import numpy as np

import elements
import random_numbers
from elements import decode, encode, is_float

EPSILON = {"f32": 2.0**-24, "f64": 2.0**-53}


def _vector(function):
    return np.vectorize(function, otypes=[np.float64])


def _sigmoid(x):
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def _times(x, factor):
    """x * factor, with the limit where the factor vanishes faster than x grows."""
    return np.where(np.isneginf(x), -0.0, x * factor)


def _gelu_tanh(x):
    return _times(x, _sigmoid(2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu(x):
    return _times(x, 0.5 * _vector(math.erfc)(-x / math.sqrt(2)))


FUNCTIONS = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log1p": np.log1p, "sin": np.sin,
    "cos": np.cos, "tan": np.tan, "tanh": np.tanh, "rsqrt": lambda x: 1 / np.sqrt(x), "erf": _vector(math.erf),
    "sigmoid": _sigmoid, "silu": lambda x: _times(x, _sigmoid(x)), "softplus": lambda x: np.logaddexp(0, x),
    "pow": np.power,
    "atan2": np.arctan2,
}
# Correctly rounded in the type in which they compute.
ROUNDED = {
    "sqrt": np.sqrt, "recip": lambda x: 1 / x, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "rem": np.fmod, "floor": np.floor, "ceil": np.ceil, "round_even": np.rint, "abs": np.abs, "neg": np.negative,
    "sign": lambda x: np.where(np.isnan(x) | (x == 0), x, np.sign(x)), "relu": lambda x: np.where(x < 0, 0.0, x),
}
COMPARISONS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
               "ge": np.greater_equal}


def _maximum(x, y):
    ordered = np.where((x == y) & np.signbit(x), y, np.where(x > y, x, np.where(x == y, x, y)))
    return np.where(np.isnan(x) | np.isnan(y), np.nan, ordered)


def _minimum(x, y):
    return -_maximum(-x, -y)


def round_through(element, values):
    """Rounded to the type in which the operation computes, then to its type."""
    if elements.compute(element) == "f32" and element != "f32":
        with np.errstate(all="ignore"):
            values = values.astype(np.float32).astype(np.float64)
    return encode(element, values)


# Integers: Python's own, wrapped.

def _truncated(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGER = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": _truncated,
    "rem": lambda a, b: a if b == 0 else a - _truncated(a, b) * b, "max": max, "min": min, "and": lambda a, b: a & b,
    "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "abs": abs, "neg": lambda a: -a, "not": lambda a: ~a,
    "sign": lambda a: (a > 0) - (a < 0), "clamp": lambda x, low, high: min(max(x, low), high),
}


def _shifted(mnemonic, bits):
    """The function of a number and of places."""
    def shift(a, places):
        if not 0 <= places < bits:
            return -1 if mnemonic == "shift_right" and a < 0 else 0
        if mnemonic == "shift_left":
            return a << places
        return (a if mnemonic == "shift_right" else a % (1 << bits)) >> places
    return shift


def wrap(element, numbers):
    """Python integers as the element type."""
    if element == "i1":
        return np.asarray(numbers & 1).astype(bool)
    bits = 8 * np.dtype(elements.STORAGE[element]).itemsize
    wrapped = np.vectorize(lambda n: ((int(n) + (1 << bits - 1)) % (1 << bits)) - (1 << bits - 1), otypes=[object])
    numbers = np.asarray(numbers, dtype=object)
    return (wrapped(numbers) if numbers.size else numbers).astype(elements.STORAGE[element])


def _objects(array):
    return np.asarray(array).astype(np.int64).astype(object)


def _integer(op, arrays):
    operands = np.broadcast_arrays(*[_objects(a) for a in arrays])
    if not operands[0].size:
        return wrap(op.result.element, operands[0])
    element = op.result.element
    function = INTEGER.get(op.mnemonic) or _shifted(op.mnemonic, 8 * np.dtype(elements.STORAGE[element]).itemsize)
    return wrap(element, np.vectorize(function, otypes=[object])(*operands))


# Elementwise.

def _function_error(element, values):
    """Twice the documented bounds, since NumPy's functions and formulas have errors of their own in f64."""
    if element == "f64":
        return 10 * elements.ulp("f64", values)
    if element == "f32":
        return 1.01 * elements.ulp("f32", values)
    return 0.51 * elements.ulp(element, values) + 2 * elements.ulp("f32", values)


# One pattern of bits stands for all NaNs.
NAN_BITS = {"f64": 0x7FF8000000000000, "f32": 0x7FC00000, "f16": 0x7E00, "bf16": 0x7FC0, "f8E4M3FN": 0x7F, "f8E5M2": 0x7E}


def _bitcast(source, result, array):
    bits = np.array(array, order="C").view(f"u{array.dtype.itemsize}")
    if is_float(source):
        bits[np.isnan(decode(source, array))] = NAN_BITS[source]
    return bits.view(elements.STORAGE[result])


def _elementwise(op, arrays):
    name, element = op.mnemonic, op.operands[-1].element
    if name == "select":
        return np.where(np.broadcast_arrays(*arrays)[0], *arrays[1:]), None
    if name in random_numbers.TABLE:
        return random_numbers.TABLE[name](op, arrays)
    if name == "cast":
        return _cast(op.operands[0].element, op.result.element, arrays[0]), None
    if name == "bitcast":
        return _bitcast(op.operands[0].element, op.result.element, arrays[0]), None
    values = [decode(v.element, a) for v, a in zip(op.operands, arrays)]
    if name == "compare":
        return COMPARISONS[op.attributes["predicate"]](*values), None
    if name == "is_finite":
        return np.isfinite(values[0]), None
    if not is_float(element):
        return _integer(op, arrays), None
    if name in ("max", "min"):
        return encode(element, (_maximum if name == "max" else _minimum)(*values)), None
    if name == "clamp":
        return encode(element, _minimum(_maximum(values[0], values[1]), values[2])), None
    if name in ROUNDED:
        return round_through(element, ROUNDED[name](*values)), None
    if name == "fma":
        x, y, z = (value.astype(np.longdouble)
                   for value in values)  # an f64 product may overflow where the sum does not
        want = (x * y + z).astype(np.float64)
        inner = np.abs(values[0] * values[1]) * EPSILON["f64"]
        return want, inner + _function_error(element, want)
    function = FUNCTIONS.get(name) or (_gelu_tanh if op.attributes.get("form") == "tanh" else _gelu)
    want = function(*values)
    error = _function_error(element, want)
    if name == "gelu" and element == "f64":  # the formulas above lose what the argument's rounding does to a tail
        error = error + np.abs(want) * EPSILON["f64"] * values[0]**4
    return want, error


def _cast(source, target, array):
    if source == target:
        return array
    values = decode(source, array)
    if target == "i1":
        return values != 0
    if is_float(target):
        return encode(target, values) if is_float(source) or source != "i64" else _from_i64(target, array)
    if not is_float(source):
        return wrap(target, _objects(values)) if values.size else encode(target, values)
    info = np.iinfo(elements.STORAGE[target])
    low, high = float(info.min), float(info.max)
    clipped = np.where(np.isnan(values), 0, np.clip(values, low, high))
    inside = np.where(clipped >= high, 0, np.trunc(clipped)).astype(np.int64)
    return np.where(clipped >= high, info.max, inside).astype(elements.STORAGE[target])


def _from_i64(target, array):
    """i64 → float rounds once, also where f64 cannot hold the integer."""
    if target == "f64" or target == "f32":
        return array.astype(elements.STORAGE[target])
    return encode(target, array.astype(np.float64))


# Movement.

def _movement(op, arrays):
    x, a, sizes = arrays[0] if arrays else None, op.attributes, op.result.sizes
    storage = elements.STORAGE[op.result.element]
    if op.mnemonic == "constant":
        return a["value"]
    if op.mnemonic == "full":
        return encode(op.result.element, np.full(sizes, a["value"], dtype=np.float64))
    if op.mnemonic == "iota":
        line = encode(op.result.element, np.arange(sizes[a["axis"]], dtype=np.float64))
        return np.broadcast_to(line.reshape([-1] + [1] * (len(sizes) - 1 - a["axis"])), sizes)
    if op.mnemonic == "reshape":
        return x.reshape(sizes)
    if op.mnemonic == "broadcast":
        return np.broadcast_to(x, sizes)
    if op.mnemonic == "transpose":
        return x.transpose(a["order"])
    if op.mnemonic == "reverse":
        return np.flip(x, tuple(a["axes"]))
    if op.mnemonic == "concat":
        return np.concatenate(arrays[:len(op.operands)], a["axis"])
    if op.mnemonic in ("slice", "dynamic_slice"):
        steps = a.get("strides", [1] * len(sizes))
        return x[tuple(slice(o, o + n * s, s) for o, n, s in zip(a["offsets"], sizes, steps))]
    result = np.array(x) if op.mnemonic == "dynamic_update_slice" else np.full(sizes, arrays[1], dtype=storage)
    if op.mnemonic == "dynamic_update_slice":
        result[tuple(slice(o, o + n) for o, n in zip(a["offsets"], arrays[1].shape))] = arrays[1]
    else:
        result[tuple(slice(low, n - high, i + 1) for low, high, i, n
                     in zip(a["low"], a["high"], a["interior"], sizes))] = x
    return result


def expected(op, arrays):
    import operations_attention
    import operations_indexing
    import operations_layers
    import operations_sorting
    import operations_windows
    import oracle_sums
    with np.errstate(all="ignore"):
        if op.mnemonic in operations_indexing.TABLE:
            return operations_indexing.TABLE[op.mnemonic](op, arrays), None
        if op.mnemonic in operations_sorting.TABLE:
            return operations_sorting.TABLE[op.mnemonic](op, arrays), None
        for module in (operations_windows, operations_attention, operations_layers):
            if op.mnemonic in module.TABLE:
                return module.TABLE[op.mnemonic](op, arrays)
        if op.mnemonic in MOVEMENT:
            return _movement(op, arrays), None
        if op.mnemonic in oracle_sums.TABLE:
            return oracle_sums.TABLE[op.mnemonic](op, arrays)
        return _elementwise(op, arrays)


MOVEMENT = {"constant", "full", "iota", "reshape", "broadcast", "transpose", "slice", "dynamic_slice",
            "dynamic_update_slice", "pad", "concat", "reverse"}


def differences(op, arrays, result):
    """Where the result is not what it must be, as indices into the flattened result."""
    element = op.result.element
    want, error = expected(op, arrays)
    if tuple(result.shape) != tuple(op.result.sizes):
        return [0]
    if error is None:
        return np.flatnonzero(~elements.same_bits(element, np.asarray(want), result))
    with np.errstate(all="ignore"):
        got, rounded = decode(element, result).reshape(-1), decode(element, encode(element, want)).reshape(-1)
        want, error = np.broadcast_to(want, result.shape).reshape(-1), np.broadcast_to(error, result.shape).reshape(-1)
        equal = (got == rounded) | (np.isnan(got) & np.isnan(want))
        limited = np.clip(want, -elements.LARGEST[element], elements.LARGEST[element])
        near = np.isfinite(got) & (np.minimum(np.abs(got - want), np.abs(got - limited)) <= np.abs(error))
        # Results that overflow where the exact one does not quite, and the other way round.
        edge = np.isinf(got) & (np.abs(want) + error >= elements.LARGEST[element]) & (np.sign(got) == np.sign(want))
        # Sums whose parts overflow in one order and not in another.
        either = (error < 0) & ~np.isfinite(got)
    return np.flatnonzero(~(equal | near | edge | either))
