# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of layers, with the names, arguments and defaults of torch.nn.functional."""

from __future__ import annotations

import builtins
import math
from typing import Any

from .. import numpy, ops, random
from .._arithmetic import floating
from .._constants import tensor
from .._errors import OptionError, TracingError
from .._products import matmul
from .._shapes import axes_of
from .._tensor import Tensor
from .._types import INTEGERS


def linear(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """input @ weight.T + bias."""
    made = matmul(input, tensor(weight).T)
    return made if bias is None else made + bias


def relu(x: Any) -> Tensor:
    return ops.relu(floating(x))


def leaky_relu(x: Any, negative_slope: float = 0.01) -> Tensor:
    return numpy.where(x > 0, x, x * negative_slope)


def elu(x: Any, alpha: float = 1.0) -> Tensor:
    return numpy.where(x > 0, x, alpha * numpy.expm1(numpy.minimum(x, 0)))


def gelu(x: Any, approximate: str = "none") -> Tensor:
    if approximate not in ("none", "tanh"):
        raise OptionError(f"expected approximate as 'none' or 'tanh', got {approximate!r}")
    return ops.gelu(floating(x), form=approximate)  # type: ignore[arg-type]


def silu(x: Any) -> Tensor:
    return ops.silu(floating(x))


def sigmoid(x: Any) -> Tensor:
    return ops.sigmoid(floating(x))


def tanh(x: Any) -> Tensor:
    return ops.tanh(floating(x))


def softplus(x: Any, beta: float = 1.0) -> Tensor:
    made = ops.softplus(floating(x) * beta if beta != 1.0 else floating(x))
    return made if beta == 1.0 else made / beta


def softmax(x: Any, dim: int = -1) -> Tensor:
    value = floating(x)
    return ops.softmax(value, axis=axes_of(dim, value.ndim)[0])


def log_softmax(x: Any, dim: int = -1) -> Tensor:
    value = floating(x)
    return ops.log_softmax(value, axis=axes_of(dim, value.ndim)[0])


def layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Tensor:
    """Of the last axis."""
    return ops.layer_norm(floating(x), weight, bias, epsilon=eps)


def rms_norm(x: Any, weight: Any, eps: float = 1e-6) -> Tensor:
    """Of the last axis."""
    return ops.rms_norm(floating(x), weight, epsilon=eps)


def dropout(x: Any, p: float = 0.5, training: bool = True, *, key: Any = None) -> Tensor:
    """Zeros elements with probability p and scales the others by 1 / (1 - p). `key` is that of adjoint.random."""
    if not 0 <= p < 1:
        raise OptionError(f"expected a probability below 1, got {p}")
    if not training or p == 0:
        return tensor(x)
    if key is None:
        raise OptionError("dropout in training needs a key; adjoint.random.split makes one for each layer and step")
    value = tensor(x)
    return numpy.where(random.uniform(key, value.shape) >= p, value / (1 - p), 0)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Of tensors (…, heads, length, size); a boolean mask says which keys take part, another one is added to the
    scores."""
    query, key, value = tensor(query), tensor(key), tensor(value)
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        groups = query.shape[-3] // key.shape[-3]
        key, value = (numpy.repeat(one, groups, axis=-3) for one in (key, value))
    scores = matmul(query, key.mT) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        rows = numpy.expand_dims(numpy.arange(query.shape[-2]), axis=1)
        scores = numpy.where(numpy.arange(key.shape[-2]) <= rows, scores, -math.inf)
    if attn_mask is not None:
        mask = tensor(attn_mask)
        scores = numpy.where(mask, scores, -math.inf) if mask.element_type == "i1" else scores + mask
    return matmul(softmax(scores), value)


# Losses.


def _reduced(values: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return values
    if reduction not in ("mean", "sum"):
        raise OptionError(f"expected reduction as 'none', 'mean' or 'sum', got {reduction!r}")
    return values.mean() if reduction == "mean" else values.sum()


def mse_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    return _reduced(numpy.square(tensor(input) - target), reduction)


def l1_loss(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    return _reduced(builtins.abs(tensor(input) - target), reduction)


def smooth_l1_loss(input: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    if beta == 0:
        return l1_loss(input, target, reduction)
    distance = builtins.abs(tensor(input) - target)
    return _reduced(numpy.where(distance < beta, 0.5 * distance * distance / beta, distance - 0.5 * beta), reduction)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    distance = builtins.abs(tensor(input) - target)
    return _reduced(
        numpy.where(distance <= delta, 0.5 * distance * distance, delta * (distance - 0.5 * delta)), reduction
    )


def cross_entropy(input: Any, target: Any, reduction: str = "mean", ignore_index: int = -100) -> Tensor:
    """Of scores (…, classes) whose last axis are the classes, with numbers of classes or probabilities. PyTorch's
    second axis are the classes for more than two axes: move it to the end there. Rows with `ignore_index` or another negative
    number do not count."""
    scores, labels = floating(input), tensor(target)
    if labels.element_type not in INTEGERS:
        return _reduced(ops.cross_entropy(scores, labels.astype(scores.element_type)), reduction)
    losses = ops.cross_entropy(scores, labels, ignored=None if ignore_index < 0 else ignore_index)
    if reduction != "mean":
        return _reduced(losses, reduction)
    counted = (labels != ignore_index) & (labels >= 0)
    return losses.sum() / counted.astype(losses.element_type).sum()


def nll_loss(input: Any, target: Any, reduction: str = "mean", ignore_index: int = -100) -> Tensor:
    """Of logarithms of probabilities (…, classes) and numbers of classes, as cross_entropy has them."""
    logs, labels = floating(input), tensor(target)
    if labels.element_type not in INTEGERS:
        raise TracingError(f"expected numbers of classes, got {labels}")
    is_counted = (labels != ignore_index) & (labels >= 0)
    chosen = numpy.expand_dims(labels, axis=-1) == numpy.arange(logs.shape[-1], dtype=labels.element_type)
    losses = numpy.where(is_counted, -numpy.sum(numpy.where(chosen, logs, 0), axis=-1), 0)
    if reduction != "mean":
        return _reduced(losses, reduction)
    return losses.sum() / is_counted.astype(losses.element_type).sum()


def binary_cross_entropy_with_logits(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    value = floating(input)
    return _reduced(numpy.maximum(value, 0) - value * target + numpy.log1p(numpy.exp(-builtins.abs(value))), reduction)


def binary_cross_entropy(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """Logarithms are at least -100, as in PyTorch."""
    value = floating(input)
    # A logarithm of 0 would make the gradient NaN.
    positive, negative = (
        numpy.where(one > 0, numpy.maximum(numpy.log(numpy.where(one > 0, one, 1)), -100.0), -100.0)
        for one in (value, 1 - value)
    )
    return _reduced(-(target * positive + (1 - tensor(target, value.element_type)) * negative), reduction)


def kl_div(input: Any, target: Any, reduction: str = "mean") -> Tensor:
    """target * (log(target) - input), 0 where the target is 0."""
    goal = floating(target)
    logs = numpy.log(numpy.where(goal > 0, goal, 1))
    return _reduced(goal * (logs - input), reduction)


def one_hot(labels: Any, num_classes: int, dtype: Any = "f32") -> Tensor:
    value = tensor(labels)
    return (numpy.expand_dims(value, axis=-1) == numpy.arange(num_classes, dtype=value.element_type)).astype(dtype)
