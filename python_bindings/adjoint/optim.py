# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Optimisers as functions of trees: state = optimizer.init(parameters), and parameters, state =
optimizer.update(parameters, gradients, state), part of a traced function or compiled by itself. Their formulas and
defaults are those of torch.optim.

Updates are computed in f32, in f64 for parameters of f64, and so are the states. Parameters of narrow floats are
rounded at the end; Masters and StochasticRounding keep what that loses.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import numpy, ops, random, tree
from ._builder import is_tracing
from ._checks import flag, is_number, number, whole
from ._constants import tensor
from ._eager import eager_target
from ._errors import OptionError, OptionTypeError
from ._jit import jit
from ._narrow import convert
from ._scaling import DelayedScales, LossScale, all_finite, wide
from ._signature import format_type
from ._statistics import are_trained, statistics_of, with_statistics
from ._tensor import Tensor
from ._types import FLOATS, element_of

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "DelayedScales",
    "LossScale",
    "Masters",
    "StochasticRounding",
    "all_finite",
    "clip_by_global_norm",
    "cosine",
    "global_norm",
    "linear_warmup",
]

#: A learning rate: a number, a traced one, or a function of the number of the step, a traced f32 that is 0 at first.
Rate = float | Tensor | Callable[[Tensor], Any]


def _rate(rate: Rate, step: Tensor) -> Any:
    if callable(rate):
        made = rate(step.astype("f32"))
        if not (isinstance(made, Tensor) or is_number(made, -math.inf, math.inf)):
            raise OptionError(f"expected a learning rate as a number or a traced one from {rate!r}, got {made!r}")
        return made
    return rate if isinstance(rate, Tensor) else float(rate)


def _wide_dtype(leaf: Any) -> Any:
    return np.float64 if leaf.dtype == np.float64 else np.float32


def _zeros(parameters: Any) -> Any:
    return tree.map(lambda leaf: np.zeros(leaf.shape, _wide_dtype(leaf)), parameters)


class _Optimizer:
    """What optimisers share, which have an update of one parameter."""

    lr: Rate
    #: The names of the tensors that the state has for each parameter.
    states: tuple[str, ...]

    def init(self, parameters: Any) -> dict[str, Any]:
        _check_floats(parameters)
        return {"step": np.zeros((), np.int32), **{name: _zeros(parameters) for name in self.states}}

    def update(self, parameters: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if not is_tracing():
            compiled = _compiled_update(self, eager_target(parameters, gradients, state))
            return compiled(parameters, gradients, state)  # type: ignore[no-any-return]
        _check_state(self, state)
        step = tensor(state["step"])
        count, rate = step + 1, _rate(self.lr, step)
        columns = [list(map(tensor, tree.leaves(one))) for one in (parameters, gradients, *map(state.get, self.states))]
        if len({len(column) for column in columns}) != 1:
            raise OptionError("expected gradients and states in the tree of the parameters")
        form = tree.structure(parameters)
        _check_floats(parameters)
        _check_shapes(tree.names(form), columns, ("gradient", *map("state {!r}".format, self.states)))
        made = []
        for is_trained, (parameter, gradient, *states) in zip(are_trained(form), zip(*columns)):
            if not is_trained:
                made.append([parameter, *states])
                continue
            new = self.update_one(wide(parameter), wide(gradient), states, rate, count)
            made.append([one.astype(old.element_type) for one, old in zip(new, (parameter, *states))])
        trees = [tree.unflatten(form, column) for column in zip(*made)]
        return trees[0], {"step": count, **dict(zip(self.states, trees[1:]))}

    def update_one(
        self, parameter: Tensor, gradient: Tensor, states: Sequence[Tensor], rate: Any, count: Tensor
    ) -> tuple[Tensor, ...]:
        """The new parameter and its states. `count` is the number of the step, from 1."""
        raise NotImplementedError


@functools.lru_cache(maxsize=64)
def _compiled_update(optimizer: Any, target: str) -> Any:
    return jit(optimizer.update, target=target)


def _check_state(optimizer: _Optimizer, state: Any) -> None:
    expected = ("step", *optimizer.states)
    if not isinstance(state, dict) or set(state) != set(expected):
        found = ", ".join(map(str, state)) if isinstance(state, dict) else type(state).__name__
        raise OptionError(
            f"expected the state of {type(optimizer).__name__} with {', '.join(expected)}, which init makes, got "
            f"{found or 'none'}"
        )


def _check_floats(parameters: Any) -> None:
    """A step of integers would be cut to zero."""
    for name, leaf in zip(tree.names(tree.structure(parameters)), tree.leaves(parameters)):
        element = tensor(leaf).element_type if isinstance(leaf, Tensor) else element_of(np.asarray(leaf).dtype)
        if element not in FLOATS:
            raise OptionError(f"expected parameters of floats, got {element}" + f" of {name!r}" * bool(name))


def _check_shapes(names: Sequence[str], columns: Sequence[Sequence[Tensor]], kinds: Sequence[str]) -> None:
    """Gradients and states have the shapes of their parameters: others would be broadcast."""
    for name, parameter, *others in zip(names, *columns):
        for kind, other in zip(kinds, others):
            sizes = list(zip(parameter._static, other._static))
            if parameter.ndim != other.ndim or any(None not in pair and pair[0] != pair[1] for pair in sizes):
                place = f" of {name!r}" * bool(name)
                raise OptionError(
                    f"expected the {kind}{place} in the shape of its parameter, {_shape_text(parameter)}, got "
                    f"{_shape_text(other)}"
                )


def _shape_text(value: Tensor) -> str:
    return str(tuple("?" if size is None else size for size in value._static)).replace("'", "")


def _set_numbers(optimizer: Any, **low: float) -> None:
    """Numbers of Python of at least these: NumPy's would have element types of their own."""
    for name, least in low.items():
        object.__setattr__(optimizer, name, number(name, getattr(optimizer, name), least))


def _check_rate(rate: Any) -> None:
    if callable(rate) or isinstance(rate, Tensor):
        return
    try:
        number("lr", rate, 0)
    except OptionError:
        raise OptionError(
            f"expected lr as a finite number of at least 0, or a function of the step, got {rate!r}"
        ) from None


def _fraction(name: str, value: Any, *, with_one: bool = False) -> float:
    made = number(name, value)
    if not (0 <= made < 1 or (made == 1 and with_one)):
        raise OptionError(f"expected {name} in [0, 1{']' if with_one else ')'}, got {value!r}")
    return made


def _check_inner(optimizer: Any) -> None:
    if not isinstance(optimizer, _Optimizer):
        raise OptionTypeError(f"expected optimizer as one such as adjoint.optim.Adam(1e-3), got {optimizer!r}")


@dataclasses.dataclass(frozen=True)
class SGD(_Optimizer):
    """Gradient descent: momentum = momentum * before + (1 - dampening) * gradient, parameter -= lr * momentum. The first
    momentum is the gradient. With `nesterov` the step is gradient + momentum * new momentum. Weight decay is added to
    the gradient."""

    lr: Rate = 1e-3
    momentum: float = 0.0
    dampening: float = 0.0
    weight_decay: float = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        _check_rate(self.lr)
        _set_numbers(self, momentum=-math.inf, dampening=-math.inf, weight_decay=0)
        _fraction("momentum", self.momentum, with_one=True)
        if flag("nesterov", self.nesterov) and (self.momentum == 0 or self.dampening != 0):
            raise OptionError("nesterov needs a momentum and no dampening")

    @property
    def states(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("momentum",) if self.momentum else ()

    def update_one(
        self, parameter: Tensor, gradient: Tensor, states: Sequence[Tensor], rate: Any, count: Tensor
    ) -> tuple[Tensor, ...]:
        if self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        if not self.momentum:
            return (parameter - gradient * rate,)
        if self.dampening:
            later = states[0] * self.momentum + gradient * (1 - self.dampening)
            momentum = numpy.where(count == 1, gradient, later)
        else:
            momentum = states[0] * self.momentum + gradient
        change = gradient + momentum * self.momentum if self.nesterov else momentum
        return parameter - change * rate, momentum


@dataclasses.dataclass(frozen=True)
class Adam(_Optimizer):
    """Adam (Kingma and Ba 2015); weight decay is added to the gradient."""

    lr: Rate = 1e-3
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0

    states = ("first", "second")
    _is_decoupled = False

    def __post_init__(self) -> None:
        _check_rate(self.lr)
        if not isinstance(self.betas, (tuple, list)) or len(self.betas) != 2:
            raise OptionTypeError(f"expected betas as two numbers, got {self.betas!r}")
        betas = tuple(_fraction(f"beta{index}", beta) for index, beta in enumerate(self.betas, 1))
        object.__setattr__(self, "betas", betas)
        _set_numbers(self, eps=0, weight_decay=0)

    def update_one(
        self, parameter: Tensor, gradient: Tensor, states: Sequence[Tensor], rate: Any, count: Tensor
    ) -> tuple[Tensor, ...]:
        (first, second), (b1, b2) = states, self.betas
        if self.weight_decay and self._is_decoupled:
            parameter = parameter - parameter * (rate * self.weight_decay)
        elif self.weight_decay:
            gradient = gradient + parameter * self.weight_decay
        first = first * b1 + gradient * (1 - b1)
        second = second * b2 + gradient * gradient * (1 - b2)
        root = numpy.sqrt(_unbiased(second, b2, count)) + self.eps
        return parameter - _unbiased(first, b1, count) / root * rate, first, second


def _unbiased(mean: Tensor, beta: float, count: Tensor) -> Tensor:
    """mean / (1 - beta^count); by expm1, since in f32 the difference would have lost half of its digits."""
    if beta == 0:
        return mean
    return mean / -numpy.expm1(count.astype(mean.element_type) * math.log(beta))


@dataclasses.dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    weight_decay: float = 1e-2

    _is_decoupled = True


# Parameters of narrow floats.


@dataclasses.dataclass(frozen=True)
class Masters:
    """Trains parameters of narrow floats, e.g. of model.astype("bf16"), that are rounded copies of masters in the
    state. Masters of all digits are those of init(model) before astype."""

    optimizer: SGD | Adam

    def __post_init__(self) -> None:
        _check_inner(self.optimizer)

    def init(self, parameters: Any) -> dict[str, Any]:
        masters = tree.map(lambda leaf: convert(leaf, element_of(_wide_dtype(leaf))), parameters)
        return {"masters": masters, **self.optimizer.init(masters)}

    def update(self, parameters: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if not is_tracing():
            compiled = _compiled_update(self, eager_target(parameters, gradients, state))
            return compiled(parameters, gradients, state)  # type: ignore[no-any-return]
        rest = {name: one for name, one in state.items() if name != "masters"}
        masters, state = self.optimizer.update(state["masters"], gradients, rest)
        copies = tree.map(lambda copy, master: master.astype(tensor(copy).element_type), parameters, masters)
        copies = with_statistics(copies, statistics_of(parameters))
        return copies, {"masters": masters, **state}


@dataclasses.dataclass(frozen=True)
class StochasticRounding:
    """Trains parameters of bf16 or f16 without masters. Updates are rounded stochastically, so that changes below half
    an ulp are kept on average. The seed, the number of the step and that of the parameter make the key."""

    optimizer: SGD | Adam
    seed: int = 0

    def __post_init__(self) -> None:
        _check_inner(self.optimizer)
        object.__setattr__(self, "seed", whole("seed", self.seed, -(2**63)))

    def init(self, parameters: Any) -> dict[str, Any]:
        return self.optimizer.init(parameters)

    def update(self, parameters: Any, gradients: Any, state: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if not is_tracing():
            compiled = _compiled_update(self, eager_target(parameters, gradients, state))
            return compiled(parameters, gradients, state)  # type: ignore[no-any-return]
        made, state = self.optimizer.update(tree.map(wide, parameters), gradients, state)
        key = ops.rng_bits(random.key(self.seed), state["step"].astype("i64"), type="tensor<i64>")
        leaves, form = tree.flatten(made)
        for index, old in enumerate(map(tensor, tree.leaves(parameters))):
            if leaves[index].element_type != old.element_type:
                own = ops.rng_bits(key, random.key(index), type="tensor<i64>")
                leaves[index] = round_stochastically(leaves[index], own, old.element_type)
        return tree.unflatten(form, leaves), state


def round_stochastically(value: Tensor, key: Tensor, element: str) -> Tensor:
    """ad.cast_stochastic with the index of each element, in memory order, as its counter."""
    counters = ops.iota(axis=0, type=format_type("i64", (math.prod(value.shape),))).reshape(value.shape)
    return ops.cast_stochastic(value, key, counters, type=format_type(element, value.shape))


# Gradients and rates.


def global_norm(gradients: Any) -> Tensor:
    """The root of the sum of the squares of all elements, in f32 or f64."""
    squares = [numpy.sum(numpy.square(wide(leaf))) for leaf in tree.leaves(gradients)]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return numpy.sqrt(total)


def clip_by_global_norm(gradients: Any, max_norm: float) -> tuple[Any, Tensor]:
    """The gradients times min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ has it, and their
    norm."""
    if not isinstance(max_norm, Tensor):
        number("max_norm", max_norm, 0, above=True)
    norm = global_norm(gradients)
    factor = numpy.minimum(max_norm / (norm + 1e-6), 1.0)
    return tree.map(lambda leaf: (leaf * factor).astype(tensor(leaf).element_type), gradients), norm


def linear_warmup(peak: float, steps: int, total: int | None = None) -> Callable[[Tensor], Tensor]:
    """Rises to `peak` in the first steps, then falls to 0 at `total`, if that is given."""
    peak, steps = number("peak", peak, 0), whole("steps", steps, 0)
    total = None if total is None else whole("total", total, 0)

    def rate(step: Tensor) -> Tensor:
        made = peak * numpy.minimum((step + 1) / max(steps, 1), 1.0)
        if total is None:
            return made
        return made * numpy.clip((total - step) / max(total - steps, 1), min=0.0, max=1.0)

    return rate


def cosine(peak: float, total: int, warmup: int = 0, floor: float = 0.0) -> Callable[[Tensor], Tensor]:
    """Rises to `peak` in `warmup` steps, then falls to `floor` along half a cosine, until `total`."""
    peak, floor = number("peak", peak, 0), number("floor", floor, 0)
    total, warmup = whole("total", total, 0), whole("warmup", warmup, 0)

    def rate(step: Tensor) -> Tensor:
        part = numpy.clip((step - warmup) / max(total - warmup, 1), min=0.0, max=1.0)
        falling = floor + (peak - floor) * 0.5 * (1 + numpy.cos(part * numpy.pi))
        return numpy.where(step < warmup, peak * (step + 1) / max(warmup, 1), falling)

    return rate
