# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions that look elements up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .._arithmetic import common
from .._at import fill_of
from .._checks import choice
from .._constants import settled, tensor
from .._errors import TracingError
from .._lookup import index_of, index_tensor, resolved
from .._shapes import axes_of
from .._types import FLOATS
from .._value import is_index
from ._elements import isnan, logical_not, where
from ._making import zeros
from ._reductions import any, count_nonzero
from ._shapes import expand_dims

if TYPE_CHECKING:
    from .._tensor import Tensor

#: What an index outside of its axis means, by NumPy's and JAX's words, and by those of the operations.
_MODES = {"raise": None, "wrap": None, "clip": "clamp", "fill": "fill"}


def _index(indices: Any, axis: int, size: Any, mode: Any) -> Tensor:
    """Indices of an axis, as the operations take them."""
    choice("mode", mode, tuple(_MODES))
    entry = index_of(indices)
    if mode == "wrap":
        made: Tensor = index_tensor(entry) % size
        return made
    # As in NumPy, negative indices are outside for "clip".
    return index_tensor(entry if mode == "clip" else resolved(entry, axis, size, mode == "fill"))


def _fill(x: Tensor, mode: str, fill_value: Any) -> float | None:
    return fill_of(x, fill_value) if mode == "fill" else None


def take(x: Any, indices: Any, /, axis: int | None = None, *, mode: str = "raise", fill_value: Any = None) -> Tensor:
    """Parts of a tensor along an axis; without one, elements of the tensor as a row. An index outside is an error of the
    run; with the mode "clip" it is the nearest one, with "wrap" it begins again, and with "fill" it gives `fill_value`:
    by default NaN, the least integer or True."""
    value = settled(tensor(x))
    if axis is None:
        value, axis = value.flatten(), 0
    (place,) = axes_of(axis, value.ndim)
    index = _index(indices, place, value.shape[place], mode)
    return ops.take(value, index, axis=place, outside=_MODES[mode], fill=_fill(value, mode, fill_value))  # type: ignore[arg-type]


def take_along_axis(
    x: Any, indices: Any, /, axis: int | None = -1, *, mode: str = "raise", fill_value: Any = None
) -> Tensor:
    """Elements at indices along an axis, in each row the own ones: those of argmax with an axis of size 1, for example.
    Other axes of size 1 broadcast. `mode` is that of take."""
    value = settled(tensor(x))
    if axis is None:
        value, axis = value.flatten(), 0
    (place,) = axes_of(axis, value.ndim)
    index = _index(indices, place, value.shape[place], mode)
    if index.ndim != value.ndim:
        raise TracingError(f"take_along_axis takes indices of the rank of the tensor, got {index} for {value}")
    pairs = [*zip(value._static, index._static)]
    # Where the tensor has size 1 and the indices have more, its axis goes; where the indices do, it is a slice.
    ones = [axis for axis, (size, other) in enumerate(pairs) if axis != place and size == 1 and other != 1]
    slices = [axis for axis, (size, other) in enumerate(pairs) if axis != place and other == 1 and size != 1]
    of_value = [axis for axis in range(value.ndim) if axis not in ones]
    of_index = [axis for axis in range(value.ndim) if axis not in slices]
    batch = [axis for axis in of_value if axis in of_index and axis != place]
    return ops.gather(
        value.squeeze(tuple(ones)),
        [index.squeeze(tuple(slices))],
        axes=[of_value.index(place)],
        batch=[of_value.index(axis) for axis in batch],
        index_batch=[of_index.index(axis) for axis in batch],
        slices=slices,
        outside=_MODES[mode],  # type: ignore[arg-type]
        fill=_fill(value, mode, fill_value),
    )


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """Which elements of the first tensor are in the second one. Each is compared with each."""
    elements, others = map(settled, common(x1, x2))
    found = any(expand_dims(elements, axis=-1) == others.flatten(), axis=-1)
    return logical_not(found) if invert else found


def _less(left: Tensor, right: Tensor) -> Tensor:
    """The order of sorting: NaN comes last."""
    if left.element_type not in FLOATS:
        return left < right
    return (left < right) | (isnan(right) & logical_not(isnan(left)))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """How many elements of a sorted row come before each element: without those equal to it, or, for side="right", with
    them. `sorter` has the order of a row that is not sorted."""
    choice("side", side, ("left", "right"))
    row, values = map(settled, common(x1, x2))
    if row.ndim != 1:
        raise TracingError(f"searchsorted takes a row, a tensor of rank 1, got {row}")
    row = row if sorter is None else take(row, sorter, axis=0)

    def is_before(elements: Tensor, value: Tensor) -> Tensor:
        return _less(elements, value) if side == "left" else logical_not(_less(value, elements))

    size = row.shape[0]
    if is_index(size):
        return count_nonzero(is_before(row, expand_dims(values, axis=-1)), axis=-1)
    place, step = zeros(values.shape, dtype="i64"), (1 << size.bit_length()) // 2
    while step:
        further = place + step
        element = ops.take(row, further - 1, axis=0, outside="clamp")
        place = where((further <= size) & is_before(element, values), further, place)
        step //= 2
    return place
