# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""An LSTM reads sequences of 50 numbers and learns to add the two that are marked."""

from typing import Any

import adjoint
import numpy as np
from adjoint import Tensor, nn, optim

optimizer = optim.Adam(1e-2)


def make_model() -> tuple[nn.LSTM, nn.Linear]:
    return nn.LSTM(2, 32, key=1), nn.Linear(32, 1, key=2)


def sequences(count: int, length: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and marks, and the sum of the two marked numbers of each sequence."""
    random = np.random.default_rng(0)
    numbers, marks = random.random((count, length)), np.zeros((count, length))
    for row in range(count):
        marks[row, random.choice(length, 2, replace=False)] = 1
    return np.stack([numbers, marks], axis=2).astype(np.float32), (numbers * marks).sum(1).astype(np.float32)


def loss(model: tuple[nn.LSTM, nn.Linear], x: Tensor, y: Tensor) -> Tensor:
    lstm, head = model
    _, (h, _) = lstm(x)
    return nn.functional.mse_loss(head(h)[:, 0], y)


@adjoint.jit
def step(model: tuple[nn.LSTM, nn.Linear], state: Any, x: Tensor, y: Tensor) -> tuple[Any, Any, Tensor]:
    value, gradient = adjoint.value_and_grad(loss)(model, x, y)
    model, state = optimizer.update(model, gradient, state)
    return model, state, value


def train(model: tuple[nn.LSTM, nn.Linear], x: np.ndarray, y: np.ndarray, steps: int) -> tuple[Any, list[float]]:
    state, losses = optimizer.init(model), []
    for _ in range(steps):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(), *sequences(64), 100)
    print(f"loss {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}")
