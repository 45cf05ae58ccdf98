# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of elements."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._arithmetic import common, common_select, compare, floating
from .._constants import tensor
from .._emit import create
from .._shapes import full
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


def log10(x: Any, /) -> Tensor:
    return log2(x) * math.log10(2)


def sinh(x: Any, /) -> Tensor:
    # (e + e / (e + 1)) / 2 with e = exp(x) - 1 keeps small values; large ones halve before they overflow.
    value = floating(x)
    small = expm1(value)
    half = exp(value - math.log(2))
    return where(abs(value) < 1, (small + small / (small + 1)) * 0.5, half - exp(-value - math.log(2)))


def cosh(x: Any, /) -> Tensor:
    value = abs(floating(x))
    return exp(value - math.log(2)) + exp(-value - math.log(2))


# Above it, a square plus 1 is the square, and the square of a square is still a number.
_LARGE = {"f32": 1e6, "f64": 1e9}


def _in_wide(function: Callable[[Tensor], Tensor], x: Any) -> Tensor:
    """The function in f32 for narrow floats, whose squares overflow."""
    value = floating(x)
    return function(value.astype("f32") if value.element_type != "f64" else value).astype(value.element_type)


def asinh(x: Any, /) -> Tensor:
    def function(value: Tensor) -> Tensor:
        side = where(value < 0, -1, 1)  # unlike those of abs and copysign, the slope at 0 is right
        magnitude = value * side
        is_large = magnitude > _LARGE[value.element_type]
        # What is not taken has numbers of its own, since slopes that are infinite would make NaN of zeros.
        near, far = where(is_large, 1, magnitude), where(is_large, magnitude, 2)
        square = near * near
        small = log1p(near + square / (1 + sqrt(square + 1)))
        made = where(is_large, log(far) + math.log(2), small) * side
        return where(value == 0, value, made)

    return _in_wide(function, x)


def acosh(x: Any, /) -> Tensor:
    def function(value: Tensor) -> Tensor:
        is_large = value > _LARGE[value.element_type]
        near, far = where(is_large, 2, value), where(is_large, value, 2)
        less = near - 1
        # The root of each factor is NaN below 1.
        return where(is_large, log(far) + math.log(2), log1p(less + sqrt(less) * sqrt(near + 1)))

    return _in_wide(function, x)


def atanh(x: Any, /) -> Tensor:
    value = floating(x)
    return (log1p(value) - log1p(-value)) * 0.5


def atan2(x1: Any, x2: Any, /) -> Tensor:
    a, b = common(x1, x2)
    return create("atan2", [floating(a), floating(b)])


def atan(x: Any, /) -> Tensor:
    value = floating(x)
    return atan2(value, full(value.shape, 1, value.element_type))


def asin(x: Any, /) -> Tensor:
    value = floating(x)
    return atan2(value, sqrt((1 - value) * (1 + value)))


def acos(x: Any, /) -> Tensor:
    value = floating(x)
    return atan2(sqrt((1 - value) * (1 + value)), value)


def hypot(x1: Any, x2: Any, /) -> Tensor:
    a, b = (abs(floating(one)) for one in common(x1, x2))
    large, small = maximum(a, b), minimum(a, b)
    ratio = small / where(large == 0, 1, large)
    made = large * sqrt(1 + ratio * ratio)
    return where(isinf(a) | isinf(b), math.inf, made)


def logaddexp(x1: Any, x2: Any, /) -> Tensor:
    a, b = (floating(one) for one in common(x1, x2))
    large = maximum(a, b)
    made = large + log1p(exp(-abs(a - b)))
    return where(a == b, a + math.log(2), made)


def abs(x: Any, /) -> Tensor:
    return create("abs", [tensor(x)])


absolute = abs


def negative(x: Any, /) -> Tensor:
    return create("neg", [tensor(x)])


def positive(x: Any, /) -> Tensor:
    return tensor(x)


def sign(x: Any, /) -> Tensor:
    return create("sign", [tensor(x)])


def square(x: Any, /) -> Tensor:
    value = tensor(x)
    return value * value


def reciprocal(x: Any, /) -> Tensor:
    return create("recip", [floating(x)])


def _rounding(name: str, operation: str) -> Callable[[Any], Tensor]:
    def function(x: Any, /) -> Tensor:
        value = tensor(x)
        return create(operation, [value]) if value.element_type in FLOATS else value

    function.__name__ = function.__qualname__ = name
    return function


floor, ceil, round = _rounding("floor", "floor"), _rounding("ceil", "ceil"), _rounding("round", "round_even")


def trunc(x: Any, /) -> Tensor:
    value = tensor(x)
    if value.element_type not in FLOATS:
        return value
    return where(value < 0, ceil(value), floor(value))


def isfinite(x: Any, /) -> Tensor:
    value = tensor(x)
    return create("is_finite", [value]) if value.element_type in FLOATS else value == value


def isnan(x: Any, /) -> Tensor:
    value = tensor(x)
    return value != value


def isinf(x: Any, /) -> Tensor:
    value = tensor(x)
    return (abs(value) == math.inf) if value.element_type in FLOATS else value != value


def signbit(x: Any, /) -> Tensor:
    value = tensor(x)
    return (value < 0) | ((value == 0) & (1 / value < 0))


def copysign(x1: Any, x2: Any, /) -> Tensor:
    a, b = (floating(one) for one in common(x1, x2))
    return where(signbit(b), -abs(a), abs(a))


def _two(name: str, operation: str) -> Callable[[Any, Any], Tensor]:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return create(operation, common(x1, x2))

    function.__name__ = function.__qualname__ = name
    return function


add, subtract, multiply = _two("add", "add"), _two("subtract", "sub"), _two("multiply", "mul")
maximum, minimum = _two("maximum", "max"), _two("minimum", "min")
bitwise_and, bitwise_or = _two("bitwise_and", "and"), _two("bitwise_or", "or")
bitwise_xor = _two("bitwise_xor", "xor")


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
    value = tensor(x)
    if min is not None:
        value = maximum(value, min)
    return value if max is None else minimum(value, max)
