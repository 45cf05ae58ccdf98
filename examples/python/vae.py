# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A variational autoencoder (Kingma and Welling 2014) of pictures of 8 x 8 pixels."""

from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor, nn, optim

LATENT = 4
optimizer = optim.Adam(1e-2)


def make_model() -> dict[str, nn.Sequential]:
    encoder = nn.Sequential(nn.Linear(64, 32, key=1), nn.Tanh(), nn.Linear(32, 2 * LATENT, key=2))
    decoder = nn.Sequential(nn.Linear(LATENT, 32, key=3), nn.Tanh(), nn.Linear(32, 64, key=4))
    return {"encoder": encoder, "decoder": decoder}


def bars(count: int) -> np.ndarray:
    """Pictures with one bright row and one bright column."""
    random = np.random.default_rng(0)
    pictures = np.zeros((count, 8, 8), np.float32)
    pictures[np.arange(count), random.integers(0, 8, count)] = 1
    pictures[np.arange(count), :, random.integers(0, 8, count)] = 1
    return pictures.reshape(count, 64)


def loss(model: dict[str, nn.Sequential], x: Tensor, noise: Tensor) -> Tensor:
    """The negative evidence lower bound of a picture."""
    mean, log_variance = anp.split(model["encoder"](x), 2, axis=1)
    logits = model["decoder"](mean + anp.exp(log_variance / 2) * noise)
    likelihood = -nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    divergence = 0.5 * (mean**2 + anp.exp(log_variance) - 1 - log_variance).sum(1)
    return (divergence - likelihood).mean()


@adjoint.jit
def step(model: Any, state: Any, x: Tensor, key: Tensor) -> tuple[Any, Any, Tensor]:
    noise = adjoint.random.normal(adjoint.random.fold_in(key, state["step"]), (len(x), LATENT))
    value, gradient = adjoint.value_and_grad(loss)(model, x, noise)
    model, state = optimizer.update(model, gradient, state)
    return model, state, value


def train(model: Any, x: np.ndarray, steps: int) -> tuple[Any, list[float]]:
    state, losses = optimizer.init(model), []
    for _ in range(steps):
        model, state, value = step(model, state, x, 0)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(), bars(128), 300)
    print(f"loss {losses[0]:.2f}, after {len(losses)} steps {losses[-1]:.2f}")
