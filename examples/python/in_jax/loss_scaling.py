# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""loss_scaling.py in JAX and optax, which have no scaling of losses: it is written out."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

GROWTH_INTERVAL = 20
optimizer = optax.sgd(0.1, momentum=0.9)


def make_model(key, sizes=(8, 32, 1)):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n)) for key, m, n in zip(keys, sizes, sizes[1:])]


def points(count):
    x = np.random.default_rng(0).standard_normal((count, 8)).astype(np.float32)
    return x, np.sin(x).sum(axis=1, keepdims=True)


def loss(model, x, y):
    narrow = jax.tree.map(lambda leaf: leaf.astype(jnp.float16), model)
    (weight, bias), (last_weight, last_bias) = narrow
    made = jnp.tanh(x.astype(jnp.float16) @ weight + bias) @ last_weight + last_bias
    return ((made.astype(y.dtype) - y) ** 2).mean()


@jax.jit
def step(model, state, scale, good, x, y):
    value, gradient = jax.value_and_grad(lambda model: loss(model, x, y) * scale)(model)
    gradient = jax.tree.map(lambda leaf: leaf / scale, gradient)
    is_finite = jnp.all(jnp.array([jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient)]))
    updates, new_state = optimizer.update(gradient, state)
    new_model = optax.apply_updates(model, updates)
    model, state = jax.tree.map(lambda new, old: jnp.where(is_finite, new, old), (new_model, new_state), (model, state))
    good = jnp.where(is_finite, good + 1, 0)
    grows = good >= GROWTH_INTERVAL
    next_scale = jnp.where(is_finite, jnp.where(grows, 2 * scale, scale), scale / 2)
    return model, state, next_scale, jnp.where(grows, 0, good), value / scale


def train(model, x, y, steps):
    state, scale, good, losses, scales = optimizer.init(model), jnp.float32(2.0**20), 0, [], []
    for _ in range(steps):
        model, state, scale, good, value = step(model, state, scale, good, x, y)
        losses.append(float(value))
        scales.append(float(scale))
    return model, losses, scales


if __name__ == "__main__":
    model, losses, scales = train(make_model(jax.random.key(1)), *points(256), 100)
    print(f"loss {losses[0]:.4f}, after {len(losses)} steps {losses[-1]:.4f}; scales {min(scales)} to {max(scales)}")
