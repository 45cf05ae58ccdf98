# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A multilayer perceptron learns, with AdamW, on which of three spirals a point lies."""

from typing import Any

import adjoint
import numpy as np
from adjoint import Tensor, nn, optim

optimizer = optim.AdamW(1e-2)


def make_model() -> nn.Sequential:
    hidden = [nn.Linear(2, 64, key=1), nn.ReLU(), nn.Linear(64, 64, key=2), nn.ReLU()]
    return nn.Sequential(*hidden, nn.Linear(64, 3, key=3))


def spirals(count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    labels, radius = random.integers(0, 3, count), random.random(count)
    angle = 4 * radius + 2 * np.pi / 3 * labels
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype(np.float32), labels.astype(np.int32)


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.cross_entropy(model(x), y)


@adjoint.jit
def step(model: nn.Module, state: Any, x: Tensor, y: Tensor) -> tuple[Any, Any, Tensor]:
    value, gradient = adjoint.value_and_grad(loss)(model, x, y)
    model, state = optimizer.update(model, gradient, state)
    return model, state, value


def train(model: nn.Module, x: np.ndarray, y: np.ndarray, steps: int) -> tuple[nn.Module, list[float]]:
    state, losses = optimizer.init(model), []
    for _ in range(steps):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    x, y = spirals(300)
    model, losses = train(make_model(), x, y, 200)
    predict = adjoint.jit(lambda model, x: model(x))
    accuracy = (predict(model, x).argmax(axis=1) == y).mean()
    print(f"loss {losses[0]:.3f}, after {len(losses)} steps {losses[-1]:.3f}; accuracy {accuracy:.3f}")
