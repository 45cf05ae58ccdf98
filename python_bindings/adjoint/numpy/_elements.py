# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._arithmetic import common, common_select, compare, floating, in_wide
from .._constants import tensor
from .._emit import create
from .._errors import TracingError
from .._types import FLOATS

if TYPE_CHECKING:
    from .._tensor import Tensor


def _float_function(name: str) -> Callable[[Any], Tensor]:
    def function(x: Any, /) -> Tensor:
        return create(name, [floating(x)])

    function.__name__ = function.__qualname__ = name
    return function


exp, expm1, log, log1p, log2 = map(_float_function, ("exp", "expm1", "log", "log1p", "log2"))
sin, cos, tan, tanh, sqrt = map(_float_function, ("sin", "cos", "tan", "tanh", "sqrt"))
exp2, erf, rsqrt = map(_float_function, ("exp2", "erf", "rsqrt"))


def _made(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of elements, from one of tensors of one type, f32 or f64."""

    @functools.wraps(function)
    def of_any(*values: Any) -> Tensor:
        return in_wide(function, *values)

    return of_any


@_made
def log10(x: Tensor, /) -> Tensor:
    return log2(x) * math.log10(2)


def _half_exp(x: Tensor) -> Tensor:
    """exp(x) / 2, which is finite where exp(x) is not, and so is its slope. Large x - 1 are exact."""
    return exp(x - 1) * (math.e / 2)


def _small_sinh(x: Tensor) -> Tensor:
    above = expm1(x)
    return (above + above / (above + 1)) * 0.5


@_made
def sinh(x: Tensor, /) -> Tensor:
    is_small = abs(x) < 1
    return where(is_small, _small_sinh(where(is_small, x, 0)), _half_exp(x) - _half_exp(-x))


@_made
def cosh(x: Tensor, /) -> Tensor:
    # The slope of 1 + 2 sinh(x / 2)^2 has the digits of a small x.
    is_small = abs(x) < 1
    half = _small_sinh(where(is_small, x, 0) * 0.5)
    return where(is_small, 1 + 2 * half * half, _half_exp(x) + _half_exp(-x))


# Above it, a square plus 1 is the square, and the square of a square is still a number.
_LARGE = {"f32": 1e6, "f64": 1e9}


@_made
def asinh(x: Tensor, /) -> Tensor:
    side = where(x < 0, -1, 1)  # unlike those of abs and copysign, the slope at 0 is right
    magnitude = x * side
    is_large = magnitude > _LARGE[x.element_type]
    # What is not taken has numbers of its own, since slopes that are infinite would make NaN of zeros.
    near, far = where(is_large, 1, magnitude), where(is_large, magnitude, 2)
    square = near * near
    small = log1p(near + square / (1 + sqrt(square + 1)))
    made = where(is_large, log(far) + math.log(2), small) * side
    return where(x == 0, x, made)


@_made
def acosh(x: Tensor, /) -> Tensor:
    is_large = x > _LARGE[x.element_type]
    near, far = where(is_large, 2, x), where(is_large, x, 2)
    less = near - 1
    # The root of each factor is NaN below 1.
    return where(is_large, log(far) + math.log(2), log1p(less + sqrt(less) * sqrt(near + 1)))


@_made
def atanh(x: Tensor, /) -> Tensor:
    return (log1p(x) - log1p(-x)) * 0.5


def atan2(x1: Any, x2: Any, /) -> Tensor:
    a, b = common(x1, x2)
    return create("atan2", [floating(a), floating(b)])


@_made
def atan(x: Tensor, /) -> Tensor:
    return atan2(x, 1)


@_made
def asin(x: Tensor, /) -> Tensor:
    return atan2(x, sqrt((1 - x) * (1 + x)))


@_made
def acos(x: Tensor, /) -> Tensor:
    return atan2(sqrt((1 - x) * (1 + x)), x)


@_made
def hypot(x1: Tensor, x2: Tensor, /) -> Tensor:
    a, b = abs(x1), abs(x2)
    large, small = maximum(a, b), minimum(a, b)
    ratio = small / where(large == 0, 1, large)
    made = large * sqrt(1 + ratio * ratio)
    return where(isinf(a) | isinf(b), math.inf, made)


@_made
def logaddexp(x1: Tensor, x2: Tensor, /) -> Tensor:
    made = maximum(x1, x2) + log1p(exp(-abs(x1 - x2)))
    return where(x1 == x2, x1 + math.log(2), made)


def abs(x: Any, /) -> Tensor:
    return create("abs", common(x))


absolute = abs


def negative(x: Any, /) -> Tensor:
    return create("neg", common(x))


def positive(x: Any, /) -> Tensor:
    return common(x)[0]


def sign(x: Any, /) -> Tensor:
    return create("sign", common(x))


def square(x: Any, /) -> Tensor:
    (value,) = common(x)
    return value * value


def reciprocal(x: Any, /) -> Tensor:
    return create("recip", [floating(x)])


def _rounding(name: str, operation: str) -> Callable[[Any], Tensor]:
    def function(x: Any, /) -> Tensor:
        (value,) = common(x)
        return create(operation, [value]) if value.element_type in FLOATS else value

    function.__name__ = function.__qualname__ = name
    return function


floor, ceil, round = _rounding("floor", "floor"), _rounding("ceil", "ceil"), _rounding("round", "round_even")


def trunc(x: Any, /) -> Tensor:
    (value,) = common(x)
    if value.element_type not in FLOATS:
        return value
    return where(value < 0, ceil(value), floor(value))


def isfinite(x: Any, /) -> Tensor:
    (value,) = common(x)
    return create("is_finite", [value]) if value.element_type in FLOATS else value == value


def isnan(x: Any, /) -> Tensor:
    (value,) = common(x)
    return value != value


def isinf(x: Any, /) -> Tensor:
    # The magnitude of an infinity of f8E5M2 is none: operations saturate.
    return logical_not(logical_or(isfinite(x), isnan(x)))


def signbit(x: Any, /) -> Tensor:
    (value,) = common(x)
    return (value < 0) | ((value == 0) & (1 / value < 0))


def copysign(x1: Any, x2: Any, /) -> Tensor:
    a, b = (floating(one) for one in common(x1, x2))
    return where(signbit(b), -abs(a), abs(a))


def nextafter(x1: Any, x2: Any, /) -> Tensor:
    """Of f32 and f64, of which there are integers with as many bits. Bits have no derivative."""
    start, end = (floating(one) for one in common(x1, x2))
    if start.element_type not in ("f32", "f64"):
        raise TracingError(f"nextafter needs f32 or f64, got {start}; there are no integers of as many bits")
    integers = "i32" if start.element_type == "f32" else "i64"
    # Integers count magnitudes, on both sides of zero.
    steps = where((start < end) == (start > 0), 1, -1)
    beside = (start.view(integers) + steps.astype(integers)).view(start.element_type)
    smallest = copysign(tensor(1).astype(integers).view(start.element_type), end)
    moved = where(start == 0, smallest, beside)
    return where(isnan(start) | isnan(end), start + end, where(start == end, end, moved))


def _two(name: str, operation: str) -> Callable[[Any, Any], Tensor]:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return create(operation, common(x1, x2))

    function.__name__ = function.__qualname__ = name
    return function


add, subtract, multiply = _two("add", "add"), _two("subtract", "sub"), _two("multiply", "mul")
maximum, minimum = _two("maximum", "max"), _two("minimum", "min")
bitwise_and, bitwise_or = _two("bitwise_and", "and"), _two("bitwise_or", "or")
bitwise_xor = _two("bitwise_xor", "xor")
bitwise_left_shift = _two("bitwise_left_shift", "shift_left")
bitwise_right_shift = _two("bitwise_right_shift", "shift_right")


def bitwise_invert(x: Any, /) -> Tensor:
    return create("not", [tensor(x)])


def truth(x: Any) -> Tensor:
    value = tensor(x)
    return value if value.element_type == "i1" else value != 0


def logical_and(x1: Any, x2: Any, /) -> Tensor:
    return create("and", [truth(x1), truth(x2)])


def logical_or(x1: Any, x2: Any, /) -> Tensor:
    return create("or", [truth(x1), truth(x2)])


def logical_xor(x1: Any, x2: Any, /) -> Tensor:
    return create("xor", [truth(x1), truth(x2)])


def logical_not(x: Any, /) -> Tensor:
    return create("not", [truth(x)])


equal, not_equal, less, less_equal, greater, greater_equal = (
    functools.partial(compare, predicate) for predicate in ("eq", "ne", "lt", "le", "gt", "ge")
)


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    return create("select", common_select(truth(condition), x1, x2))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    (value,) = common(x)
    if min is not None:
        value = maximum(value, min)
    return value if max is None else minimum(value, max)
