# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Delayed scaling of 8-bit contractions as functions of the `ad` dialect: the text of adjoint.optim.DelayedScales.

`ad.scaled_dot` multiplies its operands and its cotangent by scales before it rounds them to 8 bits. A delayed scale
follows from the largest magnitudes of the last steps, so that a step does not read an operand before it rounds it. The
loop carries the history of these magnitudes; they are the cotangents of the scales.
"""

from __future__ import annotations

import dataclasses

from .._scaling import LARGEST, DelayedScales
from ._writer import function_text, tensor

__all__ = ["LARGEST", "DelayedScaling", "scales_of_history", "update_history"]


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
        self.traced()

    def traced(self) -> DelayedScales:
        return DelayedScales(self.contractions, self.history, self.margin, self.types)

    @property
    def scales(self) -> str:
        """The type of the scales: those of lhs, rhs and cotangent for each contraction."""
        return tensor((self.contractions, 3))

    @property
    def magnitudes(self) -> str:
        """The type of the history, the last step first."""
        return tensor((self.history, self.contractions, 3))


def scales_of_history(name: str, delayed: DelayedScaling) -> str:
    """`func.func private @NAME(history) -> scales`.

    A scale is the largest power of two with which the largest magnitude of the history is finite in the 8-bit type,
    over 2^margin; 1 while all magnitudes are 0.
    """
    return function_text(name, [delayed.magnitudes], lambda values: delayed.traced().scales(*values))


def update_history(name: str, delayed: DelayedScaling) -> str:
    """`func.func private @NAME(history, magnitudes) -> history`, with the magnitudes of a step as the first.

    A magnitude that is not finite counts as the largest of the history: the scale stays.
    """
    return function_text(
        name, [delayed.magnitudes, delayed.scales], lambda values: delayed.traced().update(*values)
    )
