# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Delayed scaling of 8-bit contractions as functions of the `ad` dialect.

`ad.scaled_dot` multiplies its operands and its cotangent by scales before it rounds them to 8 bits. A delayed scale
follows from the largest magnitudes of the last steps, so that a step does not read an operand before it rounds it. The
loop carries the history of these magnitudes; they are the cotangents of the scales.
"""

from __future__ import annotations

import dataclasses

from ._checks import is_whole
from ._writer import literal

# The greatest finite numbers.
LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}


@dataclasses.dataclass(frozen=True)
class DelayedScaling:
    """Scales for the contractions that the policy `f8` computes in a loss function.

    - `contractions`: how many the function executes; ad-autocast says the number if it is another one.
    - `history`: the number of steps whose largest magnitude decides.
    - `margin`: a scale is divided by 2^margin, for values that grow from step to step.
    - `types`: of lhs, rhs and cotangent, as in the policy.
    """

    contractions: int
    history: int = 16
    margin: int = 0
    types: tuple[str, str, str] = ("f8E4M3FN", "f8E4M3FN", "f8E5M2")

    def __post_init__(self) -> None:
        if not is_whole(self.contractions, 1):
            raise ValueError(f"expected at least one contraction, got {self.contractions!r}")
        if not is_whole(self.history, 1):
            raise ValueError(f"expected a history of at least one step, got {self.history!r}")
        if not is_whole(self.margin, 0, 64):
            raise ValueError(f"expected a whole margin from 0 to 64, got {self.margin!r}")
        if not isinstance(self.types, (tuple, list)) or len(self.types) != 3:
            raise ValueError(f"expected the types of lhs, rhs and cotangent, got {self.types!r}")
        for element in self.types:
            if element not in LARGEST:
                raise ValueError(f"expected f8E4M3FN or f8E5M2 as types, got {element!r}")

    @property
    def scales(self) -> str:
        """The type of the scales: those of lhs, rhs and cotangent for each contraction."""
        return f"tensor<{self.contractions}x3xf32>"

    @property
    def magnitudes(self) -> str:
        """The type of the history, the last step first."""
        return f"tensor<{self.history}x{self.contractions}x3xf32>"


def scales_of_history(name: str, delayed: DelayedScaling) -> str:
    """`func.func private @NAME(history) -> scales`.

    A scale is the largest power of two with which the largest magnitude of the history is finite in the 8-bit type,
    over 2^margin; 1 while all magnitudes are 0.
    """
    kind, mask = delayed.scales, delayed.scales.replace("f32", "i1")
    limits = ", ".join(literal(LARGEST[element]) for element in delayed.types)
    return f"""\
func.func private @{name}(%history: {delayed.magnitudes}) -> {kind} {{
  %largest = ad.reduce_max %history axes [0] : {delayed.magnitudes} -> {kind}
  %limits = ad.constant dense<[{limits}]> : tensor<3xf32>
  %margin = ad.constant dense<{literal(delayed.margin)}> : tensor<f32>
  %low = ad.constant dense<-126.0> : tensor<f32>
  %high = ad.constant dense<126.0> : tensor<f32>
  %zero = ad.constant dense<0.0> : tensor<f32>
  %one = ad.constant dense<1.0> : tensor<f32>
  %ratio = ad.div %limits, %largest : tensor<3xf32>, {kind}
  %log = ad.log2 %ratio : {kind}
  %whole = ad.floor %log : {kind}
  // Just below a power of two, quotient and logarithm may have rounded up to it.
  %guess = ad.clamp %whole, %low, %high : {kind}, tensor<f32>, tensor<f32>
  %factor = ad.exp2 %guess : {kind}
  %scaled = ad.mul %largest, %factor : {kind}
  %exceeds = ad.compare gt %scaled, %limits : {kind}, tensor<3xf32>
  %excess = ad.cast %exceeds : {mask} -> {kind}
  %exact = ad.sub %whole, %excess : {kind}
  %less = ad.sub %exact, %margin : {kind}, tensor<f32>
  %exponent = ad.clamp %less, %low, %high : {kind}, tensor<f32>, tensor<f32>
  %power = ad.exp2 %exponent : {kind}
  %some = ad.compare gt %largest, %zero : {kind}, tensor<f32>
  %scales = ad.select %some, %power, %one : {mask}, {kind}, tensor<f32>
  return %scales : {kind}
}}
"""


def update_history(name: str, delayed: DelayedScaling) -> str:
    """`func.func private @NAME(history, magnitudes) -> history`, with the magnitudes of a step as the first.

    A magnitude that is not finite counts as the largest of the history: the scale stays.
    """
    kind, mask, history = delayed.scales, delayed.scales.replace("f32", "i1"), delayed.magnitudes
    row = f"tensor<1x{delayed.contractions}x3xf32>"
    kept = f"tensor<{delayed.history - 1}x{delayed.contractions}x3xf32>"
    lines = [
        f"%largest = ad.reduce_max %history axes [0] : {history} -> {kind}",
        f"%finite = ad.is_finite %magnitudes : {kind} -> {mask}",
        f"%new = ad.select %finite, %magnitudes, %largest : {mask}, {kind}, {kind}",
        f"%row = ad.reshape %new : {kind} -> {row}",
    ]
    if delayed.history > 1:
        lines += [
            f"%kept = ad.slice %history [0, 0, 0] strides [1, 1, 1] : {history} -> {kept}",
            f"%next = ad.concat axis 0 %row, %kept : {row}, {kept}",
        ]
    result = "%next" if delayed.history > 1 else "%row"
    body = "".join(f"  {line}\n" for line in lines)
    return (
        f"func.func private @{name}(%history: {history}, %magnitudes: {kind}) -> {history} {{\n{body}"
        f"  return {result} : {history}\n}}\n"
    )
