# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The perceptron of examples/digits in PyTorch: its training step as it is, through torch.compile, and with CUDA
graphs, too. Importing it needs PyTorch."""

import time

import torch

MOMENTUM, RATE, PIXEL = 0.9, 0.1, 0.0625


def loss(p, images, labels):
    hidden = torch.relu(images.float() * PIXEL @ p["hidden_weight"] + p["hidden_bias"])
    return torch.nn.functional.cross_entropy(hidden @ p["output_weight"] + p["output_bias"], labels.long())


class Trainer:
    """Compiles on construction; each `time_…` trains over all batches from the same parameters and returns seconds and
    last loss."""

    def __init__(self, parameters, images, labels, device="cpu"):
        self.parameters, self.device = parameters, device
        self.batches = [tuple(self.pinned(part) for part in batch) for batch in zip(images, labels)]
        self.wait = torch.cuda.synchronize if device == "cuda" else lambda: None
        self.compiled, self.graphs = torch.compile(loss), torch.compile(loss, mode="reduce-overhead")
        for form in (self.compiled, self.graphs):
            self.train(form, self.batches[:3])

    def pinned(self, array):
        tensor = torch.from_numpy(array.copy())
        return tensor.pin_memory() if self.device == "cuda" else tensor

    def train(self, form, batches):
        p = {name: torch.from_numpy(value.copy()).to(self.device).requires_grad_() for name,
             value in self.parameters.items()}
        weights = list(p.values())
        velocities = [torch.zeros_like(weight) for weight in weights]
        losses = []
        self.wait()
        start = time.perf_counter()
        for images, labels in batches:
            torch.compiler.cudagraph_mark_step_begin()
            value = form(p, images.to(self.device, non_blocking=True), labels.to(self.device, non_blocking=True))
            gradients = torch.autograd.grad(value, weights)
            with torch.no_grad():
                torch._foreach_mul_(velocities, MOMENTUM)
                torch._foreach_add_(velocities, gradients)
                torch._foreach_add_(weights, velocities, alpha=-RATE)
            losses.append(value.detach().clone())
        self.losses = torch.stack(losses)
        last = float(losses[-1])
        self.wait()
        return time.perf_counter() - start, last

    def losses_compiled(self):
        self.time_compiled()
        return self.losses.numpy()

    def time_eager(self):
        return self.train(loss, self.batches)

    def time_compiled(self):
        return self.train(self.compiled, self.batches)

    def time_graphs(self):
        return self.train(self.graphs, self.batches)
