# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""gpt2_block.py in JAX."""

import jax
import jax.numpy as jnp
import numpy as np


def make_block(key, size):
    def linear(key, rows, columns):
        return {"weight": jax.random.normal(key, (rows, columns)) / rows**0.5, "bias": jnp.zeros(columns)}

    keys = jax.random.split(key, 4)
    return {
        "ln_1": {"weight": jnp.ones(size), "bias": jnp.zeros(size)},
        "ln_2": {"weight": jnp.ones(size), "bias": jnp.zeros(size)},
        "qkv": linear(keys[0], size, 3 * size),
        "project": linear(keys[1], size, size),
        "expand": linear(keys[2], size, 4 * size),
        "contract": linear(keys[3], 4 * size, size),
    }


def linear(layer, x):
    return x @ layer["weight"] + layer["bias"]


def norm(layer, x):
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    made = (wide - wide.mean(-1, keepdims=True)) / jnp.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    return made.astype(x.dtype) * layer["weight"] + layer["bias"]


def attend(block, x, heads):
    q, k, v = (one.reshape(*x.shape[:2], heads, -1) for one in jnp.split(linear(block["qkv"], x), 3, axis=-1))
    made = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    return linear(block["project"], made.reshape(x.shape))


def forward(block, x, heads=8):
    x = x + attend(block, norm(block["ln_1"], x), heads)
    return x + linear(block["contract"], jax.nn.gelu(linear(block["expand"], norm(block["ln_2"], x))))


def loss(block, x, y):
    return ((forward(block, x).astype(y.dtype) - y) ** 2).mean()


run = jax.jit(jax.value_and_grad(loss))


def inputs(batch=2, length=16, size=64):
    random = np.random.default_rng(0)
    x, y = random.standard_normal((2, batch, length, size)).astype(np.float32)
    block = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), make_block(jax.random.key(1), size))
    return block, x.astype(jnp.bfloat16), y


if __name__ == "__main__":
    value, gradient = run(*inputs())
    first = gradient["ln_1"]["weight"].astype(np.float32)
    print(f"loss {value:.4f}, gradient of the first norm {abs(first).mean():.2e}")
