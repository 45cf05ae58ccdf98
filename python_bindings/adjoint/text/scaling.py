# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loss scaling as functions of the `ad` dialect.

Cotangents in f16 that are smaller than 2^-25 become zero. So the loss is multiplied by a scale before it is
differentiated, and the update divides gradients by it. A dynamic scale follows torch.amp.GradScaler: a step with a
gradient that is not finite is not made and multiplies the scale by `backoff`; `interval` steps in a row with finite
gradients multiply it by `growth`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from ._writer import Size, literal, tensor


@dataclasses.dataclass(frozen=True)
class StaticScale:
    """One scale for the whole run. A step with a gradient that is not finite is not made."""

    scale: float = 1024.0

    def __post_init__(self) -> None:
        _check_scale("scale", self.scale)


@dataclasses.dataclass(frozen=True)
class DynamicScale:
    """A scale that falls after overflows and grows after `interval` steps without one."""

    scale: float = 65536.0
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 2000

    def __post_init__(self) -> None:
        _check_scale("scale", self.scale)
        if not 1 < self.growth < math.inf:
            raise ValueError(f"expected a growth above 1, got {self.growth!r}")
        if not 0 < self.backoff < 1:
            raise ValueError(f"expected a backoff between 0 and 1, got {self.backoff!r}")
        if not isinstance(self.interval, int) or self.interval < 1:
            raise ValueError(f"expected an interval of at least 1, got {self.interval!r}")


Scaling = StaticScale | DynamicScale


def all_finite(name: str, gradients: Sequence[tuple[Sequence[Size], str]]) -> str:
    """`func.func private @NAME`, whether all elements of the gradients, given as (shape, element type), are finite.

    The largest magnitude of a gradient is finite if and only if all its elements are: maxima propagate NaN.
    """
    if not gradients:
        raise ValueError("expected at least one gradient")
    kinds = [tensor(shape, element) for shape, element in gradients]
    arguments = ", ".join(f"%g{i}: {kind}" for i, kind in enumerate(kinds))
    lines, largest = [], ""
    for i, (shape, element) in enumerate(gradients):
        lines += _magnitude(i, shape, element)
        if largest:
            lines.append(f"%largest{i} = ad.max %{largest}, %m{i} : tensor<f32>")
        largest = f"largest{i}" if largest else f"m{i}"
    lines.append(f"%finite = ad.is_finite %{largest} : tensor<f32> -> tensor<i1>")
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func private @{name}({arguments}) -> tensor<i1> {{\n{body}  return %finite : tensor<i1>\n}}\n"


def _magnitude(i: int, shape: Sequence[Size], element: str) -> list[str]:
    """%mI, the largest magnitude of %gI in f32: one kernel, since a tensor of static sizes is reduced as one axis."""
    lines, name = [], f"g{i}"
    if len(shape) > 1 and "?" not in shape:
        flat = (math.prod(int(size) for size in shape),)
        lines.append(f"%v{i} = ad.reshape %g{i} : {tensor(shape, element)} -> {tensor(flat, element)}")
        shape, name = flat, f"v{i}"
    kind, scalar, wide = tensor(shape, element), tensor((), element), element == "f32"
    lines.append(f"%{'m' if wide and not shape else 'a'}{i} = ad.abs %{name} : {kind}")
    if shape:
        axes = ", ".join(map(str, range(len(shape))))
        lines.append(f"%{'m' if wide else 'r'}{i} = ad.reduce_max %a{i} axes [{axes}] : {kind} -> {scalar}")
    if not wide:
        lines.append(f"%m{i} = ad.cast %{'r' if shape else 'a'}{i} : {scalar} -> tensor<f32>")
    return lines


def update_scale(name: str, scaling: DynamicScale) -> str:
    """`func.func private @NAME(scale, good, finite) -> (scale, good)`; `good` counts finite steps in a row (i64)."""
    return f"""\
func.func private @{name}(%scale: tensor<f32>, %good: tensor<i64>, %finite: tensor<i1>)
    -> (tensor<f32>, tensor<i64>) {{
  %zero = ad.constant dense<0> : tensor<i64>
  %one = ad.constant dense<1> : tensor<i64>
  %interval = ad.constant dense<{scaling.interval}> : tensor<i64>
  %growth = ad.constant dense<{literal(scaling.growth)}> : tensor<f32>
  %backoff = ad.constant dense<{literal(scaling.backoff)}> : tensor<f32>
  %larger = ad.mul %scale, %growth : tensor<f32>
  %smaller = ad.mul %scale, %backoff : tensor<f32>
  %more = ad.add %good, %one : tensor<i64>
  %full = ad.compare ge %more, %interval : tensor<i64>
  // A scale that is too large for f32 stays, as that of torch.
  %fits = ad.is_finite %larger : tensor<f32> -> tensor<i1>
  %grows = ad.and %full, %fits : tensor<i1>
  %grown = ad.select %grows, %larger, %scale : tensor<i1>, tensor<f32>, tensor<f32>
  %next = ad.select %finite, %grown, %smaller : tensor<i1>, tensor<f32>, tensor<f32>
  %counted = ad.select %full, %zero, %more : tensor<i1>, tensor<i64>, tensor<i64>
  %next_good = ad.select %finite, %counted, %zero : tensor<i1>, tensor<i64>, tensor<i64>
  return %next, %next_good : tensor<f32>, tensor<i64>
}}
"""


def _check_scale(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ValueError(f"expected a finite positive {name}, got {value!r}")
