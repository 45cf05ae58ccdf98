# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Scalar operations of `arith` and `math` on numbers of Python, as docs/numerics.md says ("Scalar code").

An integer is its signed number, an index one of 64 bits. A float is the number of f64 that it equals. Nothing here
calls the tools."""

import math
import struct

import numpy as np

import elements

WIDTH = {"i1": 1, "i3": 3, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
FLOATS = elements.FLOATS
FLOAT_BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8}


def is_float(element):
    return element in FLOAT_BITS


#===- Integers ----------------------------------------------------------------------------------------------------===#


def unsigned(value, width):
    return value & ((1 << width) - 1)


def wrapped(value, width):
    """The signed number of the low bits."""
    value = unsigned(value, width)
    return value - (1 << width) if value >> (width - 1) else value


def _quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# f(a, b, a without a sign, b without a sign, width) before it is wrapped.
INTEGERS = {
    "addi": lambda a, b, ua, ub, w: a + b,
    "subi": lambda a, b, ua, ub, w: a - b,
    "muli": lambda a, b, ua, ub, w: a * b,
    "andi": lambda a, b, ua, ub, w: ua & ub,
    "ori": lambda a, b, ua, ub, w: ua | ub,
    "xori": lambda a, b, ua, ub, w: ua ^ ub,
    "shli": lambda a, b, ua, ub, w: ua << ub if ub < w else 0,
    "shrui": lambda a, b, ua, ub, w: ua >> ub if ub < w else 0,
    "shrsi": lambda a, b, ua, ub, w: a >> min(ub, w - 1),
    "minsi": lambda a, b, ua, ub, w: min(a, b),
    "maxsi": lambda a, b, ua, ub, w: max(a, b),
    "minui": lambda a, b, ua, ub, w: min(ua, ub),
    "maxui": lambda a, b, ua, ub, w: max(ua, ub),
    "divsi": lambda a, b, ua, ub, w: _quotient(a, b),
    "remsi": lambda a, b, ua, ub, w: a - b * _quotient(a, b),
    "floordivsi": lambda a, b, ua, ub, w: a // b,
    "ceildivsi": lambda a, b, ua, ub, w: -(-a // b),
    "divui": lambda a, b, ua, ub, w: ua // ub,
    "remui": lambda a, b, ua, ub, w: ua % ub,
    "ceildivui": lambda a, b, ua, ub, w: -(-ua // ub),
}
DIVISIONS = ["divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"]
# Both results.
EXTENDED = {
    "addui_extended": lambda a, b, ua, ub, w: (ua + ub, ua + ub >> w),
    "mulsi_extended": lambda a, b, ua, ub, w: (a * b, a * b >> w),
    "mului_extended": lambda a, b, ua, ub, w: (ua * ub, ua * ub >> w),
}
CMPI = {
    "eq": lambda a, b, ua, ub: a == b,
    "ne": lambda a, b, ua, ub: a != b,
    "slt": lambda a, b, ua, ub: a < b,
    "sle": lambda a, b, ua, ub: a <= b,
    "sgt": lambda a, b, ua, ub: a > b,
    "sge": lambda a, b, ua, ub: a >= b,
    "ult": lambda a, b, ua, ub: ua < ub,
    "ule": lambda a, b, ua, ub: ua <= ub,
    "ugt": lambda a, b, ua, ub: ua > ub,
    "uge": lambda a, b, ua, ub: ua >= ub,
}


def _both(element, a, b):
    width = WIDTH[element]
    return a, b, unsigned(a, width), unsigned(b, width)


def integer(name, element, a, b):
    width = WIDTH[element]
    return wrapped(INTEGERS[name](*_both(element, a, b), width), width)


def extended(name, element, a, b):
    width = WIDTH[element]
    low, high = EXTENDED[name](*_both(element, a, b), width)
    return wrapped(low, width), wrapped(high, 1 if name == "addui_extended" else width)


def compare_integers(predicate, element, a, b):
    return -int(CMPI[predicate](*_both(element, a, b)))


#===- Floats ------------------------------------------------------------------------------------------------------===#


def rounded(element, value):
    """A number of f64, rounded once to the type; an 8-bit float saturates."""
    return float(elements.decode(element, elements.encode(element, value)))


def _round_to_odd(value):
    """The number of f64 from which rounding once more gives what rounding the integer gives, in 24 bits or less."""
    shift = max(0, abs(value).bit_length() - 53)
    kept = abs(value) >> shift
    if abs(value) & ((1 << shift) - 1):
        kept |= 1
    return math.copysign(float(kept << shift), value)


def from_integer(element, value):
    return float(value) if element == "f64" else rounded(element, _round_to_odd(value))


def to_integer(value, least, most):
    """Towards zero, saturated; NaN is 0."""
    if math.isnan(value):
        return 0
    return least if value <= least else most if value >= most else int(value)


def _ordered(a, b, choose):
    """IEEE minimum and maximum of numbers: -0 is below +0."""
    if a == b == 0:
        return choose(a, b, key=lambda x: math.copysign(1, x))
    return choose(a, b)


def _propagate(choose):
    return lambda a, b: math.nan if math.isnan(a) or math.isnan(b) else _ordered(a, b, choose)


def _ignore(choose):
    return lambda a, b: b if math.isnan(a) else a if math.isnan(b) else _ordered(a, b, choose)


def _remainder(a, b):
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0:
        return math.nan
    return math.fmod(a, b)


def _computed(f):
    """In the type in which the operation computes: f32 for narrower types, f64 for f64."""
    return lambda number: lambda *x: float(f(*(number(v) for v in x)))


def _exact(f):
    return lambda number: f


# By name: a function of the type in which the operation computes, to the function on numbers of f64.
FLOAT_BINARY = {
    "arith.addf": _computed(lambda a, b: a + b),
    "arith.subf": _computed(lambda a, b: a - b),
    "arith.mulf": _computed(lambda a, b: a * b),
    "arith.divf": _computed(lambda a, b: a / b),
    "arith.remf": _exact(_remainder),
    "arith.minimumf": _exact(_propagate(min)),
    "arith.maximumf": _exact(_propagate(max)),
    "arith.minnumf": _exact(_ignore(min)),
    "arith.maxnumf": _exact(_ignore(max)),
}
FLOAT_UNARY = {
    "arith.negf": _exact(lambda a: -a),
    "math.absf": _exact(abs),
    "math.floor": _computed(np.floor),
    "math.ceil": _computed(np.ceil),
    "math.roundeven": _computed(np.rint),
    "math.sqrt": _computed(np.sqrt),
}


def floating(name, element, *operands):
    number = np.float64 if element == "f64" else np.float32
    with np.errstate(all="ignore"):
        return rounded(element, {**FLOAT_BINARY, **FLOAT_UNARY}[name](number)(*operands))


_RELATIONS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
              "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
CMPF = ["false", "true", "ord", "uno", *(kind + name for kind in "ou" for name in _RELATIONS)]


def compare_floats(predicate, a, b):
    unordered = math.isnan(a) or math.isnan(b)
    if predicate in ("false", "true", "ord", "uno"):
        return -int({"false": False, "true": True, "ord": not unordered, "uno": unordered}[predicate])
    return -int(predicate[0] == "u" if unordered else _RELATIONS[predicate[1:]](a, b))


#===- Conversions -------------------------------------------------------------------------------------------------===#


def convert(name, source, target, value):
    if name in ("sitofp", "uitofp"):
        return from_integer(target, value if name == "sitofp" else unsigned(value, WIDTH[source]))
    if name in ("extf", "truncf"):
        return rounded(target, value) if name == "truncf" else value
    width = WIDTH[target]
    if name == "fptosi":
        return to_integer(value, -(1 << (width - 1)), (1 << (width - 1)) - 1)
    if name == "fptoui":
        return wrapped(to_integer(value, 0, (1 << width) - 1), width)
    if name in ("extui", "index_castui"):
        return wrapped(unsigned(value, WIDTH[source]), width)
    return wrapped(value, width)  # extsi, trunci, index_cast


NAN = {"f64": 0x7FF8 << 48, "f32": 0x7FC0 << 16, "f16": 0x7E00, "bf16": 0x7FC0, "f8E4M3FN": 0x7F, "f8E5M2": 0x7E}
_WORDS = {"f64": ("<d", "<q"), "f32": ("<f", "<i")}


def bits_of(element, value):
    """The bits of a float as a signed number; NaN has one pattern: positive, and the leading bit of its fraction."""
    if math.isnan(value):
        return wrapped(NAN[element], FLOAT_BITS[element])
    if element in _WORDS:
        return struct.unpack(_WORDS[element][1], struct.pack(_WORDS[element][0], value))[0]
    if element == "f8E5M2" and math.isinf(value):
        return wrapped(0x7C if value > 0 else 0xFC, 8)
    array = elements.encode(element, value)
    return wrapped(int(np.asarray(array).view(f"u{FLOAT_BITS[element] // 8}")), FLOAT_BITS[element])


def float_of(element, bits):
    raw = np.array(unsigned(bits, FLOAT_BITS[element]), f"u{FLOAT_BITS[element] // 8}")
    return float(elements.decode(element, raw.view(elements.STORAGE[element])))


def bitcast(source, target, value):
    bits = bits_of(source, value) if is_float(source) else value
    return float_of(target, bits) if is_float(target) else bits


def stored(element, values):
    """An array of the storage of a type. Infinities of f8E5M2 are kept, which elements.encode would saturate."""
    if is_float(element):
        bits = [unsigned(bits_of(element, value), FLOAT_BITS[element]) for value in values]
        return np.array(bits, f"u{FLOAT_BITS[element] // 8}").view(elements.STORAGE[element])
    if element == "i1":
        return np.array([value != 0 for value in values], np.bool_)
    return np.array(values, elements.STORAGE[element])
