# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A decoder block of the Llama family: sizes, inputs, and its loss and gradients in f64.

  h = x + concat_h(softmax(causal(rot(q_h) rot(k_g)^T / sqrt(64))) v_g) Wo^T   with q, k, v = norm(x) (Wq, Wk, Wv)^T
  y = h + (silu(n Wg^T) * (n Wu^T)) Wd^T                                       with n = norm(h)
and norm(x) = x / sqrt(mean(x^2) + 1e-5) * scale. Two query heads h share one key head g. `rot` is the rotary
embedding of positions, which turns the pair (i, i + 32) of a head. The loss is the mean square of y - target. Weights
have the layout of PyTorch's `Linear`, outputs by inputs. The backward pass is written by hand, so that it shares
nothing with the programs.
"""

import math

import numpy as np

WIDTH, HEADS, KEY_HEADS, INNER = 512, 8, 4, 1376
COLUMNS = WIDTH // HEADS
HALF = COLUMNS // 2
SHARED = HEADS // KEY_HEADS  # query heads that share a key head
EPSILON = 1e-5
SCALE = 1.0 / math.sqrt(COLUMNS)
HIDDEN = -1e30  # the score of a later position


def shapes():
    """Name and shape of the parameters, in the order of the program's arguments."""
    return {
        "attention_scale": (WIDTH,),
        "query": (WIDTH, WIDTH),
        "key": (KEY_HEADS * COLUMNS, WIDTH),
        "value": (KEY_HEADS * COLUMNS, WIDTH),
        "merge": (WIDTH, WIDTH),
        "inner_scale": (WIDTH,),
        "gate": (INNER, WIDTH),
        "up": (INNER, WIDTH),
        "down": (WIDTH, INNER),
    }


def rotary(length):
    """Cosine and sine of each position's angles, as length x 1 x 32."""
    angles = np.arange(length)[:, None, None] * 10000.0 ** (-np.arange(HALF) / HALF)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def make_inputs(batch, length, seed=0):
    """Parameters, x and target in f32."""
    rng = np.random.default_rng(seed)
    parameters = {}
    for name, shape in shapes().items():
        values = rng.standard_normal(shape)
        values = 1.0 + 0.1 * values if name.endswith("_scale") else values / math.sqrt(shape[1])
        parameters[name] = values.astype(np.float32)
    x, target = rng.standard_normal((2, batch, length, WIDTH)).astype(np.float32)
    return parameters, x, target


def norm(x, scale):
    inverse = 1.0 / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
    return x * inverse * scale, (x * inverse, inverse, scale)


def norm_backward(g, saved):
    unit, inverse, scale = saved
    h = g * scale
    return inverse * (h - unit * (h * unit).mean(-1, keepdims=True)), (g * unit).sum((0, 1))


def rotate(x, cos, sin):
    low, high = x[..., :HALF], x[..., HALF:]
    return np.concatenate([low * cos - high * sin, high * cos + low * sin], -1)


def linear_backward(g, x, weight):
    return g @ weight, np.einsum("blo,bli->oi", g, x, optimize=True)


def attention(x, p, tables):
    """The result, and what the backward pass reads. Axes of q are batch, length, key head, shared, column."""
    batch, length, _ = x.shape
    q = rotate((x @ p["query"].T).reshape(batch, length, HEADS, COLUMNS), *tables)
    q = q.reshape(batch, length, KEY_HEADS, SHARED, COLUMNS)
    k = rotate((x @ p["key"].T).reshape(batch, length, KEY_HEADS, COLUMNS), *tables)
    v = (x @ p["value"].T).reshape(batch, length, KEY_HEADS, COLUMNS)
    scores = np.einsum("bqgsc,bkgc->bgsqk", q, k, optimize=True) * SCALE
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    joined = np.einsum("bgsqk,bkgc->bqgsc", weights, v, optimize=True).reshape(batch, length, WIDTH)
    return joined @ p["merge"].T, (x, q, k, v, weights, joined)


def attention_backward(g, p, tables, saved):
    x, q, k, v, weights, joined = saved
    d, back = {}, (tables[0], -tables[1])
    g, d["merge"] = linear_backward(g, joined, p["merge"])
    g = g.reshape(q.shape)
    g_weights = np.einsum("bqgsc,bkgc->bgsqk", g, v, optimize=True)
    g_scores = weights * (g_weights - (g_weights * weights).sum(-1, keepdims=True)) * SCALE
    g_q = np.einsum("bgsqk,bkgc->bqgsc", g_scores, k, optimize=True).reshape(*x.shape[:2], HEADS, COLUMNS)
    g_k = np.einsum("bgsqk,bqgsc->bkgc", g_scores, q, optimize=True)
    g_v = np.einsum("bgsqk,bqgsc->bkgc", weights, g, optimize=True)
    g_x = 0.0
    for name, cotangent in (("query", rotate(g_q, *back)), ("key", rotate(g_k, *back)), ("value", g_v)):
        part, d[name] = linear_backward(cotangent.reshape(*x.shape[:2], -1), x, p[name])
        g_x = g_x + part
    return g_x, d


def feed_forward(x, p):
    gate, up = x @ p["gate"].T, x @ p["up"].T
    sigmoid = 1.0 / (1.0 + np.exp(-gate))
    inner = gate * sigmoid * up
    return inner @ p["down"].T, (x, gate, up, sigmoid, inner)


def feed_forward_backward(g, p, saved):
    x, gate, up, sigmoid, inner = saved
    d = {}
    g, d["down"] = linear_backward(g, inner, p["down"])
    g_gate = g * up * sigmoid * (1.0 + gate * (1.0 - sigmoid))
    from_gate, d["gate"] = linear_backward(g_gate, x, p["gate"])
    from_up, d["up"] = linear_backward(g * gate * sigmoid, x, p["up"])
    return from_gate + from_up, d


def loss_and_gradients(parameters, x, target):
    """The loss, and the gradients by name, that of the input as `x`; in f64."""
    p = {name: value.astype(np.float64) for name, value in parameters.items()}
    x, tables = x.astype(np.float64), [table.astype(np.float64) for table in rotary(x.shape[1])]
    n1, saved1 = norm(x, p["attention_scale"])
    value, saved_attention = attention(n1, p, tables)
    h = x + value
    n2, saved2 = norm(h, p["inner_scale"])
    value, saved_inner = feed_forward(n2, p)
    difference = h + value - target
    g = 2.0 * difference / difference.size
    g_n, d = feed_forward_backward(g, p, saved_inner)
    g_h, d["inner_scale"] = norm_backward(g_n, saved2)
    g = g + g_h
    g_n, more = attention_backward(g, p, tables, saved_attention)
    g_x, d["attention_scale"] = norm_backward(g_n, saved1)
    return (difference * difference).mean(), {**d, **more, "x": g + g_x}
