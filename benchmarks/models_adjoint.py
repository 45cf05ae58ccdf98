# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The models of models_cases.py in adjoint.nn and adjoint.optim. Importing it needs the Python package."""

import adjoint
import numpy as np
from adjoint import nn, optim

import llama
from models_cases import BETA1, BETA2, DECAY, EPSILON, RATE
from models_double import HEADS

f = nn.functional


class Gpt2Block(nn.Module):
    def __init__(self, width):
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, HEADS, key=1)
        self.expand, self.contract = nn.Linear(width, 4 * width, key=2), nn.Linear(4 * width, width, key=3)

    def forward(self, x):
        n = self.norm1(x)
        x = x + self.attention(n, n, n, is_causal=True)
        return x + self.contract(f.gelu(self.expand(self.norm2(x)), approximate="tanh"))


def mlp(p, x, _):
    widths = [x.shape[1], *(value.shape[0] for name, value in p.items() if name.endswith("bias"))]
    layers = [layer for pair in zip(widths, widths[1:]) for layer in (nn.Linear(*pair, key=1), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def gpt2(_, x, __):
    return Gpt2Block(x.shape[-1])


def llama_block(*_):
    return nn.LlamaDecoderLayer(llama.WIDTH, llama.INNER, llama.HEADS, llama.KEY_HEADS, llama.EPSILON, key=1)


def lstm(p, *_):
    rows, columns = p["weight_ih_l0"].shape
    return nn.LSTM(columns, rows // 4, key=1)


def loss_of(case):
    if case.model == "mlp":
        return lambda model, x, labels: f.cross_entropy(model(x), labels)
    if case.model == "lstm":
        return lambda model, x, target: f.mse_loss(model(x)[0], target)
    return lambda model, x, target: f.mse_loss(model(x), target)


class Contender:
    """The step of a case; it is compiled when it is first called."""

    def __init__(self, case, numerics):
        self.case, self.options = case, {"numerics": numerics, "threads": 1, "cache": "off"}
        loss, optimizer = loss_of(case), optim.AdamW(RATE, (BETA1, BETA2), EPSILON, DECAY)
        if case.model:
            self.model = globals()[case.model](case.parameters, *case.data).load_state_dict(case.parameters)
        else:
            self.model = case.parameters

        def gradients(model, x, target):
            return adjoint.value_and_grad(loss, argnums=(0, 1) if case.has_input_gradient else 0)(model, x, target)

        def train(model, state, x, target):
            value, gradient = adjoint.value_and_grad(loss)(model, x, target)
            return *optimizer.update(model, gradient, state), value

        def update(model, state, gradient):
            return optimizer.update(model, gradient, state)

        if case.has_update:
            self.init = optimizer.init
            self.run = adjoint.jit(train if case.model else update, donate_argnames=("model", "state"), **self.options)
        else:
            self.run = adjoint.jit(gradients, **self.options)

    def restart(self):
        """From the first parameters again."""
        if self.case.has_update:
            self.state = adjoint.tree.map(np.copy, self.model), self.init(self.model)

    def step(self):
        if self.case.has_update:
            *self.state, = self.run(*self.state[:2], *self.case.data)
        else:
            self.state = self.run(self.model, *self.case.data)

    def results(self):
        """Those of Case.truth, after the last step."""
        if self.case.has_update:
            model, state, *loss = self.state
            found = self.case.updated(*map(named, (model, state["first"], state["second"])))
            return {**({"loss": loss[0]} if loss else {}), **found}
        loss, gradients = self.state
        of_model, *of_x = gradients if self.case.has_input_gradient else (gradients,)
        return {"loss": loss, **{f"d_{name}": value for name, value in named(of_model).items()},
                **({"d_x": of_x[0]} if of_x else {})}


def named(tree):
    return dict(zip(adjoint.tree.names(adjoint.tree.structure(tree)), adjoint.tree.leaves(tree)))


def contenders(case, numerics):
    return {"ours": Contender(case, numerics)}
