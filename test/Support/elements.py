# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The element types of tensors in NumPy, which has neither bfloat16 nor 8-bit floats.

Tensors of a type are arrays of its storage: the bits for types that NumPy lacks, numbers for all others. decode gives
their values in f64 (exact), encode rounds f64 values to nearest even as ad.cast does."""

import numpy as np

FLOATS = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"]
INTEGERS = ["i8", "i32", "i64"]
ALL = FLOATS + ["i1"] + INTEGERS
NUMBERS = FLOATS + INTEGERS
SMALL_FLOATS = ["f16", "bf16", "f8E4M3FN", "f8E5M2"]

STORAGE = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": np.uint16, "f8E4M3FN": np.uint8,
    "f8E5M2": np.uint8, "i1": np.bool_, "i8": np.int8, "i32": np.int32, "i64": np.int64,
}
WIDTHS = {name: 1 if name == "i1" else 8 * np.dtype(storage).itemsize for name, storage in STORAGE.items()}
# Bits of the mantissa, and the exponent of the smallest normal number.
MANTISSA = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7, "f8E4M3FN": 3, "f8E5M2": 2}
MIN_EXPONENT = {"f64": -1022, "f32": -126, "f16": -14, "bf16": -126, "f8E4M3FN": -6, "f8E5M2": -14}
LARGEST = {"f64": np.finfo(np.float64).max, "f32": float(np.finfo(np.float32).max), "f16": 65504.0,
           "bf16": float.fromhex("0x1.fep127"), "f8E4M3FN": 448.0, "f8E5M2": 57344.0}


def tensor(element, shape):
    """The type of a tensor; sizes that are strings are used verbatim."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def is_float(element):
    return element in MANTISSA


def accumulator(element):
    if element == "f64" or element in ("i32", "i64", "i1"):
        return element
    return "i32" if element == "i8" else "f32"


def compute(element):
    return "f32" if element in SMALL_FLOATS else element


def _decode_table(element):
    bits = np.arange(256, dtype=np.uint8)
    if element == "f8E5M2":  # the upper half of f16
        return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float64)
    sign = np.where(bits & 0x80, -1.0, 1.0)
    exponent, fraction = (bits >> 3) & 15, (bits & 7).astype(np.float64)
    value = np.where(exponent == 0, fraction * 2.0**-9, (8 + fraction) * np.exp2(exponent.astype(np.float64) - 10))
    return sign * np.where((bits & 0x7F) == 0x7F, np.nan, value)


_TABLES = {"f8E4M3FN": _decode_table("f8E4M3FN"), "f8E5M2": _decode_table("f8E5M2")}


def decode(element, array):
    """The values in f64; integers and booleans as they are, in i64."""
    array = np.asarray(array)
    if element in _TABLES:
        return _TABLES[element][array]
    if element == "bf16":
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64 if is_float(element) else np.int64)


def _round_to_grid(element, values):
    """Nearest even on the grid of the type, without its largest value."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(values)
        step = np.exp2(np.maximum(exponent - 1, MIN_EXPONENT[element]).astype(np.float64) - MANTISSA[element])
        return np.where(np.isfinite(values), np.rint(values / step) * step, values)


def encode(element, values):
    """Storage of the values, rounded once."""
    if not is_float(element):
        return np.asarray(values).astype(np.int64).astype(STORAGE[element])
    values = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if element in ("f64", "f32", "f16"):
            return values.astype(STORAGE[element])
        if element == "bf16":
            rounded = _round_to_grid(element, values).astype(np.float32)
            return (rounded.view(np.uint32) >> 16).astype(np.uint16)
        largest = LARGEST[element]
        rounded = np.clip(_round_to_grid(element, values), -largest, largest)
    return _encode_byte(element, rounded)


def _encode_byte(element, rounded):
    table = _TABLES[element]
    positive = table[:128]
    finite = np.flatnonzero(np.isfinite(positive))
    magnitude = np.searchsorted(positive[finite], np.abs(np.nan_to_num(rounded))).astype(np.uint8)
    bits = magnitude | np.where(np.signbit(rounded), 0x80, 0).astype(np.uint8)
    return np.where(np.isnan(rounded), 0x7F, bits).astype(np.uint8)


def ulp(element, values):
    """The distance between adjacent numbers at the values."""
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(np.where(np.isfinite(values), values, LARGEST[element]))
        return np.exp2(np.maximum(exponent - 1, MIN_EXPONENT[element]).astype(np.float64) - MANTISSA[element])


def same_bits(element, left, right):
    """Where the elements are equal in the sense of the contract: the same bits, or NaN on both sides."""
    if left.shape != right.shape:
        return np.zeros(max(left.size, 1), dtype=bool)
    width = np.dtype(STORAGE[element]).itemsize
    a, b = (np.ascontiguousarray(x).reshape(-1).view(f"u{width}") for x in (left, right))
    equal = a == b
    if is_float(element):
        equal |= np.isnan(decode(element, left.reshape(-1))) & np.isnan(decode(element, right.reshape(-1)))
    return equal


def save(path, element, array):
    array = np.array(array, order="C")  # ascontiguousarray gives a scalar an axis
    if element == "bf16":
        array = array.view("V2")
    elif element in _TABLES:
        array = array.view("V1")
    np.save(path, array)


def load(path, element):
    array = np.load(path)
    return array.view(STORAGE[element]) if array.dtype.kind == "V" else array


def random(rng, element, shape, special=0.0):
    """Storage of random values; `special` is the share of zeros, infinities, NaN and extreme values."""
    if element == "i1":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if not is_float(element):
        info = np.iinfo(STORAGE[element])
        small = rng.integers(-9, 10, shape)
        extreme = rng.choice(np.array([info.min, info.max, info.min + 1, -1, 0, 1], dtype=np.int64), shape)
        return np.where(rng.random(shape) < special, extreme, small).astype(STORAGE[element])
    values = rng.normal(size=shape) * 2.0 ** rng.integers(-3, 3, shape)
    largest, tiny = LARGEST[element], 2.0 ** (MIN_EXPONENT[element] - MANTISSA[element] + 1)
    extreme = rng.choice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, largest, -largest, tiny, -tiny, 1.0, -1.0]),
                         shape)
    return encode(element, np.where(rng.random(shape) < special, extreme, values))
