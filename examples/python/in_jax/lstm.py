# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""lstm.py in JAX and optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


def make_model(key, size=2, hidden=32):
    i, h, o = jax.random.split(key, 3)
    bound = hidden**-0.5
    return {
        "input": jax.random.uniform(i, (size, 4 * hidden), minval=-bound, maxval=bound),
        "hidden": jax.random.uniform(h, (hidden, 4 * hidden), minval=-bound, maxval=bound),
        "bias": jnp.zeros(4 * hidden),
        "head": (jax.random.uniform(o, (hidden, 1), minval=-bound, maxval=bound), jnp.zeros(1)),
    }


def sequences(count, length=50):
    """Numbers and marks, and the sum of the two marked numbers of each sequence."""
    random = np.random.default_rng(0)
    numbers, marks = random.random((count, length)), np.zeros((count, length))
    for row in range(count):
        marks[row, random.choice(length, 2, replace=False)] = 1
    return np.stack([numbers, marks], axis=2).astype(np.float32), (numbers * marks).sum(1).astype(np.float32)


def predict(model, x):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ model["input"] + h @ model["hidden"] + model["bias"], 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), None

    zeros = jnp.zeros((x.shape[0], model["hidden"].shape[0]), x.dtype)
    (h, _), _ = jax.lax.scan(cell, (zeros, zeros), x.swapaxes(0, 1))
    weight, bias = model["head"]
    return (h @ weight + bias)[:, 0]


def loss(model, x, y):
    return ((predict(model, x) - y) ** 2).mean()


@jax.jit
def step(model, state, x, y):
    value, gradient = jax.value_and_grad(loss)(model, x, y)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(model, updates), state, value


def train(model, x, y, steps):
    state, losses = optimizer.init(model), []
    for _ in range(steps):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(jax.random.key(1)), *sequences(64), 100)
    print(f"loss {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}")
