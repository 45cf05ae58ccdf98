# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The transformer encoder of the reference system, which trains for 500 steps: each head has its own projections, and
scores are divided by the root of the width of the model."""

import itertools
from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor, nn, optim


class Attention(nn.Module):
    def __init__(self, size: int, heads: int):
        self.heads = [[nn.Linear(size, size // heads, bias=False) for _ in "qkv"] for _ in range(heads)]
        self.merge, self.scale = nn.Linear(size, size, bias=False), size**-0.5

    def forward(self, x: Tensor) -> Any:
        attend = nn.functional.scaled_dot_product_attention
        made = [attend(q(x), k(x), v(x), scale=self.scale) for q, k, v in self.heads]
        return self.merge(anp.concat(made, axis=-1))


class Layer(nn.Module):
    def __init__(self, size: int, heads: int, inner: int):
        self.attention, self.norm1, self.norm2 = Attention(size, heads), nn.LayerNorm(size), nn.LayerNorm(size)
        self.feed_forward = nn.Sequential(nn.Linear(size, inner), nn.ReLU(), nn.Linear(inner, size))

    def forward(self, x: Tensor) -> Any:
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.feed_forward(x))


def make_model(layers: int = 6) -> nn.Sequential:
    return nn.Sequential(*(Layer(64, 4, 128) for _ in range(layers)))


if __name__ == "__main__":
    data = itertools.repeat(np.full((2, 64), 0.3, np.float32))
    trained = adjoint.Trainer(lambda model, x: model(x).sum(), optim.SGD(0.01)).fit(make_model(), data, 500)
    print(f"Number of params: {len(list(trained.model.parameters()))}, loss {trained.losses[-1]:.4f}")
