# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The block of llama.py in JAX: its result, its loss and gradients, jitted. Importing it needs JAX."""

import jax
import jax.numpy as jnp

from llama import COLUMNS, EPSILON, HALF, HEADS, HIDDEN, KEY_HEADS, SCALE, SHARED, rotary


def norm(x, scale):
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + EPSILON) * scale


def rotate(x, cos, sin):
    low, high = x[..., :HALF], x[..., HALF:]
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


def attention(x, p, tables):
    batch, length, width = x.shape
    q = rotate((x @ p["query"].T).reshape(batch, length, HEADS, COLUMNS), *tables)
    q = q.reshape(batch, length, KEY_HEADS, SHARED, COLUMNS)
    k = rotate((x @ p["key"].T).reshape(batch, length, KEY_HEADS, COLUMNS), *tables)
    v = (x @ p["value"].T).reshape(batch, length, KEY_HEADS, COLUMNS)
    scores = jnp.einsum("bqgsc,bkgc->bgsqk", q, k) * SCALE
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, HIDDEN))
    return jnp.einsum("bgsqk,bkgc->bqgsc", weights, v).reshape(batch, length, width) @ p["merge"].T


def forward(p, x, tables):
    h = x + attention(norm(x, p["attention_scale"]), p, tables)
    n = norm(h, p["inner_scale"])
    return h + (jax.nn.silu(n @ p["gate"].T) * (n @ p["up"].T)) @ p["down"].T


def loss(p, x, target, tables):
    return ((forward(p, x, tables) - target) ** 2).mean()


def step(parameters, x, target):
    """A function that computes the loss and the gradients, as (loss, ({name: …}, of x))."""
    gradients = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    arrays = jax.tree_util.tree_map(jnp.asarray, (parameters, x, target, rotary(x.shape[1])))
    return lambda: jax.block_until_ready(gradients(*arrays))
