# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traced tensors for einops, which asks its backends whether they know a tensor."""

from __future__ import annotations

from typing import Any

from einops._backends import AbstractBackend

from . import numpy
from ._tensor import Tensor
from ._types import FLOATS


class AdjointBackend(AbstractBackend):
    framework_name = "adjoint"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        return numpy.stack(tensors)

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return numpy.expand_dims(x, axis=new_position)

    def tile(self, x: Tensor, repeats: tuple[int, ...]) -> Tensor:
        return numpy.tile(x, repeats)

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        return numpy.concat(tensors, axis=axis)

    def is_float_type(self, x: Tensor) -> bool:
        return x.element_type in FLOATS

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        return numpy.einsum(pattern, *x)
