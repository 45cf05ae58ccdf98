# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loss and gradients of the models of models_cases.py in f64, by backward passes that are written by hand, so that they
share nothing with the programs."""

import math

import numpy as np

import encoder
import llama

HEADS = 12  # of the GPT-2 block
# The names that nn.LlamaDecoderLayer and `transformers` give the parameters of llama.py.
LLAMA_NAMES = {
    "attention_scale": "input_layernorm.weight",
    "query": "self_attn.q_proj.weight",
    "key": "self_attn.k_proj.weight",
    "value": "self_attn.v_proj.weight",
    "merge": "self_attn.o_proj.weight",
    "inner_scale": "post_attention_layernorm.weight",
    "gate": "mlp.gate_proj.weight",
    "up": "mlp.up_proj.weight",
    "down": "mlp.down_proj.weight",
}


def linear_backward(d, name, g, x, p):
    """The cotangent of x; those of weight and bias go into d. Rows of x and g are tokens."""
    d[f"{name}weight"], d[f"{name}bias"] = g.T @ x, g.sum(0)
    return g @ p[f"{name}weight"]


def linear(x, name, p):
    return x @ p[f"{name}weight"].T + p[f"{name}bias"]


def mean_square(y, target):
    difference = y - target.reshape(y.shape)
    return (difference * difference).mean(), 2.0 * difference / difference.size


def mlp(p, x, labels):
    layers, values, d = len(p) // 2, [x.astype(np.float64)], {}
    for number in range(layers):
        value = linear(values[-1], f"{2 * number}.", p)
        values.append(value if number == layers - 1 else np.maximum(value, 0.0))
    weights, rows = encoder.softmax(values[-1]), np.arange(len(labels))
    loss = -np.log(weights[rows, labels]).mean()
    weights[rows, labels] -= 1.0
    g = weights / len(labels)
    for number in reversed(range(layers)):
        g = linear_backward(d, f"{2 * number}.", g, values[number], p) * (values[number] > 0.0)
    return loss, d


def attention(qkv, batch, length, heads):
    """Causal attention of rows of tokens, and what its backward pass reads."""
    q, k, v = (part.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for part in np.split(qkv, 3, axis=1))
    scores = q @ k.swapaxes(2, 3) / math.sqrt(q.shape[-1])
    weights = encoder.softmax(np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf))
    return (weights @ v).transpose(0, 2, 1, 3).reshape(batch * length, -1), (q, k, v, weights)


def attention_backward(g, saved):
    q, k, v, weights = saved
    batch, heads, length, columns = q.shape
    g = g.reshape(batch, length, heads, columns).transpose(0, 2, 1, 3)
    g_weights = g @ v.swapaxes(2, 3)
    g_scores = weights * (g_weights - (g_weights * weights).sum(-1, keepdims=True)) / math.sqrt(columns)
    parts = g_scores @ k, g_scores.swapaxes(2, 3) @ q, weights.swapaxes(2, 3) @ g
    return np.concatenate([part.transpose(0, 2, 1, 3).reshape(batch * length, -1) for part in parts], axis=1)


def gelu(x):
    """The form with tanh, and its slope."""
    c = math.sqrt(2.0 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x**3))
    return 0.5 * x * (1.0 + t), 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * c * (1.0 + 3 * 0.044715 * x * x)


def gpt2(p, x, target):
    batch, length, width = x.shape
    x, d = x.astype(np.float64).reshape(-1, width), {}
    n1, saved1 = encoder.norm(x, p["norm1.weight"], p["norm1.bias"])
    joined, saved_attention = attention(linear(n1, "attention.in_proj_", p), batch, length, HEADS)
    h = x + linear(joined, "attention.out_proj.", p)
    n2, saved2 = encoder.norm(h, p["norm2.weight"], p["norm2.bias"])
    inner, slope = gelu(linear(n2, "expand.", p))
    loss, g = mean_square(h + linear(inner, "contract.", p), target)
    g_inner = linear_backward(d, "contract.", g, inner, p) * slope
    g_n = linear_backward(d, "expand.", g_inner, n2, p)
    g_h, d["norm2.weight"], d["norm2.bias"] = encoder.norm_backward(g_n, saved2)
    g = g + g_h
    g_qkv = attention_backward(linear_backward(d, "attention.out_proj.", g, joined, p), saved_attention)
    g_n = linear_backward(d, "attention.in_proj_", g_qkv, n1, p)
    g_x, d["norm1.weight"], d["norm1.bias"] = encoder.norm_backward(g_n, saved1)
    d["x"] = (g + g_x).reshape(batch, length, width)
    return loss, d


def llama_block(p, x, target):
    loss, d = llama.loss_and_gradients({short: p[name] for short, name in LLAMA_NAMES.items()}, x, target)
    return loss, {LLAMA_NAMES.get(name, name): value for name, value in d.items()}


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(p, x, target):
    x = x.astype(np.float64)
    batch, length, hidden = target.shape
    h, c, saved = np.zeros((batch, hidden)), np.zeros((batch, hidden)), []
    bias, outputs = p["bias_ih_l0"] + p["bias_hh_l0"], np.empty((batch, length, hidden))
    for t in range(length):
        i, f, g, o = np.split(x[:, t] @ p["weight_ih_l0"].T + h @ p["weight_hh_l0"].T + bias, 4, axis=1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        saved.append((h, c, i, f, g, o))
        c = f * c + i * g
        h = outputs[:, t] = o * np.tanh(c)
    loss, g_outputs = mean_square(outputs, target)
    d, g_h, g_c = {name: np.zeros_like(value) for name, value in p.items()}, 0.0, 0.0
    for t in reversed(range(length)):
        before, c, i, f, g, o = saved[t]
        t_c, g_h = np.tanh(f * c + i * g), g_h + g_outputs[:, t]
        g_c = g_c + g_h * o * (1.0 - t_c * t_c)
        parts = [g_c * g * i * (1.0 - i), g_c * c * f * (1.0 - f), g_c * i * (1.0 - g * g), g_h * t_c * o * (1.0 - o)]
        g_gates = np.concatenate(parts, axis=1)
        d["weight_ih_l0"] += g_gates.T @ x[:, t]
        d["weight_hh_l0"] += g_gates.T @ before
        d["bias_ih_l0"] += g_gates.sum(0)
        g_h, g_c = g_gates @ p["weight_hh_l0"], g_c * f
    d["bias_hh_l0"] = d["bias_ih_l0"]
    return loss, d
