# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The interface of a program."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

try:
    import ml_dtypes as ml_dtypes
except ImportError:
    ml_dtypes = None  # type: ignore[assignment]

# By the names of MLIR. Types that NumPy lacks are those of ml_dtypes; without it, elements are opaque bytes.
DTYPES: dict[str, np.dtype[Any]] = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16 if ml_dtypes else "V2"),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn if ml_dtypes else "V1"),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2 if ml_dtypes else "V1"),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}
# The unsigned integers that represent elements that NumPy lacks in the buffer protocol.
STORAGE: dict[str, np.dtype[Any]] = {
    "bf16": np.dtype(np.uint16),
    "f8E4M3FN": np.dtype(np.uint8),
    "f8E5M2": np.dtype(np.uint8),
}


def format_type(element_type: str, shape: tuple[int | None, ...]) -> str:
    sizes = "".join("?x" if size is None else f"{size}x" for size in shape)
    return f"tensor<{sizes}{element_type}>"


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """Name, element type and shape of a tensor. `None` is a dynamic size."""

    name: str
    element_type: str
    shape: tuple[int | None, ...]
    #: Of an argument: the name of the result that takes its memory.
    donated_to: str | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self.element_type]

    @property
    def type(self) -> str:
        return format_type(self.element_type, self.shape)

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclasses.dataclass(frozen=True)
class Signature:
    """Arguments and results in their order; feeds, and the tensors that each receiver gets together, by name."""

    entry: str
    arguments: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    feeds: dict[str, TensorSpec]
    receives: dict[str, tuple[TensorSpec, ...]]

    def __str__(self) -> str:
        arguments, results = (", ".join(map(str, specs)) for specs in (self.arguments, self.results))
        return f"@{self.entry}({arguments}) -> ({results})"


def make_signature(interface: dict[str, Any]) -> Signature:
    """Makes the signature of the description by the extension module."""
    results = interface["results"]

    def spec(value: tuple[str, str, list[int], int]) -> TensorSpec:
        name, element_type, shape, donated_to = value
        sizes = tuple(None if size < 0 else size for size in shape)
        return TensorSpec(name, element_type, sizes, results[donated_to][0] if donated_to >= 0 else None)

    def specs(values: list[tuple[str, str, list[int], int]]) -> tuple[TensorSpec, ...]:
        return tuple(map(spec, values))

    return Signature(
        interface["entry"],
        specs(interface["arguments"]),
        specs(results),
        {feed.name: feed for feed in specs(interface["feeds"])},
        {name: specs(values) for name, values in interface["receives"]},
    )
