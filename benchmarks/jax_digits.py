# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The perceptron of examples/digits in JAX: a compiled step per batch, and one compiled run over all of them. Importing it needs JAX."""

import time

import jax
import jax.numpy as jnp

MOMENTUM, RATE, PIXEL = 0.9, 0.1, 0.0625


def loss(p, images, labels):
    hidden = jax.nn.relu(images.astype(jnp.float32) * PIXEL @ p["hidden_weight"] + p["hidden_bias"])
    scores = jax.nn.log_softmax(hidden @ p["output_weight"] + p["output_bias"])
    return -jnp.take_along_axis(scores, labels.astype(jnp.int32)[:, None], axis=1).mean()


def step(state, batch):
    p, velocities = state
    value, gradients = jax.value_and_grad(loss)(p, *batch)
    velocities = jax.tree_util.tree_map(lambda v, g: MOMENTUM * v + g, velocities, gradients)
    return (jax.tree_util.tree_map(lambda a, v: a - RATE * v, p, velocities), velocities), value


class Trainer:
    """Compiles on construction; each `time_…` trains over all batches from the same parameters and returns seconds and last loss."""

    def __init__(self, parameters, images, labels):
        self.parameters, self.images, self.labels = parameters, images, labels
        self.step = jax.jit(step, donate_argnums=0)
        self.all_steps = jax.jit(lambda state, batches: jax.lax.scan(step, state, batches))
        self.time_jit()
        self.time_loop()

    def start(self):
        p = {name: jnp.array(value) for name, value in self.parameters.items()}
        return jax.block_until_ready((p, jax.tree_util.tree_map(jnp.zeros_like, p)))

    def time_jit(self):
        state, losses = self.start(), []
        start = time.perf_counter()
        for batch in zip(self.images, self.labels):
            state, value = self.step(state, batch)
            losses.append(value)
        last = float(losses[-1])
        jax.block_until_ready(state)
        return time.perf_counter() - start, last

    def losses_in_loop(self, state=None):
        return jax.block_until_ready(self.all_steps(state or self.start(), (self.images, self.labels)))[1]

    def time_loop(self):
        state = self.start()
        start = time.perf_counter()
        losses = self.losses_in_loop(state)
        return time.perf_counter() - start, float(losses[-1])
