# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""vae.py in JAX and optax."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

LATENT = 4
optimizer = optax.adam(1e-2)


def make_network(key, sizes):
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(key, (m, n)) / m**0.5, jnp.zeros(n)) for key, m, n in zip(keys, sizes, sizes[1:])]


def make_model(key):
    encoder, decoder = jax.random.split(key)
    return {"encoder": make_network(encoder, (64, 32, 2 * LATENT)), "decoder": make_network(decoder, (LATENT, 32, 64))}


def bars(count):
    """Pictures with one bright row and one bright column."""
    random = np.random.default_rng(0)
    pictures = np.zeros((count, 8, 8), np.float32)
    pictures[np.arange(count), random.integers(0, 8, count)] = 1
    pictures[np.arange(count), :, random.integers(0, 8, count)] = 1
    return pictures.reshape(count, 64)


def apply(network, x):
    (weight, bias), (last_weight, last_bias) = network
    return jnp.tanh(x @ weight + bias) @ last_weight + last_bias


def loss(model, x, noise):
    """The negative evidence lower bound of a picture."""
    mean, log_variance = jnp.split(apply(model["encoder"], x), 2, axis=1)
    logits = apply(model["decoder"], mean + jnp.exp(log_variance / 2) * noise)
    likelihood = -optax.sigmoid_binary_cross_entropy(logits, x).sum(1)
    divergence = 0.5 * (mean**2 + jnp.exp(log_variance) - 1 - log_variance).sum(1)
    return (divergence - likelihood).mean()


@jax.jit
def step(model, state, x, key):
    noise = jax.random.normal(key, (len(x), LATENT))
    value, gradient = jax.value_and_grad(loss)(model, x, noise)
    updates, state = optimizer.update(gradient, state)
    return optax.apply_updates(model, updates), state, value


def train(model, x, steps):
    state, losses = optimizer.init(model), []
    for key in jax.random.split(jax.random.key(0), steps):
        model, state, value = step(model, state, x, key)
        losses.append(float(value))
    return model, losses


if __name__ == "__main__":
    model, losses = train(make_model(jax.random.key(1)), bars(128), 300)
    print(f"loss {losses[0]:.2f}, after {len(losses)} steps {losses[-1]:.2f}")
