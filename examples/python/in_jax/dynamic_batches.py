# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""dynamic_batches.py in JAX and optax, where each size is compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adam(1e-2)


def make_model(key, sizes=(4, 16, 3)):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n)) for key, m, n in zip(keys, sizes, sizes[1:])]


def batches(count):
    random = np.random.default_rng(0)
    for size in random.integers(1, 65, count):
        x = random.standard_normal((size, 4)).astype(np.float32)
        yield x, np.abs(x[:, :3]).argmax(axis=1).astype(np.int32)


def predict(model, x):
    (weight, bias), (last_weight, last_bias) = model
    return jax.nn.relu(x @ weight + bias) @ last_weight + last_bias


def loss(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(predict(model, x), y).mean()


@jax.jit
def step(model, state, x, y):
    value, gradient = jax.value_and_grad(loss)(model, x, y)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(model, updates), state, value


def train(model, data):
    state, losses = optimizer.init(model), []
    for x, y in data:
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(jax.random.key(1)), batches(200))
    print(f"mean loss {np.mean(losses[:20]):.3f} at first, {np.mean(losses[-20:]):.3f} at last")
