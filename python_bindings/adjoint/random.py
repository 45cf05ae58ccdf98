# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random numbers by keys, with the names of jax.random. The numbers are those of Philox4x32-10 (docs/spec/random.md):
the same on every target, and not those of JAX.

A key is an i64 tensor of rank 0. Equal keys give equal numbers: split a key for each use. Outside of traced functions
keys and numbers are arrays.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from . import numpy, ops
from ._arithmetic import floating
from ._checks import is_number, whole
from ._constants import tensor
from ._eager import eager
from ._errors import OptionError, OptionTypeError, TracingError
from ._functions import is_value
from ._index import Index
from ._narrow import convert
from ._shapes import axes_of, reshape
from ._signature import format_type
from ._tensor import Tensor
from ._types import FLOATS, INTEGERS, element_of
from ._value import is_tensor

__all__ = [
    "bernoulli",
    "bits",
    "categorical",
    "fold_in",
    "gumbel",
    "key",
    "normal",
    "permutation",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
]


def _no_key(key: Any) -> TracingError:
    hint = "; the key comes first" if isinstance(key, (tuple, list)) else ""
    return TracingError(f"expected a key of adjoint.random.key, split or fold_in, got {key!r}{hint}")


def _keyed(*static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`eager` for functions whose first argument is a key, which says so where a shape is in its place."""

    def wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
        made = eager(*static)(function)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            given = arguments[0] if arguments else keywords.get("key")
            if isinstance(given, (tuple, list)):
                raise _no_key(given)
            return made(*arguments, **keywords)

        return checked

    return wrap_function


@eager()
def key(seed: Any) -> Tensor:
    """The key of a seed, an integer."""
    return _integer(seed, "a seed")


def _integer(value: Any, what: str) -> Tensor:
    if not is_value(value):
        raise TracingError(f"expected an integer as {what}, got {value!r}")
    made = tensor(value, "i64") if not isinstance(value, float) else tensor(value)
    if made.element_type not in INTEGERS or made.ndim:
        raise TracingError(f"expected an integer as {what}, got {made}")
    return made.astype("i64")


def _counters(count: Any, first: builtins.int = 0) -> Tensor:
    made = ops.iota([count] if isinstance(count, Index) else (), axis=0, type=_row("i64", count))
    return made if first == 0 else made + first


def _row(element: str, count: Any) -> str:
    return format_type(element, (None if isinstance(count, Index) else count,))


# Keys that are made of keys have counters that numbers of tensors never have.
_SPLIT = 1 << 62


@_keyed("num")
def split(key: Tensor, num: builtins.int = 2) -> Tensor:
    """`num` new keys, along an axis."""
    num = whole("num", num, 0)
    return ops.rng_bits(as_key(key), _counters(num, _SPLIT), type=f"tensor<{num}xi64>")


@_keyed()
def fold_in(key: Tensor, data: Any) -> Tensor:
    """A new key of a key and a number, e.g. of a step."""
    counter = _integer(data, "data of fold_in") + (_SPLIT + (1 << 61))
    return ops.rng_bits(as_key(key), counter, type="tensor<i64>")


def _sizes(shape: Any) -> tuple[Any, ...]:
    given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    try:
        sizes = tuple(size if isinstance(size, Index) else operator.index(size) for size in given)
    except TypeError:
        sizes = (-1,)
    if not all(isinstance(size, Index) or size >= 0 for size in sizes):
        raise TracingError(f"expected a shape of numbers and sizes, got {shape!r}")
    return sizes


def as_key(key: Any) -> Tensor:
    """A key as a tensor."""
    if not is_value(key) or isinstance(key, (bool, float)):
        raise _no_key(key)
    made = tensor(key, "i64")
    if made.element_type != "i64" or made.ndim:
        raise TracingError(f"expected a key of adjoint.random.key, split or fold_in, got {made}")
    return made


def _draw(name: str, key: Any, shape: Any, element: str) -> Tensor:
    key, sizes = as_key(key), _sizes(shape)
    count = functools.reduce(operator.mul, sizes, 1)
    made = getattr(ops, name)(key, _counters(count), type=_row(element, count))
    return reshape(made, sizes)


@_keyed("shape", "dtype")
def bits(key: Tensor, shape: Any = (), dtype: Any = "i32") -> Tensor:
    return _draw("rng_bits", key, shape, element_of(dtype))


#: How many binary digits a number below 1 has.
_DIGITS = {"f16": 11, "bf16": 8, "f8E4M3FN": 4, "f8E5M2": 3}


def _floats(name: str, key: Tensor, shape: Any, dtype: Any) -> Tensor:
    element = element_of(dtype)
    if element not in FLOATS:
        raise OptionError(f"expected a float type for these numbers, got {element}; randint gives integers")
    made = _draw(name, key, shape, element if element in ("f32", "f64") else "f32")
    if name == "rng_uniform" and element in _DIGITS:
        # Rounded down, since the cast would round the last numbers up to 1.
        scale = 2.0 ** _DIGITS[element]
        made = numpy.floor(made * scale) / scale
    return made.astype(element)


def uniform(key: Any, shape: Any = (), dtype: Any = "f32", minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Numbers in [minval, maxval)."""
    for bound in (minval, maxval):
        if not is_value(bound):
            raise OptionTypeError(f"expected minval and maxval as numbers, got {bound!r}")
    if all(isinstance(bound, (builtins.int, float)) for bound in (minval, maxval)):
        if not minval <= maxval:
            raise OptionError(f"expected minval of at most maxval, got {minval} and {maxval}")
        if (minval, maxval) == (0, 1):
            return _unit(key, shape, dtype)
    return _between(key, shape, dtype, minval, maxval)


@_keyed("shape", "dtype")
def _unit(key: Tensor, shape: Any, dtype: Any) -> Tensor:
    return _floats("rng_uniform", key, shape, dtype)


@_keyed("shape", "dtype")
def _between(key: Tensor, shape: Any, dtype: Any, minval: Any, maxval: Any) -> Tensor:
    made: Tensor = _floats("rng_uniform", key, shape, dtype) * (maxval - minval) + minval
    return made


@_keyed("shape", "dtype")
def normal(key: Tensor, shape: Any = (), dtype: Any = "f32") -> Tensor:
    return _floats("rng_normal", key, shape, dtype)


@_keyed("lower", "upper", "shape", "dtype")
def truncated_normal(key: Tensor, lower: float, upper: float, shape: Any = (), dtype: Any = "f32") -> Tensor:
    """Normal numbers between two bounds, by the inverse of the distribution function."""
    lower, upper = (_bound(*one) for one in (("lower", lower), ("upper", upper)))
    a, b = (math.erf(bound / math.sqrt(2)) for bound in (lower, upper))
    if not a < b:
        raise OptionError(f"expected bounds that normal numbers are between, got {lower} and {upper}")
    made = uniform(key, shape, "f64", a, b)
    found = erf_inverse(made) * math.sqrt(2)
    return numpy.clip(found, min=lower, max=upper).astype(dtype)


def _bound(name: str, value: Any) -> float:
    """A number, or an infinity."""
    if not is_number(value, -math.inf, math.inf):
        raise OptionTypeError(f"expected {name} as a number, got {value!r}")
    return builtins.float(value)


def erf_inverse(x: Tensor) -> Tensor:
    """The inverse of erf: the start of Winitzki (2008), and three steps of Newton's method."""
    logarithm = numpy.log1p(-x * x)
    middle = 2 / (math.pi * 0.147) + logarithm / 2
    guess = numpy.copysign(numpy.sqrt(numpy.sqrt(middle * middle - logarithm / 0.147) - middle), x)
    for _ in range(3):
        guess = guess - (numpy.erf(guess) - x) * (math.sqrt(math.pi) / 2) * numpy.exp(guess * guess)
    return guess


def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
    """True with the probability p."""
    if not is_value(p):
        raise OptionTypeError(f"expected p as a probability, got {p!r}")
    if not is_tensor(p):
        known = convert(np.asarray(p), "f64")
        if not ((known >= 0) & (known <= 1)).all():
            raise OptionError(f"expected p as a probability from 0 to 1, got {p}")
    return _bernoulli(key, p, shape)


@_keyed("shape")
def _bernoulli(key: Tensor, p: Any, shape: Any) -> Tensor:
    probability = tensor(p, "f32")
    made: Tensor = uniform(key, probability.shape if shape is None else shape)
    return made < probability


@_keyed("shape", "minval", "maxval", "dtype")
def randint(key: Tensor, shape: Any, minval: builtins.int, maxval: builtins.int, dtype: Any = "i32") -> Tensor:
    """Integers in [minval, maxval). Their probabilities differ by less than 2^-31 of their mean for ranges up to
    2^32; ranges above 2^53 have some of their integers only."""
    minval, maxval = whole("minval", minval, -(2**63)), whole("maxval", maxval, -(2**63), 2**63)
    if not minval < maxval:
        raise OptionError(f"expected minval below maxval, got {minval} and {maxval}")
    _check_fits(minval, maxval, element_of(dtype))
    made = numpy.floor(uniform(key, shape, "f64") * builtins.float(maxval - minval))
    if maxval - minval > 2**63:
        # The upper half by the negative numbers of the same bits: the sum wraps around.
        made = numpy.where(made < 2.0**63, made, made - 2.0**64)
    moved: Tensor = made.astype("i64") + minval
    return moved.astype(dtype)


def _check_fits(minval: builtins.int, maxval: builtins.int, element: str) -> None:
    if element not in INTEGERS:
        return
    high = 1 << (builtins.int(element[1:]) - 1)
    for name, bound, low, limit in (("minval", minval, -high, high - 1), ("maxval", maxval, 1 - high, high)):
        if not low <= bound <= limit:
            raise OptionError(f"expected {name} from {low} to {limit} for integers of {element}, got {bound}")


@_keyed("shape", "dtype")
def gumbel(key: Tensor, shape: Any = (), dtype: Any = "f32") -> Tensor:
    made = uniform(key, shape, dtype)
    return -numpy.log(-numpy.log(numpy.maximum(made, 1e-37)))


@_keyed("axis")
def categorical(key: Tensor, logits: Tensor, axis: builtins.int = -1) -> Tensor:
    """Numbers of classes with probabilities softmax(logits)."""
    logits = floating(logits)
    (place,) = axes_of(axis, logits.ndim)
    return numpy.argmax(logits + gumbel(key, logits.shape, logits.element_type), axis=place)


def permutation(key: Tensor, x: Any) -> Any:
    raise NotImplementedError("adjoint.random.permutation sorts; Adjoint has no operation for that yet")
