# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of a Hessian and vectors, and its largest eigenvalue by power iteration."""

from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor


def loss(w: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Of logistic regression with labels of 1 and -1."""
    return anp.logaddexp(0, -y * (x @ w)).mean()


@adjoint.jit
def product(w: Tensor, v: Tensor, x: Tensor, y: Tensor) -> Any:
    """The Hessian is symmetric: its product is the pullback of the gradient."""
    _, pullback = adjoint.vjp(lambda w: adjoint.grad(loss)(w, x, y), w)
    return pullback(v)[0]


@adjoint.jit
def largest_eigenvalue(w: Tensor, v: Tensor, x: Tensor, y: Tensor, steps: int = 100) -> Any:
    def step(_: Any, v: Tensor) -> Tensor:
        v = product(w, v, x, y)
        return v / anp.sqrt((v * v).sum())

    v = adjoint.fori_loop(0, steps, step, v)
    return v @ product(w, v, x, y)


def inputs(count: int = 200, size: int = 10) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(0)
    x, w, v = random.standard_normal((count, size)), random.standard_normal(size), random.standard_normal(size)
    return w, v, x, np.sign(x @ random.standard_normal(size))


if __name__ == "__main__":
    print(f"product {product(*inputs()).round(4)}, largest eigenvalue {largest_eigenvalue(*inputs()):.6f}")
