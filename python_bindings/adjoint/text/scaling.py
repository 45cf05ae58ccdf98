# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loss scaling as functions of the `ad` dialect: the text of adjoint.optim.LossScale.

Cotangents in f16 that are smaller than 2^-25 become zero. So the loss is multiplied by a scale before it is
differentiated, and the update divides gradients by it. A dynamic scale follows torch.amp.GradScaler: a step with a
gradient that is not finite is not made and multiplies the scale by `backoff`; `interval` steps in a row with finite
gradients multiply it by `growth`. Unlike there, it stays from LOWEST to HIGHEST.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .._scaling import HIGHEST, LOWEST, LossScale
from .._scaling import all_finite as _all_finite
from ._writer import Size, function_text, tensor

__all__ = ["HIGHEST", "LOWEST", "DynamicScale", "Scaling", "StaticScale", "all_finite", "update_scale"]


@dataclasses.dataclass(frozen=True)
class StaticScale:
    """One scale for the whole run. A step with a gradient that is not finite is not made."""

    scale: float = 1024.0

    def __post_init__(self) -> None:
        LossScale(self.scale, None)


@dataclasses.dataclass(frozen=True)
class DynamicScale:
    """A scale that falls after overflows and grows after `interval` steps without one."""

    scale: float = 65536.0
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 2000

    def __post_init__(self) -> None:
        if self.interval is None:
            raise ValueError("expected an interval of at least 1 and below 2^63, got None")
        self.traced()

    def traced(self) -> LossScale:
        return LossScale(self.scale, self.interval, self.growth, self.backoff)


Scaling = StaticScale | DynamicScale


def all_finite(name: str, gradients: Sequence[tuple[Sequence[Size], str]], *, scaled: bool = False) -> str:
    """`func.func private @NAME`, whether all elements of the gradients, given as (shape, element type), are finite.

    If the gradients are scaled, a last argument (tensor<f32>) is the positive factor that the update multiplies them
    by, and the products are checked. The largest magnitude is finite if and only if all elements are: maxima propagate
    NaN, and multiplication by the factor keeps their order. Of no elements it is 0.
    """
    if not gradients:
        raise ValueError("expected at least one gradient")
    kinds = [tensor(shape, element) for shape, element in gradients]

    def body(values: list[Any]) -> Any:
        # The update computes in f32, also with gradients in f64.
        given = [value.astype("f32") if value.element_type == "f64" else value for value in values[: len(kinds)]]
        return _all_finite(given, *values[len(kinds) :])

    return function_text(name, [*kinds, "tensor<f32>"] if scaled else kinds, body)


def update_scale(name: str, scaling: DynamicScale) -> str:
    """`func.func private @NAME(scale, good, finite) -> (scale, good)`; `good` counts finite steps in a row (i64)."""

    def body(values: list[Any]) -> Any:
        scale, good, finite = values
        state = scaling.traced().adjust({"scale": scale, "good": good}, finite)
        return state["scale"], state["good"]

    return function_text(name, ["tensor<f32>", "tensor<i64>", "tensor<i1>"], body)
