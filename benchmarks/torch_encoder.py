# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The encoder in PyTorch, and its training step as it is and through torch.compile. Importing it needs PyTorch."""

import time

import torch

from encoder import EPSILON, HEADS, SCALE, WIDTH, layer_shapes

VERSION = torch.__version__


def norm(x, scale, bias):
    return torch.nn.functional.layer_norm(x, (WIDTH,), scale, bias, EPSILON)


def layer(x, p):
    heads = []
    for h in range(HEADS):
        q, k, v = (x @ p[f"{kind}{h}"] for kind in ("query", "key", "value"))
        heads.append(torch.softmax(q @ k.T * SCALE, -1) @ v)
    y = norm(x + torch.cat(heads, -1) @ p["merge"], p["norm1_scale"], p["norm1_bias"])
    inner = torch.relu(y @ p["expand"] + p["expand_bias"])
    return norm(y + inner @ p["contract"] + p["contract_bias"], p["norm2_scale"], p["norm2_bias"])


class Trainer:
    """Compiles on construction; each `time_…` runs STEPS steps from the same parameters and returns seconds and last
    loss."""

    def __init__(self, parameters, x, target, layers, rate, steps, device="cpu"):
        self.parameters, self.rate, self.steps, self.device = parameters, rate, steps, device
        self.wait = torch.cuda.synchronize if device == "cuda" else lambda: None
        x, target = torch.from_numpy(x).to(device), torch.from_numpy(target).to(device)

        def loss(p):
            value = x
            for number in range(layers):
                value = layer(value, {name: p[f"layer{number}_{name}"] for name in layer_shapes()})
            return ((value - target) ** 2).mean()

        self.loss, self.compiled = loss, torch.compile(loss)
        self.train(self.compiled, 2)
        self.graphs = None

    def train(self, loss, steps):
        p = {name: torch.from_numpy(value.copy()).to(self.device).requires_grad_() for name,
             value in self.parameters.items()}
        weights = list(p.values())
        self.wait()
        start = time.perf_counter()
        for _ in range(steps):
            torch.compiler.cudagraph_mark_step_begin()
            value = loss(p)
            gradients = torch.autograd.grad(value, weights)
            with torch.no_grad():
                torch._foreach_add_(weights, gradients, alpha=-self.rate)
        self.wait()
        return time.perf_counter() - start, float(value.detach())

    def time_eager(self):
        return self.train(self.loss, self.steps)

    def time_compiled(self):
        return self.train(self.compiled, self.steps)

    def time_graphs(self):
        """torch.compile with CUDA graphs; compiled when it is first used."""
        if self.graphs is None:
            self.graphs = torch.compile(self.loss, mode="reduce-overhead")
            self.train(self.graphs, 3)
        return self.train(self.graphs, self.steps)
