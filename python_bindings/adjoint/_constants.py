# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Numbers and arrays of Python as values of a program."""

from __future__ import annotations

import functools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ._attributes import elements_text
from ._builder import current
from ._errors import TracingError
from ._signature import DTYPES
from ._types import element_of
from ._value import is_index, is_tensor, wrap

if TYPE_CHECKING:
    from ._index import Index
    from ._tensor import Tensor


def number_kind(value: Any) -> type | None:
    """bool, int or float of a Python number; None of a NumPy scalar, which has a type of its own. NumPy's float64 is a
    float of Python, such as np.sqrt(2)."""
    if isinstance(value, np.generic) and not isinstance(value, float):
        return None
    return next((kind for kind in (bool, int, float) if isinstance(value, kind)), None)


@functools.lru_cache(maxsize=4096)
def _scalar_text(element: str, text: str) -> str:
    """By the text of the number, since -0.0 equals 0.0."""
    value = {"True": True, "False": False}.get(text)
    number = value if value is not None else float(text) if "." in text or "n" in text or "e" in text else int(text)
    if DTYPES[element].type is np.void:
        return _narrow_text(element, float(number))
    dtype = DTYPES[element]
    # NumPy before 2.0 cuts numbers that the type does not have.
    if dtype.kind == "i" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        raise TracingError(f"{text} is no number of type {element}; convert the tensor beside it with .astype")
    return elements_text(np.asarray(number, dtype))


# The bits of infinity, its negative and NaN; what has no infinity has NaN.
_SPECIAL = {"bf16": ("0x7F80", "0xFF80", "0x7FC0"), "f8E5M2": ("0x7C", "0xFC", "0x7E"), "f8E4M3FN": ("0x7F", "0xFF", "0x7F")}


def _narrow_text(element: str, number: float) -> str:
    """A number of a type that NumPy does not have without ml_dtypes: the compiler rounds it."""
    infinity, negative, nan = _SPECIAL[element]
    text = repr(number) if math.isfinite(number) else nan if number != number else infinity if number > 0 else negative
    return f"dense<{text}> : tensor<{element}>"


def constant(value: Any, element: str | None = None) -> Tensor:
    """The constant tensor of a number or an array; a number is of the element type `element`."""
    kind = number_kind(value)
    if kind:
        element = element or {bool: "i1", int: "i32", float: "f32"}[kind]
        text = _scalar_text(element, repr(kind(value)))
    else:
        array = np.asarray(value)
        if array.dtype.kind in "OSU":
            raise TracingError(f"expected a tensor, an array or a number, got {value!r}")
        element_of(array.dtype)  # which says what to convert it to
        text = elements_text(array)
    made: Tensor = wrap(current().create("ad.constant", (), [("value", text)])[0])
    return made


def tensor(value: Any, element: str | None = None) -> Tensor:
    """A traced tensor of a value: a number is of the element type that is given."""
    if is_tensor(value):
        return value
    if is_index(value):
        return value.astype(element or "i32")
    return constant(value, element)


def settled(value: Tensor) -> Tensor:
    """A tensor of an element type of its own: what is made of numbers and sizes alone is f32 or i32, as a number is, where
    it meets no tensor."""
    if not value.is_weak:
        return value
    return value.astype({"f64": "f32", "i64": "i32"}.get(value.element_type, value.element_type))


def number_of_index(value: Any) -> int:
    """The number of a value of type index: of a size, an integer, or a traced integer of rank 0."""
    trace = current()
    if is_index(value):
        return trace.number(value)
    if is_tensor(value):
        if value.shape or value.element_type not in ("i8", "i32", "i64"):
            raise TracingError(f"expected an integer of rank 0 as an index, got {value}")
        (scalar,) = trace.create("tensor.extract", [trace.number(value)])
        return trace.create("arith.index_cast", [scalar], types=["index"])[0]
    try:
        number = operator.index(value)
    except TypeError:
        raise TracingError(f"expected an integer as an index, a size or a bound, got {value!r}") from None
    return trace.create("arith.constant", (), [("value", f"{number} : index")])[0]


def constant_index(value: int) -> Index:
    """The traced value of a number."""
    made: Index = wrap(number_of_index(value))
    made.is_natural = value >= 0
    return made
