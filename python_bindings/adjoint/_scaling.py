# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Scales that training carries from step to step: of the loss, and of contractions in 8-bit floats."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import numpy, tree
from ._builder import current
from ._checks import is_number, is_whole
from ._constants import tensor
from ._derivatives import value_and_grad
from ._errors import OptionError
from ._tensor import Tensor

#: Between these a scale and its inverse are normal numbers of f32.
LOWEST, HIGHEST = 2.0**-126, 2.0**126
#: The greatest finite numbers.
LARGEST = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0}


def wide(leaf: Any) -> Tensor:
    """The tensor in f32, or in f64 if it is that."""
    made = tensor(leaf)
    return made if made.element_type == "f64" else made.astype("f32")


def all_finite(gradients: Any, factor: Any = None) -> Tensor:
    """Whether all elements of a tree are finite, times a positive factor if there is one.

    The largest magnitude is finite if and only if all elements are: maxima propagate NaN, and a factor keeps their
    order. So one kernel reads all gradients.
    """
    largest = tensor(0.0)
    for leaf in tree.leaves(gradients):
        largest = numpy.maximum(largest, _largest(tensor(leaf)))
    return numpy.isfinite(largest if factor is None else largest * factor)


def _largest(leaf: Tensor) -> Tensor:
    """The largest magnitude, 0 of no elements. A tensor of static sizes is reduced as one axis, by one kernel."""
    if 0 in leaf._static:
        return tensor(0.0)
    if leaf.ndim > 1 and None not in leaf._static:
        leaf = leaf.flatten()
    return wide(abs(leaf).max() if leaf.ndim else abs(leaf))


@dataclasses.dataclass(frozen=True)
class LossScale:
    """Scales a loss so that gradients of narrow floats do not vanish, as torch.amp.GradScaler does. A step with a
    gradient that is not finite is left out and multiplies the scale by `backoff_factor`; `growth_interval` steps in a
    row without that multiply it by `growth_factor`. It stays from 2^-126 to 2^126. With `growth_interval=None` the
    scale is constant."""

    initial: float = 2.0**16
    growth_interval: int | None = 2000
    growth_factor: float = 2.0
    backoff_factor: float = 0.5

    def __post_init__(self) -> None:
        if not is_number(self.initial, LOWEST, HIGHEST):
            raise OptionError(f"expected initial as a scale from 2^-126 to 2^126, got {self.initial!r}")
        if self.growth_interval is not None and not is_whole(self.growth_interval, 1):
            raise OptionError(
                "expected growth_interval as an interval of at least 1 and below 2^63, or None, got "
                f"{self.growth_interval!r}"
            )
        # The nearest numbers to 1 in f32 are 1 + 2^-23 and 1 - 2^-24.
        if not is_number(self.growth_factor, 1 + 2.0**-23, HIGHEST):
            raise OptionError(
                f"expected growth_factor as a growth above 1 and up to 2^126 in f32, got {self.growth_factor!r}"
            )
        if not is_number(self.backoff_factor, LOWEST, 1 - 2.0**-24):
            raise OptionError(
                f"expected backoff_factor as a backoff between 2^-126 and 1 in f32, got {self.backoff_factor!r}"
            )

    def init(self) -> dict[str, np.ndarray]:
        return {"scale": np.array(self.initial, np.float32), "good": np.zeros((), np.int64)}

    def scale(self, loss: Any, state: dict[str, Any]) -> Tensor:
        scaled: Tensor = tensor(loss) * state["scale"]
        return scaled

    def unscale(self, gradients: Any, state: dict[str, Any]) -> Any:
        """The gradients times the inverse of the scale; those of narrow floats in f32, where they do not vanish."""
        inverse = functools.cache(lambda element: 1 / tensor(state["scale"]).astype(element))

        def unscaled(leaf: Any) -> Tensor:
            made = wide(leaf)
            return made * inverse(made.element_type)

        return tree.map(unscaled, gradients)

    def update(self, new: Any, old: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The new trees if the unscaled gradients are finite, else the old ones; and the next scale."""
        is_finite = all_finite(gradients)
        kept = tree.map(lambda one, other: numpy.where(is_finite, one, other), new, old)
        return kept, self.adjust(state, is_finite)

    def adjust(self, state: dict[str, Any], is_finite: Any) -> dict[str, Any]:
        """The next scale, and how many steps in a row were finite."""
        if self.growth_interval is None:
            return state
        scale, good = tensor(state["scale"]), tensor(state["good"]) + 1
        grows = good >= self.growth_interval
        larger, smaller = scale * float(self.growth_factor), scale * float(self.backoff_factor)
        wanted = numpy.where(is_finite, numpy.where(grows, larger, scale), smaller)
        good = numpy.where(is_finite, numpy.where(grows, 0, good), 0)
        return {"scale": numpy.clip(wanted, min=LOWEST, max=HIGHEST), "good": good}


@dataclasses.dataclass(frozen=True)
class DelayedScales:
    """Scales for the contractions that the policy `f8` computes in 8 bits, from the largest magnitudes of the last
    steps, so that a step does not read an operand before it rounds it.

    - `contractions`: how many the loss executes; the compiler says the number if it is another one.
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
            raise OptionError(f"expected contractions as at least one contraction, got {self.contractions!r}")
        if not is_whole(self.history, 1):
            raise OptionError(f"expected history as a history of at least one step, got {self.history!r}")
        if not is_whole(self.margin, 0, 64):
            raise OptionError(f"expected margin as a whole margin from 0 to 64, got {self.margin!r}")
        if not isinstance(self.types, (tuple, list)) or len(self.types) != 3:
            raise OptionError(f"expected types as the types of lhs, rhs and cotangent, got {self.types!r}")
        for element in self.types:
            if element not in LARGEST:
                raise OptionError(f"expected f8E4M3FN or f8E5M2 as types, got {element!r}")

    def init(self) -> np.ndarray:
        """The largest magnitudes of the last steps, the last one first: of lhs, rhs and cotangent of each
        contraction."""
        return np.zeros((self.history, self.contractions, 3), np.float32)

    def scales(self, state: Any) -> Tensor:
        """The largest powers of two with which the largest magnitudes are finite in their 8-bit types, over 2^margin;
        1 while all magnitudes are 0."""
        largest = tensor(state).max(axis=0)
        limits = tensor(np.array([LARGEST[element] for element in self.types], np.float32))
        exponent = numpy.floor(numpy.log2(limits / largest))
        # Just below a power of two, quotient and logarithm may have rounded up to it.
        exceeds = largest * numpy.exp2(numpy.clip(exponent, min=-126, max=126)) > limits
        exponent = numpy.clip(exponent - exceeds.astype("f32") - self.margin, min=-126, max=126)
        return numpy.where(largest > 0, numpy.exp2(exponent), 1.0)

    def update(self, state: Any, magnitudes: Any) -> Tensor:
        """The history after a step with these magnitudes. One that is not finite counts as the largest of the history:
        its scale stays."""
        history = tensor(state)
        row = numpy.expand_dims(numpy.where(numpy.isfinite(magnitudes), magnitudes, history.max(axis=0)), axis=0)
        return numpy.concat([row, history[:-1]]) if self.history > 1 else row

    def value_and_grad(self, loss: Callable[..., Any], *, has_aux: bool = False) -> Callable[..., Any]:
        """From (state, *arguments) to (value, gradient, next state): adjoint.value_and_grad of the loss by its first
        argument, with the scales of the state in its contractions."""

        @functools.wraps(loss)
        def scaled(scales: Any, *arguments: Any, **keywords: Any) -> Any:
            trace = current()
            assert trace.function is not None
            trace.native.set_argument_attribute(trace.function.name, 0, "ad.scales", "unit")
            return loss(*arguments, **keywords)

        def differentiated(state: Any, *arguments: Any, **keywords: Any) -> tuple[Any, Any, Tensor]:
            both = value_and_grad(scaled, (0, 1), has_aux=has_aux)
            # The cotangents of the scales are the largest magnitudes of this step.
            value, (magnitudes, gradient) = both(self.scales(state), *arguments, **keywords)
            return value, gradient, self.update(state, magnitudes)

        return differentiated
