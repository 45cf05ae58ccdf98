# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _products
from .._arithmetic import common
from .._shapes import listed_axes
from ._reductions import sum
from ._shapes import expand_dims

if TYPE_CHECKING:
    from .._tensor import Tensor


def vecdot(x1: Any, x2: Any, /, axis: int = -1) -> Tensor:
    a, b = common(x1, x2)
    return sum(a * b, axis=axis, dtype=a.element_type)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    a, b = common(x1, x2)
    if isinstance(axes, int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = axes
    left, right = listed_axes(left, a.ndim), listed_axes(right, b.ndim)
    return _products.dot(a, b, ((), ()), (left, right))


def dot(x1: Any, x2: Any, /) -> Tensor:
    """NumPy's dot: a product of matrices or vectors, or with a number."""
    a, b = common(x1, x2)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return _products.dot(a, b, ((), ()), ((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def outer(x1: Any, x2: Any, /) -> Tensor:
    a, b = common(x1, x2)
    return expand_dims(a.flatten(), axis=1) * b.flatten()
