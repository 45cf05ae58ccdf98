# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Makes tensors."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ops, tree
from .._checks import choice, whole
from .._constants import settled, tensor
from .._errors import TracingError
from .._shapes import broadcast_to, reshape
from .._types import NARROW, element_of
from .._value import Value, is_index
from ._elements import where
from ._shapes import broadcast_shapes, expand_dims, stack

if TYPE_CHECKING:
    from .._tensor import Tensor


def _array_of(rows: Any) -> np.ndarray:
    try:
        return np.asarray(rows)
    except ValueError as error:
        raise TracingError(f"a list of lists is a tensor if all rows have one length; NumPy says: {error}") from None


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Tensor:
    """A tensor of a value; a list of tensors is stacked."""
    if isinstance(obj, (list, tuple)) and any(isinstance(leaf, Value) for leaf in tree.leaves(obj)):
        parts = [asarray(leaf) for leaf in obj]
        made = stack(parts)
        # Traced numbers are floats of Python as those of a list are.
        is_narrowed = made.element_type == "f64" and builtins.all(part.is_weak for part in parts)
    else:
        made = tensor(_array_of(obj) if isinstance(obj, (list, tuple)) else obj)
        is_narrowed = made.element_type == "f64" and isinstance(obj, (list, tuple))
    made = made.astype("f32") if is_narrowed else settled(made)
    return made if dtype is None else made.astype(dtype)


array = asarray


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    sizes = (shape,) if isinstance(shape, int) or is_index(shape) else tuple(shape)
    value = tensor(fill_value, None if dtype is None else element_of(dtype))
    return broadcast_to(settled(value) if dtype is None else value.astype(dtype), sizes)


def zeros(shape: Any, *, dtype: Any = "f32", device: Any = None) -> Tensor:
    return full(shape, 0, dtype=dtype or "f32")


def ones(shape: Any, *, dtype: Any = "f32", device: Any = None) -> Tensor:
    return full(shape, 1, dtype=dtype or "f32")


empty = zeros


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    x = tensor(x)
    return full(x.shape, fill_value, dtype=dtype or x.element_type)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    return full_like(x, 0, dtype=dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    return full_like(x, 1, dtype=dtype)


empty_like = zeros_like


def _iota(size: Any, element: str) -> Tensor:
    if is_index(size):
        return ops.iota([size], axis=0, type=f"tensor<?x{element}>")
    return ops.iota(axis=0, type=f"tensor<{size}x{element}>")


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Tensor:
    if stop is None:
        start, stop = 0, start
    if not is_index(step) and step == 0:
        raise TracingError("the step of a range is not 0")
    is_float = any(isinstance(value, float) for value in (start, stop, step))
    element = element_of(dtype) if dtype is not None else "f32" if is_float else "i32"
    if is_index(start) or is_index(stop):
        if not isinstance(step, int) or step < 1 or is_float:
            raise TracingError("a range of dynamic size has integers and a positive step")
        size: Any = ((stop - start + (step - 1)) // step).at_least(0)
    else:
        size = max(0, math.ceil((stop - start) / step))
    if element in NARROW:  # rounded once
        made: Tensor = _iota(size, "f32") * step + start
        return made.astype(element)
    numbers = _iota(size, element)
    return numbers if (start, step) == (0, 1) else numbers * step + start


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    element, num = element_of(dtype) if dtype is not None else "f32", whole("num", num, 0)
    numbers = tensor(np.linspace(start, stop, num, endpoint=endpoint))
    return numbers.astype(element)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = "f32",
    device: Any = None,
) -> Tensor:
    n_rows, n_cols = whole("n_rows", n_rows, 0), whole("n_cols", n_rows if n_cols is None else n_cols, 0)
    rows = expand_dims(_iota(n_rows, "i32"), axis=1)
    columns = _iota(n_cols, "i32")
    return (columns - rows == k).astype(dtype or "f32")


def _triangle(x: Any, k: int, is_lower: bool) -> Tensor:
    x = tensor(x)
    if x.ndim < 2:
        raise TracingError(f"expected a tensor of rank 2 or more, got {x}")
    distance = _iota(x.shape[-1], "i32") - expand_dims(_iota(x.shape[-2], "i32"), axis=1)
    return where(distance <= k if is_lower else distance >= k, x, full((), 0, dtype=x.element_type))


def tril(x: Any, /, k: int = 0) -> Tensor:
    return _triangle(x, k, True)


def triu(x: Any, /, k: int = 0) -> Tensor:
    return _triangle(x, k, False)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Tensor]:
    choice("indexing", indexing, ("xy", "ij"))
    rank = len(arrays)
    made = []
    for axis, values in enumerate(map(tensor, arrays)):
        if values.ndim != 1:
            raise TracingError(f"meshgrid takes tensors of rank 1, got {values}")
        place = 1 - axis if indexing == "xy" and axis < 2 and rank > 1 else axis
        made.append(reshape(values, [values.shape[0] if other == place else 1 for other in range(rank)]))
    sizes = broadcast_shapes(*(one.shape for one in made))
    return [broadcast_to(one, sizes) for one in made]
