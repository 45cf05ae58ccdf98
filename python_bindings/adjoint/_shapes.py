# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Axes and shapes of tensors."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._attributes import axes_text
from ._builder import current
from ._constants import settled, tensor
from ._emit import create
from ._errors import TracingError
from ._signature import format_type
from ._value import is_index, wrap

if TYPE_CHECKING:
    from ._tensor import Tensor


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Ascending axes of an argument `axis`: None is all of them."""
    return tuple(range(rank)) if axis is None else tuple(sorted(listed_axes(axis, rank)))


def listed_axes(axis: Any, rank: int, *, repeated: bool = False) -> list[int]:
    """The axes of an argument that names one or several, as it lists them. One may be `repeated`."""
    try:
        listed = [operator.index(one) for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    except TypeError:
        raise TracingError(f"expected an axis as an int, or axes as ints, got {axis!r}") from None
    for one in listed:
        if not -rank <= one < rank:
            raise TracingError(f"axis {one} is out of range for a tensor of rank {rank}")
    found = [one % rank for one in listed]
    if len(set(found)) != len(found) and not repeated:
        raise TracingError(f"axes {tuple(listed)} name one axis twice")
    return found


def shaped(name: str, value: Tensor, sizes: Sequence[Any], attributes: Sequence[tuple[str, str]] = ()) -> Tensor:
    """An operation whose result has these sizes; dynamic ones are its operands."""
    trace, value = current(), settled(value)
    dynamic = [trace.number(size) for size in sizes if is_index(size)]
    type = format_type(value.element_type, tuple(None if is_index(size) else int(size) for size in sizes))
    made: Tensor = wrap(trace.create(f"ad.{name}", [trace.number(value), *dynamic], attributes, [type])[0])
    return made


def _checked_sizes(shape: Sequence[Any], least: int = 0) -> list[Any]:
    try:
        sizes = [size if is_index(size) else operator.index(size) for size in shape]
    except TypeError:
        raise TracingError(f"expected a shape of ints and sizes, got {shape!r}") from None
    if any(not is_index(size) and size < least for size in sizes):
        raise TracingError(f"expected sizes that are not negative, got {tuple(shape)}")
    return sizes


def reshape(value: Tensor, shape: Sequence[Any]) -> Tensor:
    sizes = _checked_sizes(shape, -1)
    unknown = [axis for axis, size in enumerate(sizes) if not is_index(size) and size == -1]
    if len(unknown) > 1:
        raise TracingError(f"expected at most one size of -1, got {tuple(shape)}")
    if unknown:
        known = [size for axis, size in enumerate(sizes) if axis != unknown[0]]
        if any(is_index(size) for size in [*known, *value.shape]):
            sizes[unknown[0]] = value.size // functools.reduce(operator.mul, known, 1)
        else:
            count, rest = math.prod(value._static), math.prod(known)  # type: ignore[arg-type]
            if rest == 0 or count % rest:
                raise TracingError(f"a tensor of shape {value._static} cannot be reshaped to {tuple(shape)}")
            sizes[unknown[0]] = count // rest
    if not any(is_index(size) for size in sizes) and tuple(sizes) == value._static:
        return value
    return shaped("reshape", value, sizes)


def broadcast_to(value: Tensor, shape: Sequence[Any]) -> Tensor:
    sizes = _checked_sizes(shape)
    if not any(is_index(size) for size in sizes) and tuple(sizes) == value._static:
        return value
    return shaped("broadcast", value, sizes)


def permute(value: Tensor, axes: Sequence[int]) -> Tensor:
    order = [operator.index(axis) for axis in axes]
    if sorted(axis % max(value.ndim, 1) for axis in order) != list(range(value.ndim)) or len(order) != value.ndim:
        raise TracingError(f"expected a permutation of {value.ndim} axes, got {tuple(axes)}")
    order = [axis % value.ndim for axis in order]
    if order == list(range(value.ndim)):
        return value
    return create("transpose", [value], [("permutation", axes_text(order))])


def reduce(name: str, value: Tensor, axis: Any, keepdims: bool) -> Tensor:
    value, attributes = settled(value), [("axes", axes_text(axes_of(axis, value.ndim)))]
    if keepdims:
        attributes.append(("keepDims", "unit"))
    return create(name, [value], attributes)


def full(shape: Sequence[Any], value: Any, element: str) -> Tensor:
    return broadcast_to(tensor(value, element).astype(element), shape)


def zeros_like(value: Tensor) -> Tensor:
    return full(value.shape, 0, value.element_type)
