# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Optimizers as functions of the `ad` dialect: the text of those of adjoint.optim.

An optimizer describes one update: `SGD(momentum=0.9)`. `update_function` writes it for one shape, as a function that a
training loop calls and that becomes one kernel. The semantics are those of torch.optim.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .. import numpy, optim
from ._writer import Size, function_text, signature, tensor


@dataclasses.dataclass(frozen=True)
class SGD:
    """Gradient descent: velocity = momentum * velocity + (1 - dampening) * gradient, parameter -= rate * velocity.

    The first velocity is the gradient, whatever the dampening. With `nesterov`, the step is gradient + momentum *
    velocity. Weight decay adds weight_decay * parameter to the gradient.
    """

    momentum: float = 0.0
    dampening: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        self.traced()

    def traced(self) -> optim.SGD:
        return optim.SGD(
            momentum=self.momentum,
            dampening=self.dampening,
            weight_decay=self.weight_decay,
            nesterov=self.nesterov,
        )

    @property
    def states(self) -> tuple[str, ...]:
        """The tensors that the loop carries for each parameter, zeros at first."""
        return ("velocity",) if self.momentum else ()

    @property
    def needs_step(self) -> bool:
        """Whether the update depends on the number of the step."""
        return bool(self.momentum and self.dampening)


@dataclasses.dataclass(frozen=True)
class Adam:
    """Adam; weight decay adds weight_decay * parameter to the gradient."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.0

    #: Whether the decay scales the parameter instead of changing the gradient.
    decoupled = False

    def __post_init__(self) -> None:
        self.traced()

    def traced(self) -> optim.Adam:
        kind = optim.AdamW if self.decoupled else optim.Adam
        return kind(betas=(self.beta1, self.beta2), eps=self.epsilon, weight_decay=self.weight_decay)

    @property
    def states(self) -> tuple[str, ...]:
        """The tensors that the loop carries for each parameter, zeros at first."""
        return ("mean", "square")

    @property
    def needs_step(self) -> bool:
        """Whether the update depends on the number of the step."""
        return True


@dataclasses.dataclass(frozen=True)
class AdamW(Adam):
    """Adam whose weight decay scales the parameter by 1 - rate * weight_decay."""

    weight_decay: float = 0.01
    decoupled = True


Optimizer = SGD | Adam


@dataclasses.dataclass(frozen=True)
class Storage:
    """How a parameter is kept.

    - `Storage()`: in f32.
    - `Storage(copy="bf16")`: in f32, and the update also writes a copy in bf16 or f16, which the model reads.
    - `Storage(stochastic="bf16")`: in bf16 or f16 alone, rounded stochastically, so that changes below half an ulp are
      kept on average. The counter of `ad.cast_stochastic` is the index of the element.
    """

    copy: str | None = None
    stochastic: str | None = None

    def __post_init__(self) -> None:
        for element in (self.copy, self.stochastic):
            if element not in (None, "bf16", "f16"):
                raise ValueError(f"expected bf16 or f16 as the type of stored parameters, got {element!r}")
        if self.copy and self.stochastic:
            raise ValueError("a parameter that is kept in 16 bits alone has no copy")

    @property
    def element(self) -> str:
        """The element type of the parameter itself."""
        return self.stochastic or "f32"

    @property
    def read(self) -> str:
        """The element type that the model reads."""
        return self.copy or self.element


def update_function(
    name: str,
    optimizer: Optimizer,
    shape: Sequence[Size],
    *,
    storage: Storage | None = None,
    gradient: str | None = None,
    guarded: bool = False,
) -> str:
    """The text of `func.func private @NAME`, one update of a parameter of the shape; "?" is a dynamic size.

    Arguments: the parameter, its gradient, the states of the optimizer, the learning rate (tensor<f32>); if the
    optimizer needs it, the number of the step, from 1 (tensor<i64>); if the parameter is rounded stochastically, the
    key of this step and parameter (tensor<i64>); if the update is guarded, a factor of the gradient (tensor<f32>) and
    whether the step is made (tensor<i1>). Results: the new parameter, the new states, the 16-bit copy if there is one.

    `gradient` is the element type of the gradient; without it, the type that the model reads.
    """
    storage = storage or Storage()
    if storage.stochastic and any(size == "?" for size in shape):
        raise ValueError("stochastic rounding counts elements and needs static sizes")
    arguments = _arguments(optimizer, shape, storage, gradient or storage.read, guarded)

    def body(values: list[Any]) -> Any:
        given = {name: value for (name, _), value in zip(arguments, values)}
        old = [given["parameter"], *[given[state] for state in optimizer.states]]
        parameter, slope = old[0].astype("f32"), given["gradient"].astype("f32")
        if guarded:
            slope = slope * given["factor"]
        step: Any = given.get("step")  # None where the optimizer does not read it
        made = [*optimizer.traced().update_one(parameter, slope, old[1:], given["rate"], step)]
        if storage.stochastic:
            made[0] = optim.round_stochastically(made[0], given["key"], storage.stochastic)
        if guarded:  # A step that is not made keeps each value: a select in the kernel of the update.
            made = [numpy.where(given["finite"], new, before) for new, before in zip(made, old)]
        return [*made, made[0].astype(storage.copy)] if storage.copy else made

    return function_text(name, [kind for _, kind in arguments], body)


def call_arguments(optimizer: Optimizer, storage: Storage, guarded: bool) -> tuple[str, ...]:
    """The scalars that `update_function` takes after the states, in order."""
    names = ["rate"]
    names += ["step"] if optimizer.needs_step else []
    names += ["key"] if storage.stochastic else []
    return (*names, "factor", "finite") if guarded else tuple(names)


_SCALARS = {"rate": "f32", "step": "i64", "key": "i64", "factor": "f32", "finite": "i1"}


def _arguments(
    optimizer: Optimizer, shape: Sequence[Size], storage: Storage, gradient: str, guarded: bool
) -> list[tuple[str, str]]:
    listed = [("parameter", tensor(shape, storage.element)), ("gradient", tensor(shape, gradient))]
    listed += [(state, tensor(shape)) for state in optimizer.states]
    return listed + [(s, tensor((), _SCALARS[s])) for s in call_arguments(optimizer, storage, guarded)]


def update_call(
    name: str,
    optimizer: Optimizer,
    shape: Sequence[Size],
    values: Sequence[str],
    results: Sequence[str],
    *,
    storage: Storage | None = None,
    gradient: str | None = None,
    guarded: bool = False,
) -> str:
    """The call of an `update_function` on values (parameter, gradient, states, scalars), as a line of a function."""
    storage = storage or Storage()
    arguments = _arguments(optimizer, shape, storage, gradient or storage.read, guarded)
    if len(values) != len(arguments):
        raise ValueError(f"expected {len(arguments)} values ({', '.join(n for n, _ in arguments)}), got {len(values)}")
    kinds = [tensor(shape, storage.element), *[tensor(shape)] * len(optimizer.states)]
    kinds += [tensor(shape, storage.copy)] if storage.copy else []
    if len(results) != len(kinds):
        raise ValueError(f"expected names of {len(kinds)} results, got {len(results)}")
    return (
        f"{', '.join(results)} = func.call @{name}({', '.join(values)})\n"
        f"    : {signature([kind for _, kind in arguments], kinds)}"
    )
