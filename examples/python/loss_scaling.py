# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training in f16 with parameters in f32: the loss is scaled, and steps whose gradients overflow are left out."""

from typing import Any

import adjoint
import numpy as np
from adjoint import Tensor, nn, optim

optimizer, scaling = optim.SGD(0.1, momentum=0.9), optim.LossScale(2.0**20, growth_interval=20)


def make_model() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 32, key=1), nn.Tanh(), nn.Linear(32, 1, key=2))


def points(count: int) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(0).standard_normal((count, 8)).astype(np.float32)
    return x, np.sin(x).sum(axis=1, keepdims=True)


def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.mse_loss(model.astype("f16")(x.astype("f16")).astype("f32"), y)


@adjoint.jit
def step(model: nn.Module, state: Any, scale: dict[str, Tensor], x: Tensor, y: Tensor) -> tuple[Any, ...]:
    value, gradient = adjoint.value_and_grad(lambda model: scaling.scale(loss(model, x, y), scale))(model)
    gradient = scaling.unscale(gradient, scale)
    changed = optimizer.update(model, gradient, state)
    (model, state), next_scale = scaling.update(changed, (model, state), gradient, scale)
    return model, state, next_scale, value / scale["scale"]


def train(model: nn.Module, x: np.ndarray, y: np.ndarray, steps: int) -> tuple[Any, ...]:
    state, scale, losses, scales = optimizer.init(model), scaling.init(), [], []
    for _ in range(steps):
        model, state, scale, value = step(model, state, scale, x, y)
        losses.append(float(value))
        scales.append(float(scale["scale"]))
    return model, losses, scales


if __name__ == "__main__":
    model, losses, scales = train(make_model(), *points(256), 100)
    print(f"loss {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}; scales {min(scales)} to {max(scales)}")
