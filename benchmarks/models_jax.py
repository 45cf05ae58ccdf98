# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The models of models_cases.py in JAX, jitted. Importing it needs JAX."""

import jax
import jax.numpy as jnp
import numpy as np

import encoder
import jax_llama
import llama
from models_cases import BETA1, BETA2, DECAY, EPSILON, RATE
from models_double import HEADS, LLAMA_NAMES

VERSION = f"jax {jax.__version__}"


def linear(x, name, p):
    return x @ p[f"{name}weight"].T + p[f"{name}bias"]


def norm(x, name, p):
    centred = x - x.mean(-1, keepdims=True)
    unit = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + encoder.EPSILON)
    return unit * p[f"{name}weight"] + p[f"{name}bias"]


def mlp(p, x, labels):
    layers = len(p) // 2
    for number in range(layers - 1):
        x = jax.nn.relu(linear(x, f"{2 * number}.", p))
    logs = jax.nn.log_softmax(linear(x, f"{2 * layers - 2}.", p))
    return -jnp.take_along_axis(logs, labels[:, None], axis=1).mean()


def attention(qkv):
    batch, length, _ = qkv.shape
    q, k, v = (part.reshape(batch, length, HEADS, -1) for part in jnp.split(qkv, 3, axis=-1))
    scores = jnp.einsum("bqhc,bkhc->bhqk", q, k) / np.float32(q.shape[-1] ** 0.5)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhc->bqhc", weights, v).reshape(batch, length, -1)


def gpt2(p, x, target):
    joined = attention(linear(norm(x, "norm1.", p), "attention.in_proj_", p))
    h = x + linear(joined, "attention.out_proj.", p)
    inner = jax.nn.gelu(linear(norm(h, "norm2.", p), "expand.", p), approximate=True)
    return ((h + linear(inner, "contract.", p) - target) ** 2).mean()


def llama_block(p, x, target):
    tables = llama.rotary(x.shape[1])
    return jax_llama.loss({short: p[name] for short, name in LLAMA_NAMES.items()}, x, target, tables)


def lstm(p, x, target):
    """The products with the inputs of all steps are one product."""
    inputs = x @ p["weight_ih_l0"].T + p["bias_ih_l0"]
    zeros = jnp.zeros((x.shape[0], target.shape[-1]), x.dtype)

    def step(carry, row):
        h, c = carry
        i, forget, g, o = jnp.split(row + h @ p["weight_hh_l0"].T + p["bias_hh_l0"], 4, axis=1)
        c = jax.nn.sigmoid(forget) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    _, outputs = jax.lax.scan(step, (zeros, zeros), inputs.transpose(1, 0, 2))
    return ((outputs.transpose(1, 0, 2) - target) ** 2).mean()


def adamw(parameters, gradients, state):
    """As optax has it."""
    count = state["step"] + 1
    first = jax.tree.map(lambda m, g: BETA1 * m + (1 - BETA1) * g, state["first"], gradients)
    second = jax.tree.map(lambda v, g: BETA2 * v + (1 - BETA2) * g * g, state["second"], gradients)
    scale1, scale2 = 1 / (1 - BETA1**count), 1 / (1 - BETA2**count)

    def change(p, m, v):
        return p - RATE * (scale1 * m / (jnp.sqrt(scale2 * v) + EPSILON) + DECAY * p)

    parameters = jax.tree.map(change, parameters, first, second)
    return parameters, {"step": count, "first": first, "second": second}


class Contender:
    """The step of a case; it is compiled when it is first called."""

    def __init__(self, case):
        self.case, self.loss = case, globals()[case.model] if case.model else None
        self.parameters, self.data = jax.tree.map(jnp.asarray, (case.parameters, case.data))

        def train(p, state, x, target):
            value, gradients = jax.value_and_grad(self.loss)(p, x, target)
            return *adamw(p, gradients, state), value

        def update(p, state, gradients):
            return adamw(p, gradients, state)

        if case.has_update:
            self.run = jax.jit(train if case.model else update, donate_argnums=(0, 1))
        else:
            self.run = jax.jit(jax.value_and_grad(self.loss, argnums=(0, 1) if case.has_input_gradient else 0))

    def restart(self):
        """From the first parameters again."""
        if self.case.has_update:
            zeros = [jax.tree.map(jnp.zeros_like, self.parameters) for _ in range(2)]
            state = {"step": jnp.zeros((), jnp.int32), "first": zeros[0], "second": zeros[1]}
            self.state = jax.block_until_ready((jax.tree.map(jnp.copy, self.parameters), state))

    def step(self):
        given = self.state[:2] if self.case.has_update else (self.parameters,)
        self.state = jax.block_until_ready(self.run(*given, *self.data))

    def results(self):
        """Those of Case.truth, after the last step."""
        if self.case.has_update:
            p, state, *loss = self.state
            return {**({"loss": loss[0]} if loss else {}), **self.case.updated(p, state["first"], state["second"])}
        loss, gradients = self.state
        of_model, *of_x = gradients if self.case.has_input_gradient else (gradients,)
        return {"loss": loss, **{f"d_{name}": value for name, value in of_model.items()},
                **({"d_x": of_x[0]} if of_x else {})}


def contenders(case):
    return {"jax": Contender(case)}
