# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loss scaling as functions of the `ad` dialect.

Cotangents in f16 that are smaller than 2^-25 become zero. So the loss is multiplied by a scale before it is
differentiated, and the update divides gradients by it. A dynamic scale follows torch.amp.GradScaler: a step with a
gradient that is not finite is not made and multiplies the scale by `backoff`; `interval` steps in a row with finite
gradients multiply it by `growth`. Unlike there, it stays from LOWEST to HIGHEST.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from ._checks import is_number, is_whole
from ._writer import Size, literal, tensor

# Between these a scale and its inverse are normal numbers of f32.
LOWEST, HIGHEST = 2.0**-126, 2.0**126


@dataclasses.dataclass(frozen=True)
class StaticScale:
    """One scale for the whole run. A step with a gradient that is not finite is not made."""

    scale: float = 1024.0

    def __post_init__(self) -> None:
        _check_scale(self.scale)


@dataclasses.dataclass(frozen=True)
class DynamicScale:
    """A scale that falls after overflows and grows after `interval` steps without one."""

    scale: float = 65536.0
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 2000

    def __post_init__(self) -> None:
        _check_scale(self.scale)
        # The nearest numbers to 1 in f32 are 1 + 2^-23 and 1 - 2^-24.
        if not is_number(self.growth, 1 + 2.0**-23, HIGHEST):
            raise ValueError(f"expected a growth above 1 and up to 2^126 in f32, got {self.growth!r}")
        if not is_number(self.backoff, LOWEST, 1 - 2.0**-24):
            raise ValueError(f"expected a backoff between 2^-126 and 1 in f32, got {self.backoff!r}")
        if not is_whole(self.interval, 1):
            raise ValueError(f"expected an interval of at least 1 and below 2^63, got {self.interval!r}")


Scaling = StaticScale | DynamicScale


def all_finite(name: str, gradients: Sequence[tuple[Sequence[Size], str]], *, scaled: bool = False) -> str:
    """`func.func private @NAME`, whether all elements of the gradients, given as (shape, element type), are finite.

    If the gradients are scaled, a last argument (tensor<f32>) is the positive factor that the update multiplies them
    by, and the products are checked. The largest magnitude is finite if and only if all elements are: maxima propagate
    NaN, and multiplication by the factor keeps their order. Of no elements it is 0.
    """
    if not gradients:
        raise ValueError("expected at least one gradient")
    listed = [f"%g{i}: {tensor(shape, element)}" for i, (shape, element) in enumerate(gradients)]
    arguments = ", ".join([*listed, "%factor: tensor<f32>"] if scaled else listed)
    lines, largest = ["%none = ad.constant dense<0.0> : tensor<f32>"], "none"
    for i, (shape, element) in enumerate(gradients):
        lines += _magnitude(i, shape, element)
        lines.append(f"%largest{i} = ad.max %{largest}, %m{i} : tensor<f32>")
        largest = f"largest{i}"
    if scaled:
        lines.append(f"%unscaled = ad.mul %{largest}, %factor : tensor<f32>")
        largest = "unscaled"
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
  %grown = ad.select %full, %larger, %scale : tensor<i1>, tensor<f32>, tensor<f32>
  %wanted = ad.select %finite, %grown, %smaller : tensor<i1>, tensor<f32>, tensor<f32>
  %lowest = ad.constant dense<{literal(LOWEST)}> : tensor<f32>
  %highest = ad.constant dense<{literal(HIGHEST)}> : tensor<f32>
  %next = ad.clamp %wanted, %lowest, %highest : tensor<f32>, tensor<f32>, tensor<f32>
  %counted = ad.select %full, %zero, %more : tensor<i1>, tensor<i64>, tensor<i64>
  %next_good = ad.select %finite, %counted, %zero : tensor<i1>, tensor<i64>, tensor<i64>
  return %next, %next_good : tensor<f32>, tensor<i64>
}}
"""


def _check_scale(value: float) -> None:
    if not is_number(value, LOWEST, HIGHEST):
        raise ValueError(f"expected a scale from 2^-126 to 2^126, got {value!r}")
