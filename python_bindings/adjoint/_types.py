# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Element types and types of tensors."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import OptionError, OptionTypeError
from ._signature import DTYPES, format_type

#: The names of MLIR of NumPy's types.
ELEMENTS: dict[np.dtype[Any], str] = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = ("f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2")
#: Floats of 16 and 8 bits.
NARROW = FLOATS[2:]
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
            raise OptionError(f"unknown element type '{dtype}'; there are {', '.join(DTYPES)}{_instead_of(dtype)}")
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
        raise OptionTypeError(
            f"no element type of Adjoint is {dtype!r}; there are {', '.join(DTYPES)}{_instead_of(dtype)}"
        ) from None


def _instead_of(dtype: Any) -> str:
    """What to use in place of a type of NumPy that programs do not have."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        return ""
    if found.kind == "c":
        return "; there are no complex numbers, so give .real and .imag"
    if found.kind not in "iuf":
        return "; expected numbers"
    if found.newbyteorder("=") in ELEMENTS:
        return f"; convert with .astype(numpy.{found.newbyteorder('=')}), whose bytes are in the order of this machine"
    wider = "float64" if found.kind == "f" else "int32" if found.itemsize < 4 else "int64"
    limit = ", which has its numbers below 2^63" if found == np.uint64 else ""
    return f"; convert with .astype(numpy.{wider}){limit}"


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


def spec(shape: str | Sequence[int | str] = "", dtype: Any = "f32") -> Spec:
    """The type of a tensor: spec("b 512", "bf16") has a dynamic first size, called b. `?` is a dynamic size of its
    own."""
    if not isinstance(shape, (str, tuple, list)):
        raise OptionTypeError(f"expected a shape as a text, such as 'b 512', or a tuple of sizes, got {shape!r}")
    sizes = [size for size in re.split(r"[\s,]+", shape) if size] if isinstance(shape, str) else shape
    return Spec(tuple(_size(size, shape) for size in sizes), element_of(dtype))


def _size(size: Any, shape: Any) -> int | str:
    if isinstance(size, str) and not re.fullmatch(r"\d+", size):
        if not (size == "?" or size.isidentifier()):
            raise OptionError(f"expected numbers and names of sizes, got '{size}' in '{shape}'")
        return size
    try:
        made = int(size) if isinstance(size, str) else operator.index(size)
    except TypeError:
        raise OptionTypeError(f"expected numbers and names of sizes, got {size!r} in {shape!r}") from None
    if made < 0:
        raise OptionError(f"expected sizes that are not negative, got {size}")
    return made


#: From the narrowest to the widest; of two floats of one width the result is f32.
_WIDTH = {"i1": 0, "i8": 1, "i32": 2, "i64": 3, "f8E4M3FN": 4, "f8E5M2": 4, "f16": 5, "bf16": 5, "f32": 6, "f64": 7}


def promote(left: str, right: str) -> str:
    """The element type of an operation of two: the wider one; a float wins over an integer."""
    if left == right:
        return left
    if _WIDTH[left] == _WIDTH[right]:
        return "f32"
    return left if _WIDTH[left] > _WIDTH[right] else right
