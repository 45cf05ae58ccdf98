# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reductions and running sums."""

from __future__ import annotations

import functools
import operator
from math import nan
from typing import TYPE_CHECKING, Any

from .._arithmetic import floating, in_wide
from .._checks import whole
from .._constants import tensor
from .._emit import create
from .._errors import TracingError
from .._shapes import axes_of, reduce, reshape
from .._value import is_index, is_tensor
from ._elements import sqrt, truth, where
from ._shapes import concat, expand_dims, pad

if TYPE_CHECKING:
    from .._tensor import Tensor


def _accumulated(x: Tensor, dtype: Any) -> Tensor:
    if dtype is not None:
        return x.astype(dtype)
    return x.astype("i64") if x.element_type in ("i1", "i8", "i32") else x


def sum(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    return reduce("reduce_sum", _accumulated(tensor(x), dtype), axis, keepdims)


def prod(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    return reduce("reduce_prod", _accumulated(tensor(x), dtype), axis, keepdims)


def _require_elements(name: str, x: Tensor, axis: Any) -> None:
    """Of an axis without elements there is no largest one, as in NumPy."""
    empty = [one for one in axes_of(axis, x.ndim) if x._static[one] == 0]
    if empty:
        raise TracingError(f"{name} of no elements has no value: axis {empty[0]} of {x} has the size 0")


def max(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    value = tensor(x)
    _require_elements("max", value, axis)
    return (
        any(value, axis=axis, keepdims=keepdims)
        if value.element_type == "i1"
        else reduce("reduce_max", value, axis, keepdims)
    )


def min(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    value = tensor(x)
    _require_elements("min", value, axis)
    return (
        all(value, axis=axis, keepdims=keepdims)
        if value.element_type == "i1"
        else reduce("reduce_min", value, axis, keepdims)
    )


def mean(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduce("reduce_mean", floating(x), axis, keepdims)


def _count(x: Tensor, axis: Any) -> Any:
    return functools.reduce(operator.mul, [x.shape[one] for one in axes_of(axis, x.ndim)], 1)


def _variance(x: Tensor, axis: Any, correction: float, keepdims: bool) -> Tensor:
    distance = x - mean(x, axis=axis, keepdims=True)
    squares = sum(distance * distance, axis=axis, keepdims=keepdims)
    count = _count(x, axis)
    less = count.astype(x.element_type) - correction if is_index(count) else count - correction
    # Without degrees of freedom there is no variance, as the array API standard has it.
    less = where(less > 0, less, nan) if is_tensor(less) else less if less > 0 else nan
    made: Tensor = squares / less
    return made


def var(x: Any, /, axis: Any = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
    return in_wide(lambda value: _variance(value, axis, correction, keepdims), x)


def std(x: Any, /, axis: Any = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
    return in_wide(lambda value: sqrt(_variance(value, axis, correction, keepdims)), x)


def all(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduce("reduce_min", truth(x).astype("i8"), axis, keepdims).astype("i1")


def any(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduce("reduce_max", truth(x).astype("i8"), axis, keepdims) > 0


def count_nonzero(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tensor:
    return reduce("reduce_sum", truth(x).astype("i64"), axis, keepdims)


def _arg(name: str, x: Any, axis: int | None, keepdims: bool) -> Tensor:
    value = tensor(x)
    _require_elements(name, value, axis)
    if axis is None:
        made = create(name, [value.flatten()], [("axis", "0 : i64")])
        return reshape(made, [1] * value.ndim) if keepdims else made
    (place,) = axes_of(axis, value.ndim)
    made = create(name, [value], [("axis", f"{place} : i64")])
    return expand_dims(made, axis=place) if keepdims else made


def argmax(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return _arg("argmax", x, axis, keepdims)


def argmin(x: Any, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    return _arg("argmin", x, axis, keepdims)


def _cumulative(name: str, x: Any, axis: int | None, dtype: Any, initial: int | None) -> Tensor:
    """The running reduction ad.`name`, after `initial` unless it is None."""
    value = _accumulated(tensor(x), dtype)
    if axis is None:
        if value.ndim != 1:
            raise TracingError(f"{name.replace('cum', 'cumulative_')} needs an axis for {value}")
        axis = 0
    (place,) = axes_of(axis, value.ndim)
    made = create(name, [value], [("axis", f"{place} : i64")])
    if initial is not None:
        widths = [(1, 0) if one == place else (0, 0) for one in range(value.ndim)]
        made = pad(made, widths, constant_values=initial)
    return made


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    return _cumulative("cumsum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    return _cumulative("cumprod", x, axis, dtype, 1 if include_initial else None)


cumsum = cumulative_sum
cumprod = cumulative_prod


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    value, times = tensor(x), whole("n", n, 0)
    parts = [one for one in (prepend, value, append) if one is not None]
    value = concat(parts, axis=axis) if len(parts) > 1 else value
    (place,) = axes_of(axis, value.ndim)
    before = [slice(None)] * place
    for _ in range(times):
        later, earlier = value[(*before, slice(1, None))], value[(*before, slice(0, -1))]
        value = (later != earlier) if value.element_type == "i1" else later - earlier
    return value
