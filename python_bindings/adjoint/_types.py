# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Element types and types of tensors."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

import numpy as np

from ._errors import OptionError, OptionTypeError
from ._signature import DTYPES, format_type

#: The names of MLIR of NumPy's types.
ELEMENTS: dict[np.dtype[Any], str] = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
INTEGERS = ("i8", "i32", "i64")
_ALIASES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "bool": "i1",
    "int8": "i8",
    "int32": "i32",
    "int64": "i64",
}


def element_of(dtype: Any) -> str:
    """The name of an element type: of a NumPy type, or of a name of MLIR or NumPy."""
    if isinstance(dtype, str):
        name = _ALIASES.get(dtype, dtype)
        if name not in DTYPES:
            raise OptionError(f"unknown element type '{dtype}'; there are {', '.join(DTYPES)}")
        return name
    if dtype is float:
        return "f32"
    if dtype is int:
        return "i32"
    if dtype is bool:
        return "i1"
    try:
        return ELEMENTS[np.dtype(dtype)]
    except (KeyError, TypeError):
        raise OptionTypeError(f"no element type of Adjoint is {dtype!r}; there are {', '.join(DTYPES)}") from None


@dataclasses.dataclass(frozen=True)
class Spec:
    """The type of a tensor. A size is a number, or the name of a dynamic one: equal names are equal sizes."""

    shape: tuple[int | str, ...]
    element_type: str
    #: Of a Python number: what it meets decides its element type.
    is_weak: bool = False
    __adjoint_leaf__ = True

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self.element_type]

    def __str__(self) -> str:
        return format_type(self.element_type, tuple(size if isinstance(size, int) else None for size in self.shape))


@functools.cache
def spec(shape: str | tuple[int | str, ...] = "", dtype: Any = "f32") -> Spec:
    """The type of a tensor: spec("b 512", "bf16") has a dynamic first size, called b. `?` is a dynamic size of its
    own."""
    sizes = re.split(r"[\s,]+", shape.strip()) if isinstance(shape, str) and shape.strip() else (shape or ())
    read: list[int | str] = []
    for size in sizes:
        if isinstance(size, str) and re.fullmatch(r"\d+", size):
            size = int(size)
        if isinstance(size, str) and not (size == "?" or size.isidentifier()):
            raise OptionError(f"expected numbers and names of sizes, got '{size}' in '{shape}'")
        if isinstance(size, int) and size < 0:
            raise OptionError(f"expected sizes that are not negative, got {size}")
        read.append(size)
    return Spec(tuple(read), element_of(dtype))


#: From the narrowest to the widest; of two floats of one width the result is f32.
_WIDTH = {"i1": 0, "i8": 1, "i32": 2, "i64": 3, "f8E4M3FN": 4, "f8E5M2": 4, "f16": 5, "bf16": 5, "f32": 6, "f64": 7}


def promote(left: str, right: str) -> str:
    """The element type of an operation of two: the wider one; a float wins over an integer."""
    if left == right:
        return left
    if _WIDTH[left] == _WIDTH[right]:
        return "f32"
    return left if _WIDTH[left] > _WIDTH[right] else right
