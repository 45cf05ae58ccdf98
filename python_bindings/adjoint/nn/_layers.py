# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Layers of one operation, activations and losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._checks import choice, flag, number, whole
from .._errors import OptionTypeError
from .._tensor import Tensor
from . import functional as f
from ._module import Initializer, Module, initializer, ones, zeros


class Linear(Module):
    """x @ weight.T + bias. First values are uniform in ±1 / sqrt(in_features)."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        in_features, out_features = whole("in_features", in_features, 0), whole("out_features", out_features, 0)
        draw, bound = initializer(key), 1 / math.sqrt(in_features) if in_features else 0.0
        self.weight = draw.uniform((out_features, in_features), bound, dtype)
        self.bias = draw.uniform((out_features,), bound, dtype) if flag("bias", bias) else None

    def forward(self, x: Any) -> Tensor:
        return f.linear(x, self.weight, self.bias)


class Embedding(Module):
    """Rows of the weight by their numbers. First values are normal, and zeros in the row `padding_idx`, which stays as it
    is: it gets no gradient."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        rows, size = whole("num_embeddings", num_embeddings), whole("embedding_dim", embedding_dim)
        self.weight = initializer(key).normal((rows, size), dtype)
        self.padding_idx = None
        if padding_idx is not None:
            self.padding_idx = whole("padding_idx", padding_idx, -rows, rows - 1) % rows
            self.weight[self.padding_idx] = np.zeros((), self.weight.dtype)

    def forward(self, input: Any) -> Tensor:
        return f.embedding(input, self.weight, self.padding_idx)


class LayerNorm(Module):
    """Of the last axis."""

    def __init__(self, normalized_shape: int, eps: float = 1e-5, *, dtype: Any = "f32"):
        size = whole("normalized_shape", normalized_shape)
        self.weight, self.bias = ones((size,), dtype), zeros((size,), dtype)
        self.eps = number("eps", eps, 0)

    def forward(self, x: Any) -> Tensor:
        return f.layer_norm(x, self.weight, self.bias, self.eps)


class RMSNorm(Module):
    """Of the last axis."""

    def __init__(self, normalized_shape: int, eps: float = 1e-6, *, dtype: Any = "f32"):
        self.weight = ones((whole("normalized_shape", normalized_shape),), dtype)
        self.eps = number("eps", eps, 0)

    def forward(self, x: Any) -> Tensor:
        return f.rms_norm(x, self.weight, self.eps)


class Sequential(Module):
    """Layers one after the other."""

    def __init__(self, *layers: Any):
        for index, layer in enumerate(layers):
            if not callable(layer):
                raise OptionTypeError(f"expected layers of Sequential as modules or functions, got {layer!r}")
            setattr(self, str(index), layer)

    def __iter__(self) -> Iterator[Any]:
        return iter([vars(self)[name] for name in sorted(vars(self), key=int)])

    def __len__(self) -> int:
        return len(vars(self))

    def __getitem__(self, index: int) -> Any:
        return list(self)[index]

    def forward(self, x: Any) -> Any:
        for layer in self:
            x = layer(x)
        return x


class _Function(Module):
    """A function with its arguments as a layer."""

    def __init__(self, function: Callable[..., Tensor], *arguments: Any):
        self.function, self.arguments = function, arguments

    def forward(self, *inputs: Any) -> Tensor:
        return self.function(*inputs, *self.arguments)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {', '.join(map(str, self.arguments))}>"


class ReLU(_Function):
    def __init__(self) -> None:
        super().__init__(f.relu)


class LeakyReLU(_Function):
    def __init__(self, negative_slope: float = 0.01):
        super().__init__(f.leaky_relu, number("negative_slope", negative_slope))


class ELU(_Function):
    def __init__(self, alpha: float = 1.0):
        super().__init__(f.elu, number("alpha", alpha))


class GELU(_Function):
    def __init__(self, approximate: str = "none"):
        super().__init__(f.gelu, choice("approximate", approximate, ("none", "tanh")))


class SiLU(_Function):
    def __init__(self) -> None:
        super().__init__(f.silu)


class Sigmoid(_Function):
    def __init__(self) -> None:
        super().__init__(f.sigmoid)


class Tanh(_Function):
    def __init__(self) -> None:
        super().__init__(f.tanh)


class Softplus(_Function):
    def __init__(self, beta: float = 1.0):
        super().__init__(f.softplus, number("beta", beta, 0, above=True))


class Softmax(_Function):
    def __init__(self, dim: int = -1):
        super().__init__(f.softmax, whole("dim", dim, -64, 63))


class LogSoftmax(_Function):
    def __init__(self, dim: int = -1):
        super().__init__(f.log_softmax, whole("dim", dim, -64, 63))


class _Loss(_Function):
    def __init__(self, function: Callable[..., Tensor], reduction: str, *arguments: Any):
        super().__init__(function, choice("reduction", reduction, f.REDUCTIONS), *arguments)


class MSELoss(_Loss):
    def __init__(self, reduction: str = "mean"):
        super().__init__(f.mse_loss, reduction)


class L1Loss(_Loss):
    def __init__(self, reduction: str = "mean"):
        super().__init__(f.l1_loss, reduction)


class SmoothL1Loss(_Loss):
    def __init__(self, reduction: str = "mean", beta: float = 1.0):
        super().__init__(f.smooth_l1_loss, reduction, number("beta", beta, 0))


class HuberLoss(_Loss):
    def __init__(self, reduction: str = "mean", delta: float = 1.0):
        super().__init__(f.huber_loss, reduction, number("delta", delta, 0, above=True))


class CrossEntropyLoss(_Loss):
    """Classes are the last axis; in PyTorch they are axis 1."""

    def __init__(self, reduction: str = "mean", ignore_index: int = -100):
        super().__init__(f.cross_entropy, reduction, whole("ignore_index", ignore_index, -(2**63)))


class NLLLoss(_Loss):
    def __init__(self, reduction: str = "mean", ignore_index: int = -100):
        super().__init__(f.nll_loss, reduction, whole("ignore_index", ignore_index, -(2**63)))


class BCELoss(_Loss):
    def __init__(self, reduction: str = "mean"):
        super().__init__(f.binary_cross_entropy, reduction)


class BCEWithLogitsLoss(_Loss):
    def __init__(self, reduction: str = "mean"):
        super().__init__(f.binary_cross_entropy_with_logits, reduction)


class KLDivLoss(_Loss):
    def __init__(self, reduction: str = "mean"):
        super().__init__(f.kl_div, reduction)
