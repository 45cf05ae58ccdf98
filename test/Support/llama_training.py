# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A small model of the Llama family that is trained: the text of its program, and its inputs.

Token embedding, layers with grouped-query attention under a causal mask and rotary embeddings, SwiGLU, RMS norms, a
head, and the mean cross entropy of the next tokens; the optimizer is Adam. The sizes are small, so that the reference
interpreter and the emulated GPU run it."""

import numpy as np

from elements import tensor

LAYERS, BATCH, LENGTH, WORDS = 2, 2, 12, 24
WIDTH, HEADS, KEY_HEADS, COLUMNS, INNER = 32, 4, 2, 8, 48
SHARED, HALF, TOKENS = HEADS // KEY_HEADS, COLUMNS // 2, BATCH * LENGTH
RATE, BETA1, BETA2, EPSILON = 0.01, 0.9, 0.99, 1e-5


def shapes():
    """Of the parameters, by name."""
    layer = {"attention_scale": (WIDTH,), "query": (WIDTH, WIDTH), "key": (WIDTH, KEY_HEADS * COLUMNS),
             "value": (WIDTH, KEY_HEADS * COLUMNS), "merge": (WIDTH, WIDTH), "inner_scale": (WIDTH,),
             "gate": (WIDTH, INNER), "up": (WIDTH, INNER), "down": (INNER, WIDTH)}
    layers = {f"{name}{i}": shape for i in range(LAYERS) for name, shape in layer.items()}
    return {"words": (WORDS, WIDTH), **layers, "scale": (WIDTH,), "head": (WIDTH, WORDS)}


def make_inputs(steps, seed=0):
    """The parameters, and the streams of tokens and of those that follow them."""
    rng = np.random.default_rng(seed)
    parameters = {}
    for name, shape in shapes().items():
        values = rng.standard_normal(shape)
        scale = "scale" in name
        parameters[name] = (1.0 + 0.1 * values if scale else values / np.sqrt(shape[0])).astype(np.float32)
    text = rng.integers(WORDS, size=(steps, BATCH, LENGTH + 1)).astype(np.int32)
    return parameters, {"tokens": text[..., :-1].copy(), "next": text[..., 1:].copy()}


class Writer:
    """Lines of a function; each operation returns (name, shape)."""

    def __init__(self):
        self.lines, self.count = [], 0

    def add(self, text, shape):
        self.count += 1
        self.lines.append(f"  %{self.count} = {text}")
        return f"%{self.count}", tuple(shape)

    def constant(self, value, shape=()):
        return self.add(f"ad.constant dense<{value:e}> : {tensor('f32', shape)}", shape)

    def apply(self, name, *values):
        types = ", ".join(tensor("f32", shape) for _, shape in values)
        return self.add(f"ad.{name} {', '.join(value for value, _ in values)} : {types}",
                        np.broadcast_shapes(*(shape for _, shape in values)))

    def reshape(self, value, shape):
        name, old = value
        return self.add(f"ad.reshape {name} : {tensor('f32', old)} -> {tensor('f32', shape)}", shape)

    def transpose(self, value, order):
        name, shape = value
        return self.add(f"ad.transpose {name} {order} : {tensor('f32', shape)}", [shape[axis] for axis in order])

    def dot(self, a, b, batch, contract, shape):
        axes = f"batch {batch[0]} x {batch[1]} contract {contract[0]} x {contract[1]}"
        return self.add(f"ad.dot {a[0]}, {b[0]} {axes} : ({tensor('f32', a[1])}, {tensor('f32', b[1])}) -> "
                        f"{tensor('f32', shape)}", shape)

    def product(self, rows, weight):
        return self.dot(rows, weight, ([], []), ([1], [0]), (rows[1][0], weight[1][1]))

    def norm(self, rows, scale):
        return self.add(f"ad.rms_norm {rows[0]}, {scale[0]} epsilon {EPSILON:e} : {tensor('f32', rows[1])}, "
                        f"{tensor('f32', scale[1])}", rows[1])


def rotate(w, rows, heads, table):
    """Each head, split from the rows, with the pairs of its columns turned by the angle of the position."""
    whole, half = (BATCH, LENGTH, heads, COLUMNS), (BATCH, LENGTH, heads, HALF)
    x = w.reshape(rows, whole)
    low, high = (w.add(f"ad.slice {x[0]} [0, 0, 0, {first}] strides [1, 1, 1, 1] : {tensor('f32', whole)} -> "
                       f"{tensor('f32', half)}", half) for first in (0, HALF))
    cos, sin = table
    new_low = w.apply("sub", w.apply("mul", low, cos), w.apply("mul", high, sin))
    new_high = w.apply("add", w.apply("mul", high, cos), w.apply("mul", low, sin))
    return w.add(f"ad.concat axis 3 {new_low[0]}, {new_high[0]} : {', '.join([tensor('f32', half)] * 2)}", whole)


def attention(w, rows, p, table):
    """Axes of the scores: batch, key head, row, shared head, column."""
    q = rotate(w, w.product(rows, p("query")), HEADS, table)
    k = rotate(w, w.product(rows, p("key")), KEY_HEADS, table)
    v = w.reshape(w.product(rows, p("value")), (BATCH, LENGTH, KEY_HEADS, COLUMNS))
    q = w.reshape(q, (BATCH, LENGTH, KEY_HEADS, SHARED, COLUMNS))
    scores = w.dot(q, k, ([0, 2], [0, 2]), ([4], [3]), (BATCH, KEY_HEADS, LENGTH, SHARED, LENGTH))
    scores = w.apply("mul", scores, w.constant(COLUMNS**-0.5))
    row, column, seen = ((LENGTH, 1, 1), (1, 1, LENGTH), (LENGTH, 1, LENGTH))
    rows_of, columns_of = (w.add(f"ad.iota axis {axis} : {tensor('i32', shape)}", shape)
                           for axis, shape in ((0, row), (2, column)))
    mask = w.add(f"ad.compare le {columns_of[0]}, {rows_of[0]} : {tensor('i32', column)}, {tensor('i32', row)}", seen)
    hidden = w.constant(-1e30)
    scores = w.add(f"ad.select {mask[0]}, {scores[0]}, {hidden[0]} : {tensor('i1', seen)}, {tensor('f32', scores[1])}, "
                   f"{tensor('f32', ())}", scores[1])
    weights = w.add(f"ad.softmax {scores[0]} axis 4 : {tensor('f32', scores[1])}", scores[1])
    joined = w.dot(weights, v, ([0, 1], [0, 2]), ([4], [1]), (BATCH, KEY_HEADS, LENGTH, SHARED, COLUMNS))
    return w.product(w.reshape(w.transpose(joined, [0, 2, 1, 3, 4]), (TOKENS, WIDTH)), p("merge"))


def feed_forward(w, rows, p):
    gate = w.apply("silu", w.product(rows, p("gate")))
    return w.product(w.apply("mul", gate, w.product(rows, p("up"))), p("down"))


def rotary(w):
    angles = np.arange(LENGTH)[:, None, None] * 10000.0 ** (-np.arange(HALF) / HALF)
    shape = angles.shape
    return [w.add(f"ad.constant dense<{table.astype(np.float32).tolist()}> : {tensor('f32', shape)}", shape)
            for table in (np.cos(angles), np.sin(angles))]


def embed(w, table):
    """Rows of the table by token: a product with a matrix that has a single 1 in each row."""
    column, all_words, i32 = (TOKENS, 1), (TOKENS, WORDS), tensor("i32", (TOKENS, 1))
    flat = w.add(f"ad.reshape %tokens : {tensor('i32', (BATCH, LENGTH))} -> {i32}", column)
    words = w.add(f"ad.iota axis 1 : {tensor('i32', all_words)}", all_words)
    equal = w.add(f"ad.compare eq {flat[0]}, {words[0]} : {i32}, {tensor('i32', all_words)}", all_words)
    one_hot = w.add(f"ad.cast {equal[0]} : {tensor('i1', all_words)} -> {tensor('f32', all_words)}", all_words)
    return w.product(one_hot, table)


def loss():
    """The function @loss of the parameters and the tokens."""
    w, table = Writer(), {name: (f"%{name}", shape) for name, shape in shapes().items()}
    cos_and_sin, x = rotary(w), embed(w, table["words"])
    for i in range(LAYERS):
        layer = lambda name, i=i: table[f"{name}{i}"]  # noqa: E731
        x = w.apply("add", x, attention(w, w.norm(x, layer("attention_scale")), layer, cos_and_sin))
        x = w.apply("add", x, feed_forward(w, w.norm(x, layer("inner_scale")), layer))
    scores = w.product(w.norm(x, table["scale"]), table["head"])
    flat = w.add(f"ad.reshape %next : {tensor('i32', (BATCH, LENGTH))} -> {tensor('i32', (TOKENS,))}", (TOKENS,))
    losses = w.add(f"ad.cross_entropy {scores[0]}, {flat[0]} : {tensor('f32', scores[1])}, {tensor('i32', (TOKENS,))} "
                   f"-> {tensor('f32', (TOKENS,))}", (TOKENS,))
    mean = w.add(f"ad.reduce_mean {losses[0]} axes [0] : {tensor('f32', (TOKENS,))} -> tensor<f32>", ())
    inputs = ", ".join([f"{value}: {tensor('f32', shape)}" for value, shape in table.values()]
                       + [f"%{name}: {tensor('i32', (BATCH, LENGTH))}" for name in ("tokens", "next")])
    lines = "\n".join(w.lines)
    return f"func.func private @loss({inputs}) -> tensor<f32> {{\n{lines}\n  return {mean[0]} : tensor<f32>\n}}\n"


def adam(w, p, m, v, g, constants):
    """The new parameter and moments; the corrections of the moments are part of the rate."""
    rate, beta1, rest1, beta2, rest2, epsilon = constants
    m = w.apply("add", w.apply("mul", m, beta1), w.apply("mul", g, rest1))
    v = w.apply("add", w.apply("mul", v, beta2), w.apply("mul", w.apply("mul", g, g), rest2))
    direction = w.apply("div", m, w.apply("add", w.apply("sqrt", v), epsilon))
    return w.apply("sub", p, w.apply("mul", direction, rate)), m, v


def program(steps):
    names, kinds = list(shapes()), [tensor("f32", shape) for shape in shapes().values()]
    inputs = ", ".join(f'%{name}: {kind} {{ad.name = "{name}", ad.donated = {i}}}'
                       for i, (name, kind) in enumerate(zip(names, kinds)))
    results = ", ".join(f'{kind} {{ad.name = "{name}"}}' for name, kind in zip(names, kinds))
    count, tokens = len(names), tensor("i32", (BATCH, LENGTH))
    carried = [f"%p{i} = %{name}" for i, name in enumerate(names)]
    carried += [f"%{moment}{i} = %zero{i}" for moment in "mv" for i in range(count)]
    w, new = Writer(), []
    constants = [w.constant(value) for value in (RATE, BETA1, 1 - BETA1, BETA2, 1 - BETA2, 1e-8)]
    for i, shape in enumerate(shapes().values()):
        new.append(adam(w, *((f"%{letter}{i}", shape) for letter in "pmv"), (f"%d#{i}", shape), constants))
    yielded = [value for part in zip(*new) for value, _ in part]
    zeros = "".join(f"  %zero{i} = ad.constant dense<0.0> : {kind}\n" for i, kind in enumerate(kinds))
    types, update = ", ".join(kinds * 3), "\n".join(w.lines)
    operands = ", ".join([*(f"%p{i}" for i in range(count)), "%tokens", "%next"])
    return f"""{loss()}
func.func @main({inputs}) -> ({results}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {steps} : index
{zeros}  %trained:{3 * count} = scf.for %step = %c0 to %steps step %c1 iter_args({', '.join(carried)}) -> ({types}) {{
    %tokens = ad.feed "tokens" : {tokens}
    %next = ad.feed "next" : {tokens}
    %loss, %d:{count} = ad.value_and_grad @loss({operands}) wrt {list(range(count))}
        : ({', '.join([*kinds, tokens, tokens])}) -> (tensor<f32>, {', '.join(kinds)})
    ad.receive "loss"(%loss) : tensor<f32>
{update}
    scf.yield {', '.join(yielded)} : {types}
  }}
  return {', '.join(f'%trained#{i}' for i in range(count))} : {', '.join(kinds)}
}}
"""
