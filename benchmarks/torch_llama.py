# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The block of llama.py in PyTorch: its result, its loss and gradients, as it is or compiled. Importing it needs PyTorch."""

import torch
from torch.nn import functional

from llama import COLUMNS, EPSILON, HALF, HEADS, KEY_HEADS, WIDTH, rotary


def rotate(x, cos, sin):
    low, high = x[..., :HALF], x[..., HALF:]
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)


def attention(x, p, tables):
    batch, length, _ = x.shape
    q = rotate(functional.linear(x, p["query"]).view(batch, length, HEADS, COLUMNS), *tables).transpose(1, 2)
    k = rotate(functional.linear(x, p["key"]).view(batch, length, KEY_HEADS, COLUMNS), *tables).transpose(1, 2)
    v = functional.linear(x, p["value"]).view(batch, length, KEY_HEADS, COLUMNS).transpose(1, 2)
    joined = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return functional.linear(joined.transpose(1, 2).reshape(batch, length, WIDTH), p["merge"])


def forward(p, x, tables):
    h = x + attention(functional.rms_norm(x, (WIDTH,), p["attention_scale"], EPSILON), p, tables)
    n = functional.rms_norm(h, (WIDTH,), p["inner_scale"], EPSILON)
    inner = functional.silu(functional.linear(n, p["gate"])) * functional.linear(n, p["up"])
    return h + functional.linear(inner, p["down"])


def loss(p, x, target, tables):
    return functional.mse_loss(forward(p, x, tables), target)


def step(parameters, x, target, compiled, device="cpu"):
    """A function that computes the loss and the gradients, as (loss, [those of the parameters, then that of x])."""
    p = {name: torch.from_numpy(value).to(device).requires_grad_() for name, value in parameters.items()}
    x, target = torch.from_numpy(x).to(device).requires_grad_(), torch.from_numpy(target).to(device)
    tables = [torch.from_numpy(table).to(device) for table in rotary(x.shape[1])]
    function = torch.compile(loss) if compiled else loss

    def run():
        value = function(p, x, target, tables)
        return value.detach(), torch.autograd.grad(value, [*p.values(), x])

    return run
