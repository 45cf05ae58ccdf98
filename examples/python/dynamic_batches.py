# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Batches of any size: one program takes all of them."""

from collections.abc import Iterator
from typing import Any

import adjoint
import numpy as np
from adjoint import Tensor, nn, optim

optimizer = optim.Adam(1e-2)


def make_model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(4, 16, key=1), nn.ReLU(), nn.Linear(16, 3, key=2))


def batches(count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(0)
    for size in random.integers(1, 65, count):
        x = random.standard_normal((size, 4)).astype(np.float32)
        yield x, np.abs(x[:, :3]).argmax(axis=1).astype(np.int32)


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.cross_entropy(model(x), y)


@adjoint.jit(specs=(None, None, adjoint.spec("batch 4"), adjoint.spec("batch", "i32")))
def step(model: nn.Module, state: Any, x: Tensor, y: Tensor) -> tuple[Any, Any, Tensor]:
    value, gradient = adjoint.value_and_grad(loss)(model, x, y)
    model, state = optimizer.update(model, gradient, state)
    return model, state, value


def train(model: nn.Module, data: Iterator[tuple[np.ndarray, np.ndarray]]) -> tuple[nn.Module, list[float]]:
    state, losses = optimizer.init(model), []
    for x, y in data:
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(), batches(200))
    print(f"mean loss {np.mean(losses[:20]):.3f} at first, {np.mean(losses[-20:]):.3f} at last")
