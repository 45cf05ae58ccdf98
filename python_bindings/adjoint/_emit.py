# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Appends operations of the `ad` dialect to the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._attributes import TypeLike, attribute_text, type_text
from ._builder import current
from ._constants import number_of_index, settled, tensor
from ._types import FLOATS
from ._value import is_tensor, wrap

if TYPE_CHECKING:
    from ._index import Index
    from ._tensor import Tensor

Operand = Union["Tensor", "Index", np.ndarray, np.generic, bool, int, float]


def emit(
    name: str,
    operands: Sequence[Sequence[Any]],
    attributes: Sequence[tuple[str, str, Any]],
    *,
    type: TypeLike | None = None,
    segmented: bool = False,
    indices: int = 0,
) -> tuple[Tensor, ...]:
    """Appends an operation. `operands` are groups, the last `indices` of which are sizes or offsets; with `segmented`
    their lengths are an attribute."""
    trace = current()
    first = len(operands) - indices
    given = [value for group in operands[:first] for value in group if is_tensor(value)]
    element = next((value.element_type for value in given if not value.is_weak), None)
    if element is None and given:
        element = settled(given[0]).element_type
    numbers: list[int] = []
    for position, group in enumerate(operands):
        for value in group:
            if position >= first:
                numbers.append(number_of_index(value))
            else:
                numbers.append(trace.number(_operand(value, element)))
    texts = [
        (key, attribute_text(writer, value))
        for key, writer, value in attributes
        if value is not None and value is not False
    ]
    if segmented:
        texts.append(("operandSegmentSizes", f"array<i32: {', '.join(str(len(group)) for group in operands)}>"))
    types = [] if type is None else [type_text(type)]
    return tuple(map(wrap, trace.create(name, numbers, texts, types)))


def _operand(value: Any, element: str | None) -> Tensor:
    """Numbers, and what is made of them alone, are of the element type of what is beside them."""
    made = tensor(value, element)
    if not made.is_weak or element is None:
        return made
    return made.astype(element) if element in FLOATS or made.element_type not in FLOATS else settled(made)


def create(
    name: str, operands: Sequence[Tensor], attributes: Sequence[tuple[str, str]] = (), types: Sequence[str] = ()
) -> Tensor:
    trace = current()
    made: Tensor = wrap(trace.create(f"ad.{name}", [trace.number(one) for one in operands], attributes, types)[0])
    numbers = [one for one in operands if one.element_type != "i1"] or operands
    made.is_weak = bool(numbers) and all(one.is_weak for one in numbers)
    return made


def unary(name: str, value: Any) -> Tensor:
    return create(name, [tensor(value)])
