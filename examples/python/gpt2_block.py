# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A block of GPT-2 in bf16, and its gradient."""

from typing import Any

import adjoint
import adjoint.numpy as anp
import ml_dtypes
import numpy as np
from adjoint import Tensor, nn


class Block(nn.Module):
    def __init__(self, size: int, heads: int):
        self.ln_1, self.ln_2, self.heads = nn.LayerNorm(size), nn.LayerNorm(size), heads
        self.qkv, self.project = nn.Linear(size, 3 * size, key=1), nn.Linear(size, size, key=2)
        self.expand, self.contract = nn.Linear(size, 4 * size, key=3), nn.Linear(4 * size, size, key=4)

    def attend(self, x: Tensor) -> Any:
        batch, length, _ = x.shape
        parts = anp.split(self.qkv(x), 3, axis=-1)
        q, k, v = (part.reshape(batch, length, self.heads, -1).transpose(0, 2, 1, 3) for part in parts)
        made = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.project(made.transpose(0, 2, 1, 3).reshape(x.shape))

    def forward(self, x: Tensor) -> Any:
        x = x + self.attend(self.ln_1(x))
        return x + self.contract(nn.functional.gelu(self.expand(self.ln_2(x)), "tanh"))


def loss(block: Block, x: Tensor, y: Tensor) -> Any:
    return ((block(x).astype(y.dtype) - y) ** 2).mean()


run = adjoint.jit(adjoint.value_and_grad(loss))


def inputs(batch: int = 2, length: int = 16, size: int = 64) -> tuple[Any, ...]:
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, batch, length, size)).astype(np.float32)
    return Block(size, 8).astype("bf16"), x.astype(ml_dtypes.bfloat16), y


if __name__ == "__main__":
    value, gradient = run(*inputs())
    first = gradient.ln_1.weight.astype(np.float32)
    print(f"loss {value:.4f}, gradient of the first norm {abs(first).mean():.2e}")
