# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""mlp.py in JAX and optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

optimizer = optax.adamw(1e-2, weight_decay=1e-2)


def make_model(key, sizes=(2, 64, 64, 3)):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n)) for key, m, n in zip(keys, sizes, sizes[1:])]


def spirals(count):
    random = np.random.default_rng(0)
    labels, radius = random.integers(0, 3, count), random.random(count)
    angle = 4 * radius + 2 * np.pi / 3 * labels
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype(np.float32), labels.astype(np.int32)


def predict(model, x):
    for weight, bias in model[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = model[-1]
    return x @ weight + bias


def loss(model, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(predict(model, x), y).mean()


@jax.jit
def step(model, state, x, y):
    value, gradient = jax.value_and_grad(loss)(model, x, y)
    updates, state = optimizer.update(gradient, state, model)
    return optax.apply_updates(model, updates), state, value


def train(model, x, y, steps):
    state, losses = optimizer.init(model), []
    for _ in range(steps):
        model, state, value = step(model, state, x, y)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    x, y = spirals(300)
    model, losses = train(make_model(jax.random.key(1)), x, y, 200)
    accuracy = (predict(model, x).argmax(axis=1) == y).mean()
    print(f"loss {losses[0]:.3f}, after {len(losses)} steps {losses[-1]:.3f}; accuracy {accuracy:.3f}")
