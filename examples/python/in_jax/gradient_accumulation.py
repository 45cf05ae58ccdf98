# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""gradient_accumulation.py in JAX and optax."""

import operator

import jax
import jax.numpy as jnp
import numpy as np
import optax

PARTS = 4
optimizer = optax.sgd(0.1, momentum=0.9)


def make_model(key, sizes=(8, 32, 1)):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n)) for key, m, n in zip(keys, sizes, sizes[1:])]


def batches(count, size=256):
    random = np.random.default_rng(0)
    x = random.standard_normal((count, size, 8)).astype(np.float32)
    return x, np.sin(x).sum(axis=2, keepdims=True)


def predict(model, x):
    (weight, bias), (last_weight, last_bias) = model
    return jnp.tanh(x @ weight + bias) @ last_weight + last_bias


def loss(model, x, y):
    return ((predict(model, x) - y) ** 2).mean()


@jax.jit
def step(model, state, x, y):
    def add(total, part):
        value, gradient = jax.value_and_grad(loss)(model, *part)
        return jax.tree.map(operator.add, total, gradient), value

    parts = tuple(one.reshape(PARTS, -1, one.shape[1]) for one in (x, y))
    total, values = jax.lax.scan(add, jax.tree.map(jnp.zeros_like, model), parts)
    gradient = jax.tree.map(lambda leaf: leaf / PARTS, total)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(model, updates), state, values.mean()


def train(model, data):
    state, losses = optimizer.init(model), []
    for x, y in zip(*data):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(jax.random.key(1)), batches(50))
    print(f"loss {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}")
