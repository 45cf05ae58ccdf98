# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""hessian_vector_product.py in JAX."""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def loss(w, x, y):
    """Of logistic regression with labels of 1 and -1."""
    return jnp.logaddexp(0, -y * (x @ w)).mean()


@jax.jit
def product(w, v, x, y):
    return jax.jvp(lambda w: jax.grad(loss)(w, x, y), (w,), (v,))[1]


@jax.jit
def largest_eigenvalue(w, v, x, y, steps=100):
    def step(_, v):
        v = product(w, v, x, y)
        return v / jnp.sqrt((v * v).sum())

    v = jax.lax.fori_loop(0, steps, step, v)
    return v @ product(w, v, x, y)


def inputs(count=200, size=10):
    random = np.random.default_rng(0)
    x, w, v = random.standard_normal((count, size)), random.standard_normal(size), random.standard_normal(size)
    return w, v, x, np.sign(x @ random.standard_normal(size))


if __name__ == "__main__":
    print(f"product {product(*inputs()).round(4)}, largest eigenvalue {largest_eigenvalue(*inputs()):.6f}")
