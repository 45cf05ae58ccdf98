# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Llama by NumPy in f64, written from the formulas: full rotary tables, one score matrix per head, no shared code."""

import numpy as np


def norm(x, scale, epsilon):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * scale


def rotate_half(x):
    half = x.shape[-1] // 2
    return np.concatenate([-x[..., half:], x[..., :half]], -1)


def angles(length, columns):
    exponents = np.arange(0, columns, 2) / columns
    one = np.arange(length)[:, None] / 10000.0**exponents
    return np.cos(np.hstack([one, one])), np.sin(np.hstack([one, one]))


def attention(config, x, w, cos, sin, mask):
    """`mask` is added to the scores of all heads."""
    batch, length, _ = x.shape
    columns, shared = config.columns, config.heads // config.shared_keys
    out = np.empty((batch, length, config.width))
    for h in range(config.heads):
        own = slice(h * columns, (h + 1) * columns)
        of_key = slice(h // shared * columns, (h // shared + 1) * columns)
        q, k, v = x @ w["query"][own].T, x @ w["key"][of_key].T, x @ w["value"][of_key].T
        q, k = (t * cos + rotate_half(t) * sin for t in (q, k))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(columns) + mask
        e = np.exp(scores - scores.max(-1, keepdims=True))
        out[:, :, own] = e / e.sum(-1, keepdims=True) @ v
    return out @ w["merge"].T


def decoder(config, x, w, *tables):
    h = x + attention(config, norm(x, w["attention_scale"], config.epsilon), w, *tables)
    n = norm(h, w["inner_scale"], config.epsilon)
    gate = n @ w["gate"].T
    return h + (gate / (1 + np.exp(-gate)) * (n @ w["up"].T)) @ w["down"].T


def result(config, values):
    """Of the part, from its arguments by name; the tables are computed, not read."""
    w = {name: np.asarray(values[name], np.float64) for name in config.parameters()}
    read = values[config.input()[0]]
    length = read.shape[1]
    mask = np.where(np.tril(np.ones((length, length))), 0, -np.inf) if config.mask == "causal" else np.zeros(1)
    if config.mask == "argument":
        mask = np.asarray(values["mask"], np.float64)[:, 0]
    tables = (*angles(length, config.columns), mask)
    if config.part != "model":
        return (attention if config.part == "attention" else decoder)(config, read.astype(np.float64), w, *tables)
    h = w["embedding"][read]
    for i in range(config.layers):
        h = decoder(config, h, {name: w[f"layer{i}_{name}"] for name in config.layer_parameters()}, *tables)
    h = norm(h, w["final_scale"], config.epsilon)
    return h if config.head == "none" else h @ w["embedding" if config.head == "tied" else "head"].T


def loss(config, values):
    y = result(config, values)
    if not config.has_labels():
        return ((y - values["target"]) ** 2).mean()
    e = y - y.max(-1, keepdims=True)
    logs = e - np.log(np.exp(e).sum(-1, keepdims=True))
    return -np.take_along_axis(logs, values["labels"][..., None].astype(int), -1).mean()
