# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of layers, with the names, arguments and defaults of torch.nn.functional."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import numpy, ops, random
from .._arithmetic import floating, in_wide
from .._checks import choice, flag, number, whole
from .._constants import tensor
from .._device import DeviceArray
from .._errors import OptionError, OptionTypeError, TracingError
from .._lookup import index_of, index_tensor
from .._products import matmul
from .._shapes import axes_of
from .._tensor import Tensor
from .._types import INTEGERS
from ._dot_product import scaled_dot_product_attention as scaled_dot_product_attention
from ._norms import batch_norm as batch_norm, group_norm as group_norm, instance_norm as instance_norm
from ._windows import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
    adaptive_avg_pool2d as adaptive_avg_pool2d,
    adaptive_avg_pool3d as adaptive_avg_pool3d,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    conv_transpose1d as conv_transpose1d,
    conv_transpose2d as conv_transpose2d,
    conv_transpose3d as conv_transpose3d,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """input @ weight.T + bias."""
    made = matmul(input, tensor(weight).T)
    return made if bias is None else made + bias


def relu(x: Any) -> Tensor:
    return ops.relu(floating(x))


def _factor(name: str, value: Any) -> Any:
    """A number, or a tensor such as a parameter."""
    return value if isinstance(value, (Tensor, np.ndarray, DeviceArray)) else number(name, value)


def _with_factor(function: Callable[[Tensor, Any], Tensor], x: Any, factor: Any) -> Tensor:
    """A function of elements and a factor, which is rounded to no narrow type if it is a number."""
    if isinstance(factor, float):
        return in_wide(lambda value: function(value, factor), x)
    return in_wide(function, x, factor)


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Tensor:
    slope = _factor("negative_slope", negative_slope)
    return _with_factor(lambda value, slope: numpy.where(value > 0, value, value * slope), x, slope)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    def function(value: Tensor, factor: Any) -> Tensor:
        return numpy.where(value > 0, value, factor * numpy.expm1(numpy.minimum(value, 0)))

    return _with_factor(function, x, _factor("alpha", alpha))


def gelu(x: Any, approximate: str = "none") -> Tensor:
    choice("approximate", approximate, ("none", "tanh"))
    return ops.gelu(floating(x), form=approximate)  # type: ignore[arg-type]


def silu(x: Any) -> Tensor:
    return ops.silu(floating(x))


def sigmoid(x: Any) -> Tensor:
    return ops.sigmoid(floating(x))


def tanh(x: Any) -> Tensor:
    return ops.tanh(floating(x))


def softplus(x: Any, beta: float = 1.0) -> Tensor:
    beta = number("beta", beta, 0, above=True)
    return in_wide(lambda value: ops.softplus(value * beta) / beta, x) if beta != 1.0 else ops.softplus(floating(x))


def softmax(x: Any, dim: int = -1) -> Tensor:
    value = floating(x)
    return ops.softmax(value, axis=axes_of(dim, value.ndim)[0])


def log_softmax(x: Any, dim: int = -1) -> Tensor:
    value = floating(x)
    return ops.log_softmax(value, axis=axes_of(dim, value.ndim)[0])


def logsumexp(x: Any, dim: int | tuple[int, ...], keepdim: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials along an axis, or several."""
    value = floating(x)
    if dim is None:
        raise OptionTypeError("expected dim as an axis or a tuple of axes, got None")
    axes = sorted(axes_of(dim, value.ndim))
    others = [axis for axis in range(value.ndim) if axis not in axes]
    rows = numpy.permute_dims(value, (*others, *axes)).reshape((*(value.shape[axis] for axis in others), -1))
    made = ops.logsumexp(rows, axis=len(others))
    return numpy.expand_dims(made, axis=tuple(axes)) if flag("keepdim", keepdim) else made


def rotary_embedding(x: Any, positions: Any, base: float = 10000.0, interleaved: bool = False) -> Tensor:
    """Rotary positions of (…, length, size): halves of the last axis, or its adjacent elements, are rotated together.
    `positions` are integers that broadcast to (…, length)."""
    try:
        places = index_tensor(index_of(positions))
    except (TypeError, ValueError, TracingError) as error:
        raise OptionTypeError(f"expected positions as integers, got {positions!r}") from error
    return ops.rotary_embedding(
        floating(x),
        places,
        base=number("base", base, 0, above=True),
        interleaved=flag("interleaved", interleaved),
    )


def layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Tensor:
    """Of the last axis."""
    return ops.layer_norm(floating(x), weight, bias, epsilon=number("eps", eps, 0))


def rms_norm(x: Any, weight: Any, eps: float = 1e-6) -> Tensor:
    """Of the last axis."""
    return ops.rms_norm(floating(x), weight, epsilon=number("eps", eps, 0))


def embedding(input: Any, weight: Any, padding_idx: int | None = None) -> Tensor:
    """Rows of the weight by their numbers. A number that is no row, such as a negative one, is an error of the run. The row
    `padding_idx` gets no gradient."""
    table = floating(weight)
    if table.ndim != 2:
        raise TracingError(f"expected the weight of an embedding as a tensor of rank 2, got {table}")
    rows = table._static[0]
    if padding_idx is not None:
        padding_idx = whole("padding_idx", padding_idx, *((0,) if rows is None else (-rows, rows - 1)))
        padding_idx = padding_idx if rows is None else padding_idx % rows
    return ops.embedding(table, index_tensor(index_of(input)), padding=padding_idx)


def dropout(x: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Tensor:
    """Zeros elements with probability p and scales the others by 1 / (1 - p). `key` is that of adjoint.random."""
    if number("p", p, 0) >= 1:
        raise OptionError(f"expected p as a probability below 1, got {p}")
    if not training or p == 0:
        return tensor(x)
    if key is None:
        raise OptionError("dropout in training needs a key; adjoint.random.split makes one for each layer and step")
    return ops.dropout(floating(x), random.as_key(key), numpy.zeros((), dtype="i64"), rate=p)


# Losses.

REDUCTIONS = ("none", "mean", "sum")


# Those of narrow floats are computed in f32 and rounded once.


def _reduced(values: Tensor, reduction: str) -> Tensor:
    choice("reduction", reduction, REDUCTIONS)
    if reduction == "none":
        return values
    return values.mean() if reduction == "mean" else values.sum()


def _elementwise(function: Callable[[Tensor, Tensor], Tensor], input: Any, target: Any) -> Tensor:
    """A loss of each element: shapes that broadcast are nearly always a mistake, unless the target is one number."""
    value, goal = tensor(input), tensor(target)
    pairs = zip(value._static, goal._static)
    if goal.ndim and (value.ndim != goal.ndim or any(None not in pair and pair[0] != pair[1] for pair in pairs)):
        raise TracingError(f"expected the target in the shape of the input, got {goal} for {value}")
    return in_wide(function, input, target)


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    return _elementwise(lambda value, goal: _reduced(numpy.square(value - goal), reduction), input, target)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    return _elementwise(lambda value, goal: _reduced(builtins.abs(value - goal), reduction), input, target)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    beta = number("beta", beta, 0)
    if beta == 0:
        return l1_loss(input, target, reduction)

    def function(value: Tensor, goal: Tensor) -> Tensor:
        distance = builtins.abs(value - goal)
        near, far = 0.5 * distance * distance / beta, distance - 0.5 * beta
        return _reduced(numpy.where(distance < beta, near, far), reduction)

    return _elementwise(function, input, target)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    delta = number("delta", delta, 0, above=True)

    def function(value: Tensor, goal: Tensor) -> Tensor:
        distance = builtins.abs(value - goal)
        near, far = 0.5 * distance * distance, delta * (distance - 0.5 * delta)
        return _reduced(numpy.where(distance <= delta, near, far), reduction)

    return _elementwise(function, input, target)


def cross_entropy(input: Any, target: Any, reduction: str = "mean", ignore_index: int = -100) -> Tensor:
    """Of scores (…, classes) whose last axis are the classes, with numbers of classes or probabilities. PyTorch's
    second axis are the classes for more than two axes: move it to the end there. Rows with `ignore_index` do not count;
    another number that is no class is an error when the loss is computed."""
    scores, labels = floating(input), tensor(target)
    if labels.element_type not in INTEGERS:
        return _reduced(ops.cross_entropy(scores, labels.astype(scores.element_type)), reduction)
    labels, ignored = _labels(labels, ignore_index)
    losses = ops.cross_entropy(scores, labels, ignored=ignored)
    return _mean_of_counted(losses, labels != ignored, reduction)


def nll_loss(input: Any, target: Any, reduction: str = "mean", ignore_index: int = -100) -> Tensor:
    """Of logarithms of probabilities (…, classes) and numbers of classes, as cross_entropy has them."""
    logs, labels = floating(input), tensor(target)
    if labels.element_type not in INTEGERS:
        raise TracingError(f"expected numbers of classes, got {labels}")
    labels, ignored = _labels(labels, ignore_index)
    is_counted = labels != ignored
    # The first class in place of those that do not count.
    rows = [*range(labels.ndim)]
    inside = numpy.where(is_counted, labels, 0)
    chosen = ops.gather(logs, [inside], axes=[labels.ndim], batch=rows, index_batch=rows)
    losses = numpy.where(is_counted, -chosen, 0)
    return _mean_of_counted(losses, is_counted, reduction)


def _labels(labels: Tensor, ignore_index: Any) -> tuple[Tensor, int]:
    """Numbers of classes of a type that the loss takes, and the one that does not count."""
    ignored = whole("ignore_index", ignore_index, low=-(2**63))
    labels = labels.astype("i32") if labels.element_type == "i8" else labels
    if labels.element_type == "i32" and not -(2**31) <= ignored < 2**31:
        raise OptionError(f"expected ignore_index as a number of type i32, as the classes are, got {ignored}")
    return labels, ignored


def _mean_of_counted(losses: Tensor, is_counted: Tensor, reduction: str) -> Tensor:
    if reduction != "mean":
        return _reduced(losses, reduction)
    return in_wide(lambda value: value.sum() / is_counted.astype(value.element_type).sum(), losses)


def binary_cross_entropy_with_logits(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    def function(value: Tensor, goal: Tensor) -> Tensor:
        losses = numpy.maximum(value, 0) - value * goal + numpy.log1p(numpy.exp(-builtins.abs(value)))
        return _reduced(losses, reduction)

    return _elementwise(function, input, target)


def binary_cross_entropy(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Logarithms are at least -100, as in PyTorch. An input outside of 0 to 1, which PyTorch refuses, has one logarithm of
    -100 and one above 0."""
    def function(value: Tensor, goal: Tensor) -> Tensor:
        # A logarithm of 0 would make the gradient NaN.
        positive, negative = (
            numpy.where(one > 0, numpy.maximum(numpy.log(numpy.where(one > 0, one, 1)), -100.0), -100.0)
            for one in (value, 1 - value)
        )
        return _reduced(-(goal * positive + (1 - goal) * negative), reduction)

    return _elementwise(function, input, target)


def kl_div(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """target * (log(target) - input), 0 where the target is 0."""
    def function(value: Tensor, goal: Tensor) -> Tensor:
        logs = numpy.log(numpy.where(goal > 0, goal, 1))
        return _reduced(goal * (logs - value), reduction)

    return _elementwise(function, input, target)


def one_hot(labels: Any, num_classes: int, dtype: Any = "f32") -> Tensor:
    """Rows of zeros with a one at the class; without it for a number that is no class."""
    value, num_classes = tensor(labels), whole("num_classes", num_classes)
    return (numpy.expand_dims(value, axis=-1) == numpy.arange(num_classes, dtype=value.element_type)).astype(dtype)
