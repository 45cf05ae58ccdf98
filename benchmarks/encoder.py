# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The transformer encoder that peers publish times for, and its loss and gradients in f64.

Two tokens of width 64 go through layers of 4 heads and an inner width of 128. One layer is
  y = norm(x + concat_h(softmax(x Wq_h (x Wk_h)^T / sqrt(64)) x Wv_h) Wo),   z = norm(y + relu(y We + be) Wc + bc)
with norm(x) = (x - mean) / sqrt(variance + 1e-5) * scale + bias: 21 tensors, 33,216 numbers. The loss is the mean
square of the difference to a target. The backward pass is written by hand, so that it shares nothing with what it
checks.
"""

import math

import numpy as np

TOKENS, WIDTH, HEADS, INNER = 2, 64, 4, 128
COLUMNS = WIDTH // HEADS
EPSILON = 1e-5
SCALE = 1.0 / math.sqrt(WIDTH)  # of the width, not of the columns of a head: so is the model defined


def layer_shapes():
    """Name and shape of the parameters of one layer, in the order of the program's arguments."""
    shapes = {f"{kind}{head}": (WIDTH, COLUMNS) for head in range(HEADS) for kind in ("query", "key", "value")}
    shapes["merge"] = (WIDTH, WIDTH)
    shapes["norm1_scale"] = shapes["norm1_bias"] = (WIDTH,)
    shapes["expand"], shapes["expand_bias"] = (WIDTH, INNER), (INNER,)
    shapes["contract"], shapes["contract_bias"] = (INNER, WIDTH), (WIDTH,)
    shapes["norm2_scale"] = shapes["norm2_bias"] = (WIDTH,)
    return shapes


def shapes(layers):
    return {f"layer{layer}_{name}": shape for layer in range(layers) for name, shape in layer_shapes().items()}


def make_inputs(layers, seed=0):
    """Parameters, input and target in f32. Scales and biases differ from one and zero, so that an error in them
    shows."""
    rng = np.random.default_rng(seed)
    parameters = {}
    for name, shape in shapes(layers).items():
        values = rng.standard_normal(shape)
        if name.endswith("_scale"):
            values = 1.0 + 0.1 * values
        elif name.endswith("_bias"):
            values = 0.1 * values
        else:
            values /= math.sqrt(shape[0])
        parameters[name] = values.astype(np.float32)
    x, target = rng.standard_normal((2, TOKENS, WIDTH)).astype(np.float32)
    return parameters, x, target


def norm(x, scale, bias):
    centred = x - x.mean(-1, keepdims=True)
    inverse = 1.0 / np.sqrt((centred * centred).mean(-1, keepdims=True) + EPSILON)
    unit = centred * inverse
    return unit * scale + bias, (unit, inverse, scale)


def norm_backward(g, saved):
    unit, inverse, scale = saved
    h = g * scale
    dx = inverse * (h - h.mean(-1, keepdims=True) - unit * (h * unit).mean(-1, keepdims=True))
    return dx, (g * unit).sum(0), g.sum(0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_forward(x, p):
    heads = []
    for h in range(HEADS):
        q, k, v = (x @ p[f"{kind}{h}"] for kind in ("query", "key", "value"))
        heads.append((q, k, v, softmax(q @ k.T * SCALE)))
    joined = np.concatenate([weights @ v for _, _, v, weights in heads], axis=-1)
    y, saved1 = norm(x + joined @ p["merge"], p["norm1_scale"], p["norm1_bias"])
    inner = np.maximum(y @ p["expand"] + p["expand_bias"], 0.0)
    z, saved2 = norm(y + inner @ p["contract"] + p["contract_bias"], p["norm2_scale"], p["norm2_bias"])
    return z, (x, heads, joined, saved1, y, inner, saved2)


def layer_backward(g, p, saved):
    x, heads, joined, saved1, y, inner, saved2 = saved
    d = {}
    g, d["norm2_scale"], d["norm2_bias"] = norm_backward(g, saved2)
    d["contract"], d["contract_bias"] = inner.T @ g, g.sum(0)
    g_inner = (g @ p["contract"].T) * (inner > 0.0)
    d["expand"], d["expand_bias"] = y.T @ g_inner, g_inner.sum(0)
    g = g + g_inner @ p["expand"].T
    g, d["norm1_scale"], d["norm1_bias"] = norm_backward(g, saved1)
    d["merge"] = joined.T @ g
    g_joined = g @ p["merge"].T
    for h, (q, k, v, weights) in enumerate(heads):
        part = g_joined[:, h * COLUMNS : (h + 1) * COLUMNS]
        g_weights = part @ v.T
        g_scores = weights * (g_weights - (g_weights * weights).sum(-1, keepdims=True)) * SCALE
        for kind, cotangent in (("query", g_scores @ k), ("key", g_scores.T @ q), ("value", weights.T @ part)):
            d[f"{kind}{h}"] = x.T @ cotangent
            g = g + cotangent @ p[f"{kind}{h}"].T
    return g, d


def loss_and_gradients(parameters, x, target, layers):
    """In f64, whatever the type of the arguments."""
    p = {name: value.astype(np.float64) for name, value in parameters.items()}
    of_layer = [{name: p[f"layer{layer}_{name}"] for name in layer_shapes()} for layer in range(layers)]
    x, saved = x.astype(np.float64), []
    for q in of_layer:
        x, s = layer_forward(x, q)
        saved.append(s)
    difference = x - target
    g, gradients = 2.0 * difference / difference.size, {}
    for layer in reversed(range(layers)):
        g, d = layer_backward(g, of_layer[layer], saved[layer])
        gradients.update({f"layer{layer}_{name}": value for name, value in d.items()})
    return (difference * difference).mean(), gradients
