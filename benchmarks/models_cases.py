# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The models of models.py: their sizes, parameters and data, and what a step gives in f64.

Parameters have the names and shapes of PyTorch's layers, weights as outputs by inputs. A step gives the loss and the
gradients (`d_NAME`) of the parameters, in blocks also that of x; or it updates parameters by AdamW, and then gives
their change since the first step (`change_NAME`) and both moments (`first_NAME`, `second_NAME`).
"""

import dataclasses
import math
from typing import Any

import numpy as np

import llama
import models_double

RATE, BETA1, BETA2, EPSILON, DECAY = 1e-3, 0.9, 0.999, 1e-8, 0.1  # of AdamW
# Of AdamW, before results are compared. Where a gradient is near zero, so is its sign, and later steps differ by it.
STEPS = 2


@dataclasses.dataclass(frozen=True)
class Case:
    """`model` names the loss in the files of the contenders, "" if the gradients are given; data are its arguments
    after the parameters."""

    name: str
    model: str
    parameters: dict[str, np.ndarray]
    data: tuple[Any, ...]
    has_input_gradient: bool = False
    has_update: bool = False

    def __str__(self):
        return self.name

    def gradients(self, parameters, data=None):
        """Loss and gradients of the parameters, and that of x as `x` where there is one, in f64."""
        if not self.model:
            return None, self.data[0]
        return getattr(models_double, self.model)(parameters, *(data or self.data))

    def truth(self):
        """What a step gives in f64; with an update, after STEPS of them, the loss that of the last one."""
        p = {name: value.astype(np.float64) for name, value in self.parameters.items()}
        if not self.has_update:
            loss, gradients = self.gradients(p)
            names = [*p, "x"] if self.has_input_gradient else p
            return {"loss": loss, **{f"d_{name}": gradients[name] for name in names}}
        first, second = ({name: np.zeros_like(value) for name, value in p.items()} for _ in range(2))
        for number in range(1, STEPS + 1):
            loss, gradients = self.gradients(p)
            for name, g in gradients.items():
                g = g.astype(np.float64)
                first[name] = BETA1 * first[name] + (1 - BETA1) * g
                second[name] = BETA2 * second[name] + (1 - BETA2) * g * g
                root = np.sqrt(second[name] / (1 - BETA2**number)) + EPSILON
                p[name] = p[name] * (1 - RATE * DECAY) - RATE / (1 - BETA1**number) * first[name] / root
        return {**({} if loss is None else {"loss": loss}), **self.updated(p, first, second)}

    def updated(self, parameters, first, second):
        """The results of an update, by name, in f64: a change of f32 parameters is their difference."""
        found = {}
        for name, before in self.parameters.items():
            found[f"change_{name}"] = np.asarray(parameters[name], np.float64) - before
            found[f"first_{name}"], found[f"second_{name}"] = np.asarray(first[name]), np.asarray(second[name])
        return found


class Draw:
    """Parameters and data from a seed. Scales and biases differ from one and zero, so that an error in them shows."""

    def __init__(self, seed):
        self.random, self.parameters = np.random.default_rng(seed), {}

    def normal(self, *shape):
        return self.random.standard_normal(shape).astype(np.float32)

    def linear(self, name, inputs, outputs):
        self.parameters[f"{name}weight"] = self.normal(outputs, inputs) / np.float32(math.sqrt(inputs))
        self.parameters[f"{name}bias"] = np.float32(0.1) * self.normal(outputs)

    def norm(self, name, width):
        self.parameters[f"{name}weight"] = 1 + np.float32(0.1) * self.normal(width)
        self.parameters[f"{name}bias"] = np.float32(0.1) * self.normal(width)


def mlp(widths, batch):
    draw, sizes = Draw(1), "-".join(map(str, widths))
    for number in range(len(widths) - 1):
        draw.linear(f"{2 * number}.", widths[number], widths[number + 1])  # layers of relu are between them
    labels = draw.random.integers(0, widths[-1], batch).astype(np.int32)
    return Case(f"mlp {sizes} of {batch} rows with AdamW", "mlp", draw.parameters,
                (draw.normal(batch, widths[0]), labels), has_update=True)


def gpt2_parameters(draw, width):
    draw.norm("norm1.", width)
    draw.linear("attention.in_proj_", width, 3 * width)
    draw.linear("attention.out_proj.", width, width)
    draw.norm("norm2.", width)
    draw.linear("expand.", width, 4 * width)
    draw.linear("contract.", 4 * width, width)
    return draw.parameters


def gpt2(width, batch, length):
    draw = Draw(2)
    data = draw.normal(batch, length, width), draw.normal(batch, length, width)
    return Case(f"gpt-2 block {batch}x{length}x{width}", "gpt2",
                gpt2_parameters(draw, width), data, has_input_gradient=True)


def llama_block(batch, length):
    parameters, *data = llama.make_inputs(batch, length)
    parameters = {models_double.LLAMA_NAMES[name]: value for name, value in parameters.items()}
    return Case(f"llama block {batch}x{length}x{llama.WIDTH}", "llama_block", parameters, tuple(data),
                has_input_gradient=True)


def lstm(inputs, hidden, batch, length):
    draw, bound = Draw(3), 1 / math.sqrt(hidden)
    for name, shape in {"weight_ih_l0": (4 * hidden, inputs), "weight_hh_l0": (4 * hidden, hidden),
                        "bias_ih_l0": (4 * hidden,), "bias_hh_l0": (4 * hidden,)}.items():
        draw.parameters[name] = draw.random.uniform(-bound, bound, shape).astype(np.float32)
    data = draw.normal(batch, length, inputs), draw.normal(batch, length, hidden)
    return Case(f"lstm {batch}x{length}x{inputs} to {hidden}", "lstm", draw.parameters, data)


def adamw(width):
    draw = Draw(4)
    parameters = gpt2_parameters(draw, width)
    gradients = {name: np.float32(1e-2) * draw.normal(*value.shape) for name, value in parameters.items()}
    return Case(f"adamw of the gpt-2 block of {width}", "", parameters, (gradients,), has_update=True)


def cases(small):
    if small:
        return [mlp((20, 16, 16, 10), 8), gpt2(48, 2, 8), llama_block(1, 8), lstm(6, 8, 4, 5), adamw(48)]
    return [mlp((784, 512, 512, 10), 128), gpt2(768, 4, 128), llama_block(2, 256), lstm(64, 128, 32, 50), adamw(768)]
