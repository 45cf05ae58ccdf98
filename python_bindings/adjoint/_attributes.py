# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Attributes of operations as MLIR writes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._signature import format_type
from ._types import Spec, element_of

TypeLike = Spec | str


def quoted(text: str) -> str:
    """A string as MLIR writes it."""
    return (
        '"'
        + "".join(
            character if 32 <= byte < 127 and character not in '"\\' else f"\\{byte:02X}"
            for byte, character in ((byte, chr(byte)) for byte in text.encode())
        )
        + '"'
    )


def float_text(value: float) -> str:
    if math.isfinite(value):
        return f"{value:.17e} : f64"
    return f"0x{np.float64(value).view(np.uint64):016X} : f64"


def axes_text(value: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, map(int, value)))}>" if len(value) else "array<i64>"


def elements_text(array: np.ndarray) -> str:
    """A dense attribute with the bits of an array."""
    element = element_of(array.dtype)
    type = format_type(element, array.shape)
    if array.size == 0:
        return f"dense<> : {type}"
    if element == "i1":
        return f"dense<{_nested(array)}> : {type}"
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : {type}'


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return "true" if array else "false"
    return f"[{', '.join(map(_nested, array))}]"


def type_text(type: TypeLike) -> str:
    return (
        type
        if isinstance(type, str)
        else format_type(type.element_type, tuple(size if isinstance(size, int) else None for size in type.shape))
    )


_WRITERS: dict[str, Callable[[Any], str]] = {
    "axes": axes_text,
    "integer": lambda value: f"{int(value)} : i64",
    "number": lambda value: float_text(float(value)),
    "unit": lambda value: "unit",
    "string": quoted,
    "type": str,
    "symbol": lambda value: f"@{quoted(value)}",
    "order": lambda value: value if value.startswith("#") else f"#ad.order<{value}>",
    "allow": lambda value: value if value.startswith("#") else f"#ad.allow<{value}>",
}


def attribute_text(writer: str, value: Any) -> str:
    if writer.startswith("enum:"):
        return f"#ad<{writer[5:]} {value}>"
    if writer == "elements":
        return elements_text(np.asarray(value))
    return _WRITERS[writer](value)
