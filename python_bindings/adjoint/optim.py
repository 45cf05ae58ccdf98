# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Optimisers as functions of trees: state = optimizer.init(parameters), and inside of a traced function parameters,
state = optimizer.update(parameters, gradients, state). Their formulas and defaults are those of torch.optim.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from . import numpy, tree
from ._errors import OptionError
from ._tensor import Tensor, tensor

__all__ = ["SGD", "Adam", "AdamW", "LossScale", "clip_by_global_norm", "cosine", "global_norm", "linear_warmup"]

#: A learning rate: a number, or a function of the number of the step, a traced f32 that is 0 at first.
Rate = float | Callable[[Tensor], Any]


def _rate(rate: Rate, step: Tensor) -> Any:
    return rate(step.astype("f32")) if callable(rate) else rate


def _zeros(parameters: Any) -> Any:
    return tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), parameters)


def _step() -> np.ndarray:
    return np.zeros((), np.int32)


def _map(function: Callable[..., tuple[Any, ...]], count: int, *trees: Any) -> tuple[Any, ...]:
    """Trees of the results of a function that gives several."""
    leaves, form = tree.flatten(trees[0])
    rows = [function(*row) for row in zip(leaves, *(tree.leaves(one) for one in trees[1:]))]
    return tuple(tree.unflatten(form, [row[index] for row in rows]) for index in range(count))


@dataclasses.dataclass(frozen=True)
class SGD:
    """Gradient descent, with momentum if there is some."""

    lr: Rate = 1e-3
    momentum: float = 0.0
    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False

    def init(self, parameters: Any) -> dict[str, Any]:
        state: dict[str, Any] = {"step": _step()}
        if self.momentum:
            state["momentum"] = _zeros(parameters)
        return state

    def update(self, parameters: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        rate, is_first = _rate(self.lr, state["step"]), tensor(state["step"]) == 0

        def change(p: Any, g: Any, *momentum: Any) -> tuple[Any, ...]:
            if self.weight_decay:
                g = g + self.weight_decay * p
            if not momentum:
                return (_less(p, rate, g),)
            # The first momentum is the gradient, without dampening.
            m = numpy.where(is_first, g, self.momentum * momentum[0] + (1 - self.dampening) * g)
            return _less(p, rate, g + self.momentum * m if self.nesterov else m), m

        next_state: dict[str, Any] = {"step": state["step"] + 1}
        if not self.momentum:
            return _map(change, 1, parameters, gradients)[0], next_state
        parameters, next_state["momentum"] = _map(change, 2, parameters, gradients, state["momentum"])
        return parameters, next_state


def _less(parameter: Any, rate: Any, change: Any) -> Any:
    return (parameter - rate * change).astype(tensor(parameter).element_type)


@dataclasses.dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba 2015); weight decay is added to the gradient."""

    lr: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    _is_decoupled = False

    def init(self, parameters: Any) -> dict[str, Any]:
        return {"step": _step(), "first": _zeros(parameters), "second": _zeros(parameters)}

    def update(self, parameters: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        count = tensor(state["step"]) + 1
        rate, (b1, b2) = _rate(self.lr, state["step"]), self.betas

        def change(p: Any, g: Any, m: Any, v: Any) -> tuple[Any, Any, Any]:
            element = tensor(p).element_type
            wide = element if element in ("f32", "f64") else "f32"
            steps = count.astype(wide)
            if self.weight_decay and not self._is_decoupled:
                g = g + self.weight_decay * p
            elif self.weight_decay:
                p = p * (1 - rate * self.weight_decay)
            m = b1 * m + (1 - b1) * g
            v = b2 * v + (1 - b2) * g * g
            first, second = 1 - numpy.pow(tensor(b1, wide), steps), 1 - numpy.pow(tensor(b2, wide), steps)
            root = numpy.sqrt(v) / numpy.sqrt(second) + self.eps
            made = p - rate / first * (m / root)
            return tuple(one.astype(element) for one in (made, m, v))  # type: ignore[return-value]

        parameters, first, second = _map(change, 3, parameters, gradients, state["first"], state["second"])
        return parameters, {"step": count, "first": first, "second": second}


@dataclasses.dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    weight_decay: float = 1e-2

    _is_decoupled = True


def global_norm(gradients: Any) -> Tensor:
    """The root of the sum of the squares of all elements, in f32 or f64."""
    squares = [numpy.sum(numpy.square(_wide(leaf))) for leaf in tree.leaves(gradients)]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return numpy.sqrt(total)


def _wide(leaf: Any) -> Tensor:
    made = tensor(leaf)
    return made if made.element_type in ("f32", "f64") else made.astype("f32")


def clip_by_global_norm(gradients: Any, max_norm: float) -> tuple[Any, Tensor]:
    """The gradients times min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ has it, and their
    norm."""
    norm = global_norm(gradients)
    factor = numpy.minimum(max_norm / (norm + 1e-6), 1.0)
    return tree.map(lambda leaf: (leaf * factor).astype(tensor(leaf).element_type), gradients), norm


def linear_warmup(peak: float, steps: int, total: int | None = None) -> Callable[[Tensor], Tensor]:
    """Rises to `peak` in the first steps, then falls to 0 at `total`, if that is given."""

    def rate(step: Tensor) -> Tensor:
        made = peak * numpy.minimum((step + 1) / max(steps, 1), 1.0)
        if total is None:
            return made
        return made * numpy.clip((total - step) / max(total - steps, 1), min=0.0, max=1.0)

    return rate


def cosine(peak: float, total: int, warmup: int = 0, floor: float = 0.0) -> Callable[[Tensor], Tensor]:
    """Rises to `peak` in `warmup` steps, then falls to `floor` along half a cosine, until `total`."""

    def rate(step: Tensor) -> Tensor:
        part = numpy.clip((step - warmup) / max(total - warmup, 1), min=0.0, max=1.0)
        falling = floor + (peak - floor) * 0.5 * (1 + numpy.cos(part * numpy.pi))
        return numpy.where(step < warmup, peak * (step + 1) / max(warmup, 1), falling)

    return rate


@dataclasses.dataclass(frozen=True)
class LossScale:
    """Scales a loss so that gradients of narrow floats do not vanish. A dynamic scale halves when a gradient is not
    finite, in which case the step is left out, and doubles after `growth_interval` steps without that; it stays between
    2^-126 and 2^126. With `growth_interval=None` it is constant, and no step is left out."""

    initial: float = 2.0**16
    growth_interval: int | None = 2000

    def init(self) -> dict[str, np.ndarray]:
        if not 2.0**-126 <= self.initial <= 2.0**126:
            raise OptionError(f"expected a scale between 2^-126 and 2^126, got {self.initial}")
        return {"scale": np.float32(self.initial) * np.ones((), np.float32), "good": np.zeros((), np.int32)}

    def scale(self, loss: Any, state: dict[str, Any]) -> Tensor:
        return tensor(loss) * state["scale"]

    def unscale(self, gradients: Any, state: dict[str, Any]) -> Any:
        return tree.map(lambda leaf: (leaf / state["scale"]).astype(tensor(leaf).element_type), gradients)

    def update(self, new: Any, old: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The new trees if the unscaled gradients are finite, else the old ones; and the next scale."""
        if self.growth_interval is None:
            return new, state
        is_finite = numpy.asarray(True)
        for leaf in tree.leaves(gradients):
            is_finite = is_finite & numpy.all(numpy.isfinite(leaf))
        kept = tree.map(lambda one, other: numpy.where(is_finite, one, other), new, old)
        good = numpy.where(is_finite, state["good"] + 1, 0)
        grows = good >= self.growth_interval
        factor = numpy.where(is_finite, numpy.where(grows, 2.0, 1.0), 0.5)
        scale = numpy.clip(state["scale"] * factor, min=2.0**-126, max=2.0**126)
        return kept, {"scale": scale.astype("f32"), "good": numpy.where(grows, 0, good).astype("i32")}
