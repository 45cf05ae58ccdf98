# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions that change shapes and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _shapes, ops
from .._arithmetic import common
from .._attributes import axes_text
from .._checks import whole
from .._constants import settled, tensor
from .._emit import create
from .._errors import TracingError
from .._shapes import axes_of, listed_axes, permute
from .._signature import format_type
from .._value import is_index, is_tensor

if TYPE_CHECKING:
    from .._tensor import Tensor


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Tensor:
    x = tensor(x)
    return _shapes.reshape(x, (shape,) if isinstance(shape, int) or is_index(shape) else shape)


def broadcast_to(x: Any, /, shape: Any) -> Tensor:
    return _shapes.broadcast_to(tensor(x), tuple(shape))


def broadcast_shapes(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    rank = max(map(len, shapes), default=0)
    made = []
    for axis in range(-rank, 0):
        sizes = [shape[axis] for shape in shapes if -axis <= len(shape)]
        large = [size for size in sizes if is_index(size) or size != 1]
        if any(
            isinstance(one, int) and one != large[0]
            for one in large
            if isinstance(large[0], int)
        ):
            raise TracingError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
        made.append(large[0] if large else 1)
    return tuple(made)


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    made = list(map(tensor, arrays))
    sizes = broadcast_shapes(*(one.shape for one in made))
    return [_shapes.broadcast_to(one, sizes) for one in made]


def expand_dims(x: Any, /, axis: Any = 0) -> Tensor:
    x = tensor(x)
    new = [axis] if isinstance(axis, int) else list(axis)
    rank = x.ndim + len(new)
    for one in new:
        if not -rank <= one < rank:
            raise TracingError(f"axis {one} is out of range for a tensor of rank {rank}")
    places = {one % rank for one in new}
    sizes = iter(x.shape)
    return _shapes.reshape(x, [1 if place in places else next(sizes) for place in range(rank)])


def squeeze(x: Any, /, axis: Any) -> Tensor:
    return tensor(x).squeeze(axis)


def permute_dims(x: Any, /, axes: Sequence[int]) -> Tensor:
    x = tensor(x)
    return permute(x, axes)


def transpose(x: Any, axes: Sequence[int] | None = None) -> Tensor:
    x = tensor(x)
    return permute(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


def matrix_transpose(x: Any, /) -> Tensor:
    return tensor(x).mT


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    x = tensor(x)
    order = list(range(x.ndim))
    first, second = listed_axes((axis1, axis2), x.ndim, repeated=True)
    order[first], order[second] = second, first
    return permute(x, order)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Tensor:
    x = tensor(x)
    sources, destinations = (listed_axes(some, x.ndim) for some in (source, destination))
    if len(sources) != len(destinations):
        raise TracingError(f"moveaxis takes as many destinations as axes, got {source} and {destination}")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources)):
        order.insert(place, axis)
    return permute(x, order)


def _some(name: str, arrays: Any) -> Any:
    """The arrays, of which there is one at least: a list or tuple, or a tensor along its first axis."""
    if isinstance(arrays, (str, bytes)) or not hasattr(arrays, "__iter__"):
        raise TracingError(f"{name} takes a list of tensors, got {arrays!r}")
    made = list(arrays)
    if not made:
        raise TracingError(f"{name} needs one tensor at least: of an empty list the type and the shape are not known")
    return made


def concat(arrays: Sequence[Tensor], /, axis: int | None = 0) -> Tensor:
    values = common(*_some("concat", arrays))
    if axis is None:
        values, axis = [value.flatten() for value in values], 0
    (place,) = axes_of(axis, values[0].ndim)
    return create("concat", values, [("axis", f"{place} : i64")])


concatenate = concat


def stack(arrays: Sequence[Tensor], /, axis: int = 0) -> Tensor:
    return concat([expand_dims(value, axis=axis) for value in common(*_some("stack", arrays))], axis=axis)


def unstack(x: Any, /, axis: int = 0) -> tuple[Tensor, ...]:
    x = tensor(x)
    return tuple(moveaxis(x, axis, 0))


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    x = tensor(x)
    (place,) = axes_of(axis, x.ndim)
    if is_index(x.shape[place]):
        raise TracingError(f"axis {place} of {x} has a dynamic size; take its parts by slices")
    if isinstance(indices_or_sections, int):
        whole("indices_or_sections", indices_or_sections)
        size, rest = divmod(x.shape[place], indices_or_sections)
        if rest:
            raise TracingError(f"axis {place} of {x} does not divide into {indices_or_sections} parts")
        bounds = list(range(0, x.shape[place] + 1, size))
    else:
        bounds = [0, *indices_or_sections, x.shape[place]]
    return [x[(*[slice(None)] * place, slice(begin, end))] for begin, end in zip(bounds, bounds[1:])]


def flip(x: Any, /, axis: Any = None) -> Tensor:
    x = tensor(x)
    return create("reverse", [x], [("axes", axes_text(axes_of(axis, x.ndim)))])


def _cut(amount: Any, size: Any) -> Any:
    """Which element of an axis comes first after a roll."""
    if is_index(size):
        return (size * 0 - amount) % size.at_least(1)
    return (-amount) % size if size else 0


def roll(x: Any, /, shift: Any, axis: Any = None) -> Tensor:
    made = tensor(x)
    if axis is None:
        return _shapes.reshape(roll(made.flatten(), shift, axis=0), made.shape)
    if is_tensor(shift):
        raise TracingError(f"expected the shift of roll as ints, sizes or indices of loops, got {shift}")
    places = listed_axes(axis, made.ndim, repeated=True)
    amounts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    count = max(len(amounts), len(places))
    amounts, places = (some * count if len(some) == 1 else some for some in (amounts, places))
    if len(amounts) != len(places):
        raise TracingError(f"roll takes as many shifts as axes, or one for all, got {shift} and {axis}")
    for amount, place in zip(amounts, places):
        size = made.shape[place]
        cut = _cut(amount, size)
        if is_index(cut) or cut:
            whole = [slice(None)] * place
            made = concat([made[(*whole, slice(cut, None))], made[(*whole, slice(0, cut))]], axis=place)
    return made


def tile(x: Any, repetitions: Any, /) -> Tensor:
    x = tensor(x)
    counts = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    rank = max(x.ndim, len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    sizes = (1,) * (rank - x.ndim) + x.shape
    x = _shapes.reshape(x, [part for size in sizes for part in (1, size)])
    x = _shapes.broadcast_to(x, [part for count, size in zip(counts, sizes) for part in (count, size)])
    return _shapes.reshape(x, [count * size for count, size in zip(counts, sizes)])


def repeat(x: Any, repeats: Any, /, axis: int | None = None) -> Tensor:
    """Each part along an axis several times: `repeats` is a number, or a known array with a number for each."""
    x = tensor(x)
    if axis is None:
        x, axis = x.flatten(), 0
    (place,) = axes_of(axis, x.ndim)
    if not isinstance(repeats, int):
        return _repeat_each(x, repeats, place)
    whole("repeats", repeats, 0)
    sizes = list(x.shape)
    x = _shapes.broadcast_to(expand_dims(x, axis=place + 1), [*sizes[: place + 1], repeats, *sizes[place + 1 :]])
    return _shapes.reshape(x, [*sizes[:place], sizes[place] * repeats, *sizes[place + 1 :]])


def _repeat_each(x: Tensor, repeats: Any, axis: int) -> Tensor:
    size = x.shape[axis]
    if is_tensor(repeats) or is_index(repeats) or is_index(size):
        raise TracingError("repeat with traced numbers, or of a dynamic size, has a shape that is not known")
    try:
        rows = np.repeat(np.arange(size), repeats)
    except (TypeError, ValueError):
        raise TracingError(f"expected repeats as an int, or as {size} that are not negative, got {repeats!r}") from None
    return ops.take(settled(x), tensor(rows), axis=axis)


def pad(x: Any, pad_width: Any, constant_values: Any = 0) -> Tensor:
    x = tensor(x)
    widths = [(pad_width, pad_width)] * x.ndim if isinstance(pad_width, int) else list(pad_width)
    low, high = zip(*widths) if widths else ((), ())
    return create(
        "pad",
        [x, tensor(constant_values, x.element_type).astype(x.element_type)],
        [("low", axes_text(low)), ("high", axes_text(high)), ("interior", axes_text([0] * x.ndim))],
    )


def dynamic_slice(x: Any, offsets: Sequence[Any], sizes: Sequence[int]) -> Tensor:
    """The part of these sizes at traced offsets."""
    x = tensor(x)
    return ops.dynamic_slice(x, offsets, type=format_type(x.element_type, tuple(sizes)))


def dynamic_update_slice(x: Any, update: Any, offsets: Sequence[Any]) -> Tensor:
    """The tensor with a part at traced offsets replaced."""
    x = tensor(x)
    return ops.dynamic_update_slice(x, update, offsets)
