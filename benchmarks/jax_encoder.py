# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The encoder in JAX, and its training step in the two forms that users write. Importing it needs JAX."""

import time

import jax
import jax.numpy as jnp

from encoder import EPSILON, HEADS, SCALE, layer_shapes

VERSION = jax.__version__


def norm(x, scale, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + EPSILON) * scale + bias


def layer(x, p):
    heads = []
    for h in range(HEADS):
        q, k, v = (x @ p[f"{kind}{h}"] for kind in ("query", "key", "value"))
        heads.append(jax.nn.softmax(q @ k.T * SCALE) @ v)
    y = norm(x + jnp.concatenate(heads, axis=-1) @ p["merge"], p["norm1_scale"], p["norm1_bias"])
    inner = jax.nn.relu(y @ p["expand"] + p["expand_bias"])
    return norm(y + inner @ p["contract"] + p["contract_bias"], p["norm2_scale"], p["norm2_bias"])


class Trainer:
    """Compiles on construction; each `time_…` runs STEPS steps from the same parameters and returns seconds and last loss."""

    def __init__(self, parameters, x, target, layers, rate, steps):
        self.parameters, self.steps = {name: jnp.asarray(value) for name, value in parameters.items()}, steps

        def loss(p):
            value = x
            for number in range(layers):
                value = layer(value, {name: p[f"layer{number}_{name}"] for name in layer_shapes()})
            return ((value - target) ** 2).mean()

        def step(p):
            value, gradients = jax.value_and_grad(loss)(p)
            return jax.tree_util.tree_map(lambda a, g: a - rate * g, p, gradients), value

        def all_steps(p):
            return jax.lax.fori_loop(0, steps, lambda _, state: step(state[0]), (p, jnp.float32(0.0)))

        self.gradients = jax.jit(jax.value_and_grad(loss))
        self.step, self.all_steps = jax.jit(step, donate_argnums=0), jax.jit(all_steps)
        self.time_jit()
        self.time_loop()

    def time_jit(self):
        p = jax.tree_util.tree_map(jnp.copy, self.parameters)
        jax.block_until_ready(p)
        start = time.perf_counter()
        for _ in range(self.steps):
            p, value = self.step(p)
        jax.block_until_ready(p)
        return time.perf_counter() - start, float(value)

    def time_loop(self):
        start = time.perf_counter()
        p, value = self.all_steps(self.parameters)
        jax.block_until_ready(p)
        return time.perf_counter() - start, float(value)
