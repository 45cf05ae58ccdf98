# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Optimizers as functions of the `ad` dialect.

An optimizer describes one update: `SGD(momentum=0.9)`. `update_function` writes it for one shape, as a function that a
training loop calls and that becomes one kernel. The semantics are those of torch.optim.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from ._writer import Size, Writer, literal, signature, tensor


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
        _check_fraction("momentum", self.momentum, 1.0)
        if not math.isfinite(self.dampening):
            raise ValueError(f"expected a finite dampening, got {self.dampening!r}")
        _check_not_negative("weight_decay", self.weight_decay)
        if self.nesterov and (self.momentum == 0 or self.dampening != 0):
            raise ValueError("nesterov needs a momentum and no dampening")

    @property
    def states(self) -> tuple[str, ...]:
        """The tensors that the loop carries for each parameter, zeros at first."""
        return ("velocity",) if self.momentum else ()

    @property
    def needs_step(self) -> bool:
        """Whether the update depends on the number of the step."""
        return bool(self.momentum and self.dampening)

    def write(self, w: Writer) -> None:
        """Writes %next_parameter and %next_STATE."""
        if self.weight_decay:
            w.scale("decay", "parameter", self.weight_decay)
            w.binary("add", "slope", "gradient", "decay")
        slope = direction = "slope" if self.weight_decay else "gradient"
        if self.momentum:
            self._write_velocity(w, slope)
            direction = "next_velocity"
        if self.nesterov:
            w.scale("ahead", "next_velocity", self.momentum)
            w.binary("add", "direction", slope, "ahead")
            direction = "direction"
        w.binary("mul", "change", direction, "rate", scalar=True)
        w.binary("sub", "next_parameter", "parameter", "change")

    def _write_velocity(self, w: Writer, slope: str) -> None:
        w.scale("kept", "velocity", self.momentum)
        if not self.dampening:
            w.binary("add", "next_velocity", "kept", slope)
            return
        w.scale("damped", slope, 1 - self.dampening)
        w.binary("add", "later", "kept", "damped")
        w.line("%one = ad.constant dense<1> : tensor<i64>")
        w.line("%first = ad.compare eq %step, %one : tensor<i64>")
        w.select("next_velocity", "first", slope, "later")


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
        _check_fraction("beta1", self.beta1)
        _check_fraction("beta2", self.beta2)
        _check_not_negative("epsilon", self.epsilon)
        _check_not_negative("weight_decay", self.weight_decay)

    @property
    def states(self) -> tuple[str, ...]:
        """The tensors that the loop carries for each parameter, zeros at first."""
        return ("mean", "square")

    @property
    def needs_step(self) -> bool:
        """Whether the update depends on the number of the step."""
        return True

    def write(self, w: Writer) -> None:
        """Writes %next_parameter, %next_mean and %next_square."""
        parameter, slope = "parameter", "gradient"
        if self.weight_decay and self.decoupled:
            w.scale("decay_rate", "rate", self.weight_decay, shape=())
            w.binary("mul", "decay", "parameter", "decay_rate", scalar=True)
            w.binary("sub", "decayed", "parameter", "decay")
            parameter = "decayed"
        elif self.weight_decay:
            w.scale("decay", "parameter", self.weight_decay)
            w.binary("add", "slope", "gradient", "decay")
            slope = "slope"
        w.average("mean", slope, self.beta1)
        w.binary("mul", "slope_square", slope, slope)
        w.average("square", "slope_square", self.beta2)
        self._write_weight(w, "mean_weight", self.beta1)
        self._write_weight(w, "square_weight", self.beta2)
        w.binary("div", "fair_mean", "next_mean", "mean_weight", scalar=True)
        w.binary("div", "fair_square", "next_square", "square_weight", scalar=True)
        w.unary("sqrt", "root", "fair_square")
        w.line(f"%epsilon = ad.constant dense<{literal(self.epsilon)}> : tensor<f32>")
        w.binary("add", "divisor", "root", "epsilon", scalar=True)
        w.binary("div", "direction", "fair_mean", "divisor")
        w.binary("mul", "change", "direction", "rate", scalar=True)
        w.binary("sub", "next_parameter", parameter, "change")

    def _write_weight(self, w: Writer, name: str, beta: float) -> None:
        """1 - beta^step; by expm1, since in f32 the difference would have lost half of its digits."""
        if beta == 0:
            w.line(f"%{name} = ad.constant dense<1.0> : tensor<f32>")
            return
        if not w.has("count"):
            w.line("%count = ad.cast %step : tensor<i64> -> tensor<f32>")
        w.scale(f"{name}_log", "count", math.log(beta), shape=())
        w.unary("expm1", f"{name}_loss", f"{name}_log", shape=())
        w.unary("neg", name, f"{name}_loss", shape=())


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
    w = Writer(shape)
    arguments = _arguments(optimizer, shape, storage, gradient or storage.read, guarded)
    _write_widened(w, "gradient", gradient or storage.read)
    _write_widened(w, "parameter", storage.element)
    if guarded:
        w.binary("mul", "unscaled", "gradient", "factor", scalar=True)
        w.rename("gradient", "unscaled")
    optimizer.write(w)
    results = _write_results(w, optimizer, storage, guarded)
    return w.function(name, arguments, results)


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


def _write_widened(w: Writer, name: str, element: str) -> None:
    if element != "f32":
        w.cast(f"{name}_f32", name, element, "f32")
        w.rename(name, f"{name}_f32")


def _write_results(w: Writer, optimizer: Optimizer, storage: Storage, guarded: bool) -> list[tuple[str, str]]:
    """A step that is not made keeps each value: a select in the kernel of the update."""
    results = []
    for state in optimizer.states:
        results.append((w.kept(state) if guarded else f"next_{state}", tensor(w.shape)))
    if storage.stochastic:
        w.round_stochastically("rounded", "next_parameter", "key", storage.stochastic)
        new = "rounded"
        if guarded:
            w.select("kept_parameter", "finite", "rounded", w.original("parameter"), storage.stochastic)
            new = "kept_parameter"
    else:
        new = w.kept("parameter") if guarded else "next_parameter"
    results.insert(0, (new, tensor(w.shape, storage.element)))
    if storage.copy:
        w.cast("copy", new, "f32", storage.copy)
        results.append(("copy", tensor(w.shape, storage.copy)))
    return results


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


def _check_fraction(name: str, value: float, limit: float | None = None) -> None:
    if not (0 <= value < 1 or value == limit):
        raise ValueError(f"expected {name} in [0, 1{')' if limit is None else ']'}, got {value!r}")


def _check_not_negative(name: str, value: float) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"expected a finite {name} of at least 0, got {value!r}")
