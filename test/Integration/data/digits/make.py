#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Makes the losses that the digits programs are held against: the same models in PyTorch, in f64, seed 0.

Not run by any test, since it needs PyTorch (the files next to it come from 2.13.0). In f32 PyTorch itself stays within
1e-6 of the first 60 losses; two hundred steps later the transformer's two runs have nothing in common any more.
"""

import pathlib
import sys

import numpy as np
import torch
from torch.nn.functional import conv2d, cross_entropy, layer_norm, max_pool2d

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "examples" / "digits"))
import prepare  # noqa: E402

STEPS = 100
WIDTH, HEADS = 64, 4


def mlp(p, pixels):
    return torch.relu(pixels @ p["hidden_weight"] + p["hidden_bias"]) @ p["output_weight"] + p["output_bias"]


def encode(p, x, layer):
    def heads(i):
        return (x @ p["attention"][layer, i]).reshape(-1, 8, HEADS, WIDTH // HEADS).transpose(1, 2)

    q, k, v = heads(0), heads(1), heads(2)
    weights = torch.softmax(q @ k.transpose(2, 3) / (WIDTH // HEADS) ** 0.5, -1)
    norms = p["norms"][layer]
    y = x + (weights @ v).transpose(1, 2).reshape(x.shape) @ p["attention"][layer, 3]
    y = layer_norm(y, (WIDTH,), norms[0], norms[1], eps=1e-5)
    inner = torch.relu(y @ p["expand"][layer] + p["expand_bias"][layer])
    return layer_norm(y + inner @ p["contract"][layer] + p["contract_bias"][layer], (WIDTH,), norms[2], norms[3],
                      eps=1e-5)


def transformer(p, pixels):
    x = pixels.reshape(-1, 8, 8) @ p["embed"] + p["position"]
    for layer in range(2):
        x = encode(p, x, layer)
    return x.mean(1) @ p["head"] + p["head_bias"]


def convolution(p, pixels):
    """PyTorch has the channels of images before their axes, and those of filters first."""
    x = pixels.reshape(-1, 1, 8, 8)
    for name in ("first", "second"):
        x = torch.relu(conv2d(x, p[name].permute(3, 2, 0, 1), p[f"{name}_bias"], padding=1))
        x = max_pool2d(x, 2)
    return x.permute(0, 2, 3, 1).flatten(1) @ p["head"] + p["head_bias"]


def losses(model, name):
    parameters, streams = prepare.make_inputs(name, seed=0)
    p = {key: torch.tensor(value, dtype=torch.float64, requires_grad=True) for key, value in parameters.items()}
    velocity = {key: torch.zeros_like(value) for key, value in p.items()}
    result = []
    for step in range(STEPS):
        pixels = torch.tensor(streams["images"][step].astype(np.float64)) / 16
        loss = cross_entropy(model(p, pixels), torch.tensor(streams["labels"][step].astype(np.int64)))
        rate = float(streams["rate"][step]) if "rate" in streams else 0.1
        gradients = torch.autograd.grad(loss, list(p.values()))
        with torch.no_grad():
            for key, gradient in zip(p, gradients):
                velocity[key].mul_(0.9).add_(gradient)
                p[key].sub_(rate * velocity[key])
        result.append(loss.item())
    return np.array(result)


if __name__ == "__main__":
    for model in (mlp, transformer, convolution):
        np.save(HERE / f"{model.__name__}_loss.npy", losses(model, model.__name__))
