# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Steps on batches of 256, whose gradients are sums over four parts that need less memory."""

import operator
from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor, nn, optim

PARTS = 4
optimizer = optim.SGD(0.1, momentum=0.9)


def make_model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 32, key=1), nn.Tanh(), nn.Linear(32, 1, key=2))


def batches(count: int, size: int = 256) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.standard_normal((count, size, 8)).astype(np.float32)
    return x, np.sin(x).sum(axis=2, keepdims=True)


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.mse_loss(model(x), y)


@adjoint.jit
def step(model: nn.Module, state: Any, x: Tensor, y: Tensor) -> tuple[Any, Any, Tensor]:
    def add(total: Any, part: tuple[Tensor, Tensor]) -> tuple[Any, Tensor]:
        value, gradient = adjoint.value_and_grad(loss)(model, *part)
        return adjoint.tree.map(operator.add, total, gradient), value

    parts = tuple(one.reshape(PARTS, -1, one.shape[1]) for one in (x, y))
    total, values = adjoint.scan(add, adjoint.tree.map(anp.zeros_like, model), parts)
    gradient = adjoint.tree.map(lambda leaf: leaf / PARTS, total)
    model, state = optimizer.update(model, gradient, state)
    return model, state, values.mean()


def train(model: nn.Module, data: tuple[np.ndarray, np.ndarray]) -> tuple[nn.Module, list[float]]:
    state, losses = optimizer.init(model), []
    for x, y in zip(*data):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(), batches(50))
    print(f"loss {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}")
