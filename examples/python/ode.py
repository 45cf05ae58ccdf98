# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Predators and prey: 1,000 steps of Runge and Kutta, and the gradient of where they end by the rates."""

from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor

RATES, START = np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 10.0])


def change(rates: Tensor, state: Tensor) -> Tensor:
    born, eaten, die, grow = rates
    prey, predators = state
    return anp.stack([(born - eaten * predators) * prey, (grow * prey - die) * predators])


def solve(rates: Tensor, state: Tensor, steps: int = 1000, h: float = 0.01) -> Any:
    def step(_: Any, state: Tensor) -> Tensor:
        k1 = change(rates, state)
        k2 = change(rates, state + h / 2 * k1)
        k3 = change(rates, state + h / 2 * k2)
        k4 = change(rates, state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return adjoint.fori_loop(0, steps, step, state)


def distance(rates: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    end = solve(rates, state)
    return ((end - START) ** 2).sum(), end


run = adjoint.jit(adjoint.value_and_grad(distance, has_aux=True))

if __name__ == "__main__":
    (value, end), gradient = run(RATES, START)
    print(f"end {end}, distance {value:.4f}, its gradient {gradient}")
