# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The first example of the reference system: two linear layers with a sigmoid between them, trained for 1,000 steps by
a program that reads its batches from the host, one for each step, and sends the parameters at the end."""

from typing import Any

import adjoint
import numpy as np
from adjoint import nn, optim

model = nn.Sequential(nn.Linear(255, 255, key=1), nn.Sigmoid(), nn.Linear(255, 255, key=2))
optimizer = optim.SGD(0.01)


@adjoint.jit
def train(model: nn.Sequential) -> None:
    def step(_: Any, carried: Any) -> Any:
        model, state = carried
        x = adjoint.feed("x", adjoint.spec("2 255"))
        gradient = adjoint.grad(lambda model: model(x).sum())(model)
        return optimizer.update(model, gradient, state)

    model, _ = adjoint.fori_loop(0, 1000, step, (model, optimizer.init(model)))
    adjoint.receive("saving params", *model.parameters())


def save(*parameters: np.ndarray) -> None:
    print(len(parameters), "parameters:", *(f"{one.shape} {one.mean():.4f}" for one in parameters))


if __name__ == "__main__":
    train(model, feeds={"x": lambda shape: np.full(shape, 0.2, np.float32)}, receives={"saving params": save})
