# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Norms of batches, of groups of channels and of channels: functions and layers with the names and defaults of PyTorch.
Inputs are (batch, channels, …)."""

from __future__ import annotations

from typing import Any

from .. import numpy, ops
from .._arithmetic import floating, in_wide
from .._checks import flag, number, whole
from .._derivatives import stop_gradient
from .._errors import OptionError, TracingError
from .._scaling import wide
from .._tensor import Tensor
from ._module import Module, ones, zeros


def _channels_of(input: Tensor) -> int:
    channels = input._static[1] if input.ndim >= 2 else None
    if channels is None:
        raise TracingError(f"expected an input (batch, channels, …) with a known number of channels, got {input}")
    return channels


def _for_each_channel(name: str, value: Any, channels: int, rank: int) -> Tensor:
    factor = floating(value)
    if factor._static != (channels,):
        raise TracingError(f"expected the {name} with an element for each of {channels} channels, got {factor}")
    return factor.reshape((channels, *[1] * (rank - 2)))


def _affine(made: Tensor, given: dict[str, Tensor]) -> Tensor:
    """Times the weight plus the bias, if they are given."""
    made = made * given["weight"] if "weight" in given else made
    return made + given["bias"] if "bias" in given else made


def _normalized(input: Tensor, groups: int, eps: float) -> Tensor:
    """Each group of channels with all that is after them is one row of `ops.layer_norm`."""
    rows = input.reshape((input.shape[0], groups, -1))
    shape = (rows.shape[2],)
    element = rows.element_type
    made = ops.layer_norm(rows, numpy.ones(shape, dtype=element), numpy.zeros(shape, dtype=element), epsilon=eps)
    return made.reshape(input.shape)


def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(variance + eps) over each group of channels and all axes after them, times `weight` plus `bias`,
    which have an element for each channel. Narrow floats are computed in f32 and rounded once."""
    value, groups, small = floating(input), whole("num_groups", num_groups), number("eps", eps, 0)
    channels = _channels_of(value)
    if channels % groups:
        raise TracingError(f"expected a multiple of num_groups={groups} as the number of channels, got {value}")
    named = {"weight": weight, "bias": bias}
    factors = {name: _for_each_channel(name, one, channels, value.ndim) for name, one in named.items() if one is not None}

    def compute(x: Tensor, *operands: Tensor) -> Tensor:
        return _affine(_normalized(x, groups, small), dict(zip(factors, operands)))

    return in_wide(compute, value, *factors.values())


def instance_norm(input: Any, *, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """`group_norm` whose groups are the channels."""
    value = floating(input)
    return group_norm(value, _channels_of(value), weight, bias, eps)


class GroupNorm(Module):
    """`group_norm` of num_channels channels."""

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, *, dtype: Any = "f32"
    ):
        self.num_groups, channels = whole("num_groups", num_groups), whole("num_channels", num_channels)
        if channels % self.num_groups:
            raise OptionError(f"expected num_channels as a multiple of num_groups, got {channels} and {self.num_groups}")
        is_affine = flag("affine", affine)
        self.weight = ones((channels,), dtype) if is_affine else None
        self.bias = zeros((channels,), dtype) if is_affine else None
        self.eps = number("eps", eps, 0)

    def forward(self, input: Any) -> Tensor:
        return group_norm(input, self.num_groups, self.weight, self.bias, self.eps)


class _InstanceNorm(Module):
    """`instance_norm` of num_features channels, of an input with a batch or without one."""

    rank = 0

    def __init__(self, num_features: int, eps: float = 1e-5, *, affine: bool = False, dtype: Any = "f32"):
        self.num_features, is_affine = whole("num_features", num_features), flag("affine", affine)
        self.weight = ones((self.num_features,), dtype) if is_affine else None
        self.bias = zeros((self.num_features,), dtype) if is_affine else None
        self.eps = number("eps", eps, 0)

    def forward(self, input: Any) -> Tensor:
        value = floating(input)
        if value.ndim == self.rank + 1:
            return self.forward(value[None])[0]
        if value.ndim != self.rank + 2 or _channels_of(value) != self.num_features:
            raise TracingError(
                f"expected an input of rank {self.rank + 2}, or {self.rank + 1} without a batch, with "
                f"{self.num_features} channels, got {value}"
            )
        return instance_norm(value, weight=self.weight, bias=self.bias, eps=self.eps)


class InstanceNorm1d(_InstanceNorm):
    rank = 1


class InstanceNorm2d(_InstanceNorm):
    rank = 2


class InstanceNorm3d(_InstanceNorm):
    rank = 3


def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) with the given statistics of each channel, times `weight` plus `bias`. Those of
    the batch are computed and kept by the layers, such as adjoint.nn.BatchNorm2d."""
    value, small = floating(input), number("eps", eps, 0)
    channels = _channels_of(value)
    named = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    given = {
        name: wide(_for_each_channel(name, one, channels, value.ndim)) for name, one in named.items() if one is not None
    }
    made = (wide(value) - given["running_mean"]) / numpy.sqrt(given["running_var"] + small)
    return _affine(made, given).astype(value.element_type)


class _BatchNorm(Module):
    """In training, as a layer is at first, x is normalized by the mean and the variance of each channel over the batch, and
    the layer then has new statistics: a function that is traced returns the model to keep them. Those of `model.eval()`
    are used and kept as they are. Optimizers leave them alone."""

    ranks: tuple[int, ...] = ()
    statistics = ("running_mean", "running_var")

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        dtype: Any = "f32",
    ):
        self.num_features = whole("num_features", num_features)
        self.eps, self.momentum, self.training = number("eps", eps, 0), number("momentum", momentum, 0), True
        shape, is_affine = (self.num_features,), flag("affine", affine)
        self.weight = ones(shape, dtype) if is_affine else None
        self.bias = zeros(shape, dtype) if is_affine else None
        is_tracked = flag("track_running_stats", track_running_stats)
        self.running_mean: Any = zeros(shape, dtype) if is_tracked else None
        self.running_var: Any = ones(shape, dtype) if is_tracked else None

    def forward(self, input: Any) -> Tensor:
        value = floating(input)
        if value.ndim not in self.ranks or _channels_of(value) != self.num_features:
            ranks = " or ".join(map(str, self.ranks))
            raise TracingError(f"expected an input of rank {ranks} with {self.num_features} channels, got {value}")
        mean, variance = self.running_mean, self.running_var
        if self.training or mean is None:
            mean, variance = self._measure(wide(value))
        return batch_norm(value, mean, variance, self.weight, self.bias, eps=self.eps)

    def _measure(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The statistics of the batch, which change those of the layer: the variance by one element less, as PyTorch
        does."""
        axes = (0, *range(2, x.ndim))
        count: Any = 1
        for axis in axes:
            count = count * x.shape[axis]
        if isinstance(count, int) and count < 2:
            raise TracingError(f"expected two elements or more of each channel to train with, got {x}")
        mean = x.mean(axis=axes)
        centred = x - mean.reshape((-1, *[1] * (x.ndim - 2)))
        variance = numpy.square(centred).mean(axis=axes)
        if self.training and self.running_mean is not None:
            unbiased = variance * (count / (count - 1))
            self.running_mean = self._blended(self.running_mean, mean)
            self.running_var = self._blended(self.running_var, unbiased)
        return mean, variance

    def _blended(self, before: Any, found: Tensor) -> Any:
        kept = floating(before)
        made = wide(kept) * (1 - self.momentum) + found * self.momentum
        return stop_gradient(made.astype(kept.element_type))


class BatchNorm1d(_BatchNorm):
    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    ranks = (5,)
