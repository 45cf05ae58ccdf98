# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Causal attention with 8 heads, written out, and its gradient."""

from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor, nn

HEADS = 8


def attention(weights: dict[str, Tensor], x: Tensor) -> Tensor:
    batch, length, size = x.shape
    q, k, v = ((x @ weights[name]).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for name in "qkv")
    scores = q @ k.mT / (size // HEADS) ** 0.5
    mask = anp.tril(anp.ones((length, length), dtype=bool))
    made = nn.functional.softmax(anp.where(mask, scores, -anp.inf)) @ v
    return made.transpose(0, 2, 1, 3).reshape(batch, length, size) @ weights["o"]


def loss(weights: dict[str, Tensor], x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    made = attention(weights, x)
    return ((made - y) ** 2).mean(), made


@adjoint.jit
def run(weights: dict[str, Tensor], x: Tensor, y: Tensor) -> tuple[Any, ...]:
    (value, made), gradient = adjoint.value_and_grad(loss, has_aux=True)(weights, x, y)
    return value, made, gradient


def inputs(batch: int = 2, length: int = 16, size: int = 64) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    weights = {name: (random.standard_normal((size, size)) / size**0.5).astype(np.float32) for name in "qkvo"}
    x, y = random.standard_normal((2, batch, length, size)).astype(np.float32)
    return weights, x, y


if __name__ == "__main__":
    value, made, gradient = run(*inputs())
    print(f"loss {value:.4f}, gradient of the queries' weights {abs(gradient['q']).mean():.2e}")
