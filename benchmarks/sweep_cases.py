# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random graphs of sweep.py: each family draws sizes, layouts, element types and sometimes an axis of size 1.

The seed and the number of a case decide the case; its number modulo the count of families decides the family. A case
takes between about thirty microseconds and some ten milliseconds on one core. gpu_graphs.py draws the same families at
the sizes of a GPU.
"""

import dataclasses
import math

import numpy as np

from sweep_graph import Graph

FLOATS = ["f32"] * 6 + ["f64", "bf16", "f16"]
SHORTEST = 3e-5  # seconds: with shorter ones a call from Python is all that would be measured
SMOOTH = ("abs", "neg", "exp", "tanh", "erf", "gelu", "gelu_tanh", "silu", "sigmoid", "relu", "sin", "cos", "softplus")


@dataclasses.dataclass(frozen=True)
class Scale:
    """How large graphs are: factors on the elements of an array, the sides of matrices, the products of a contraction."""

    elements: int = 1
    sides: int = 1
    products: int = 1
    types: tuple = ("f32", "f64", "bf16", "f16", "i32", "i8")


class Draw:
    """A random generator with the choices that all families make."""

    def __init__(self, *seed, scale=Scale()):
        self.rng, self.scale = np.random.default_rng(seed), scale

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def chance(self, share):
        return self.rng.random() < share

    def size(self, low, high, unit=0.06):
        """Uniform in the logarithm: any number, a multiple of 16, a power of two or adjacent to one."""
        if self.chance(unit):
            return 1
        high = max(low, high)
        value = math.exp(self.rng.uniform(math.log(low), math.log(high)))
        kind = self.pick(["any", "multiple", "power", "adjacent"])
        if kind == "multiple":
            value = 16 * max(1, round(value / 16))
        elif kind != "any":
            value = 2 ** round(math.log2(value)) + (self.pick([-1, 1]) if kind == "adjacent" else 0)
        return int(min(max(round(value), low), high))

    def within(self, count, budget, low=2):
        """That many sizes, whose product is between about a sixteenth of the budget and the budget of the scale."""
        total = budget * self.scale.elements * math.exp(-self.rng.uniform(0, math.log(16)))
        shares = self.rng.dirichlet([1.5] * count)
        sizes = [max(1 if self.chance(0.05) else low, round(total ** share)) for share in shares]
        return [2 ** round(math.log2(s)) if self.chance(0.4) else s for s in sizes]

    def float(self, choices):
        """One of the choices that the scale has; another scale than the first draws each equally often."""
        known = [element for element in choices if element in self.scale.types]
        return self.pick(known if self.scale == Scale() else sorted(set(known)))

    def permutation(self, count):
        return [int(a) for a in self.rng.permutation(count)]

    def transposition(self, shape):
        """A permutation that moves elements. Others change only the shape, for which peers return their argument."""
        while True:
            axes = self.permutation(len(shape))
            long = [a for a in axes if shape[a] != 1]
            if long != sorted(long):
                return axes


def epilogue(draw, g, x):
    """What often follows a product: a bias, an activation, a residual."""
    if draw.chance(0.4):
        x = g.binary("add", x, g.input(x.shape[-1:], x.element))
    if draw.chance(0.3):
        x = g.unary(draw.pick(["relu", "gelu_tanh", "silu", "tanh"]), x)
    if draw.chance(0.2):
        x = g.binary("add", x, g.input(x.shape, x.element))
    return x


def product(draw, g, x, columns, contracted):
    """x times a weight of either layout."""
    turned = draw.chance(0.5)
    weight = g.input((columns, contracted) if turned else (contracted, columns), x.element)
    return g.dot(x, weight, ((len(x.shape) - 1,), (1 if turned else 0,)))


def contraction(draw, g):
    element, batch = draw.float(FLOATS), draw.pick([0, 0, 1, draw.size(2, 8)])
    sides = draw.scale.sides
    work = {"f32": 2**28, "f64": 2**27, "bf16": 2**28, "f16": 2**25}[element] * draw.scale.products
    m, n, k = draw.size(8, 1024 * sides), draw.size(8, 1024 * sides), draw.size(8, 2048 * sides)
    while m * n * k * max(batch, 1) > work:
        m, n, k = (max(1, size * 3 // 4) for size in (m, n, k))
    lead, shift = ((batch,), 1) if batch else ((), 0)
    left, right = draw.chance(0.3), draw.chance(0.5)
    x = g.input((*lead, *((k, m) if left else (m, k))), element)
    y = g.input((*lead, *((n, k) if right else (k, n))), element)
    axes = ((0,), (0,)) if batch else ((), ())
    out = g.dot(x, y, ((shift + (0 if left else 1),), (shift + (1 if right else 0),)), axes)
    g.results = [epilogue(draw, g, out)]


def few_rows(draw, g):
    """A matrix times one to eight vectors."""
    element = draw.float(["f32"] * 4 + ["f64", "bf16"])
    longest = 4096 * draw.scale.sides
    n, k = draw.size(64, longest, 0), draw.size(64, longest, 0)
    rows = draw.pick([None, 1, 2, draw.size(3, 8)])
    x = g.input((k,) if rows is None else (rows, k), element)
    g.results = [epilogue(draw, g, product(draw, g, x, n, k))]


def bytes_product(draw, g):
    m, n, k = draw.size(16, 512), draw.size(16, 512), draw.size(32, 1024, 0)
    left, right = draw.chance(0.3), draw.chance(0.5)
    x = g.input((k, m) if left else (m, k), "i8", -100, 100)
    y = g.input((n, k) if right else (k, n), "i8", -100, 100)
    g.results = [g.dot(x, y, ((0 if left else 1,), (1 if right else 0,)), element="i32")]


def reduction(draw, g):
    element = draw.float(FLOATS + ["i32"])
    x = g.input(draw.within(draw.pick([1, 2, 2, 3, 4]), 2**22), element, *((-9, 9) if element == "i32" else ()))
    value = x
    if draw.chance(0.3):
        value = g.binary("mul", value, g.input(x.shape, element, *((-9, 9) if element == "i32" else ())))
    elif element != "i32" and draw.chance(0.4):
        value = g.unary(draw.pick(["exp", "abs", "tanh"]), value)
    rank = len(x.shape)
    axes = sorted(draw.permutation(rank)[:draw.pick(range(1, rank + 1))])
    function = draw.pick(["sum", "sum", "max", "min"] if element == "i32" else ["sum", "sum", "mean", "max", "min"])
    g.results = [g.reduce(function, value, axes, draw.chance(0.3))]


def running_sum(draw, g):
    element = draw.float(["f32", "f32", "f64"])
    x = g.input(draw.within(draw.pick([1, 2, 2, 3]), 2**21), element)
    g.results = [g.cumsum(x, draw.pick(range(len(x.shape))))]


def elementwise(draw, g):
    element = draw.float(FLOATS)
    shape = draw.within(draw.pick([1, 2, 3]), 2**20)
    x = g.input(shape, element)
    for _ in range(draw.pick([1, 1, 2, 4, 7])):
        if draw.chance(0.55):
            x = g.unary(draw.pick(SMOOTH), x)
            continue
        kind = draw.pick(["whole", "row", "column", "scalar"])
        other = g.constant(0.75, element) if kind == "scalar" else g.input(
            {"whole": shape, "row": shape[-1:], "column": (*shape[:-1], 1)}[kind], element)
        x = g.binary(draw.pick(["add", "sub", "mul", "max", "min"]), x, other)
        x = g.unary("tanh", x) if draw.chance(0.1) else x
    g.results = [x]


def norm(draw, g):
    element, rank = draw.float(FLOATS), draw.pick([2, 2, 3])
    x = g.input(draw.within(rank, 2**21), element)
    kind = draw.pick(["softmax", "log_softmax", "layer_norm", "rms_norm"])
    value = g.binary("add", x, g.input(x.shape, element)) if draw.chance(0.3) else x
    if kind.endswith("softmax"):
        g.results = [g.softmax(value, draw.pick([rank - 1, rank - 1, 0]), kind)]
    elif kind == "layer_norm":
        g.results = [g.layer_norm(value, g.input(x.shape[-1:], element), g.input(x.shape[-1:], element))]
    else:
        g.results = [g.rms_norm(value, g.input(x.shape[-1:], element))]


def movement(draw, g):
    element, rank = draw.float(["f32", "f32", "f64", "bf16", "i8"]), draw.pick([2, 3, 4])
    limits = (-9, 9) if element == "i8" else ()
    x = g.input(draw.within(rank, 2**21), element, *limits)
    kind = draw.pick(["transpose", "transpose", "concat", "pad", "slice", "reverse", "broadcast"])
    if kind == "transpose" and sum(size != 1 for size in x.shape) > 1:
        value = g.transpose(x, draw.transposition(x.shape))
        value = g.reshape(value, (value.shape[0], math.prod(value.shape[1:]))) if draw.chance(0.3) else value
    elif kind == "concat":
        axis = draw.pick(range(rank))
        other = [draw.size(1, 2 * s) if a == axis else s for a, s in enumerate(x.shape)]
        value = g.concat([x, g.input(other, element, *limits)], axis)
    elif kind == "pad":
        value = g.pad(x, *([draw.pick([0, 1, 3]) for _ in range(rank)] for _ in range(2)))
    elif kind == "slice":
        strides = [draw.pick([1, 1, 2, 3]) for _ in range(rank)]
        offsets = [int(draw.rng.integers(0, max(1, s // 4))) for s in x.shape]
        value = g.slice(x, offsets, strides, [max(1, (s - o) // t) for s, o, t in zip(x.shape, offsets, strides)])
    elif kind == "reverse":
        value = g.reverse(x, sorted(draw.permutation(rank)[:draw.pick([1, 2])]))
    else:
        axis = draw.pick(range(rank))
        small = g.input([1 if a == axis else s for a, s in enumerate(x.shape)], element, *limits)
        value = g.binary("add", g.broadcast(small, x.shape), x)
    g.results = [value]


def attention_of(draw, g, element, sizes):
    """Scaled products of rows, a softmax, and its product with values; heads are before or after the rows."""
    batch, heads, rows, keys, columns = sizes
    inner = draw.chance(0.5)
    shapes = [(batch, n, heads, columns) if inner else (batch, heads, n, columns) for n in (rows, keys, keys)]
    q, k, v = (g.input(shape, element) for shape in shapes)
    head, row = (2, 1) if inner else (1, 2)
    scores = g.dot(q, k, ((3,), (3,)), ((0, head), (0, head)))
    scores = g.binary("mul", scores, g.constant(1 / math.sqrt(columns), element))
    scores = g.causal(scores) if draw.chance(0.5) else scores
    return g.dot(g.softmax(scores, 3), v, ((3,), (row,)), ((0, 1), (0, head)))


def attention_sizes(draw):
    batch, heads = draw.pick([1, 1, 2, draw.size(3, 8)]), draw.pick([1, 4, 8, 12])
    columns = draw.pick([16, 32, 64, 96, 128])
    longest = 512 * draw.scale.sides
    rows = draw.size(16, longest)
    keys = rows if draw.chance(0.7) else draw.size(16, longest)
    while batch * heads * rows * keys * columns > 2**26 * draw.scale.products:
        rows, keys = max(1, rows // 2), max(1, keys // 2)
    return batch, heads, rows, keys, columns


def attention(draw, g):
    g.results = [attention_of(draw, g, draw.float(["f32", "f32", "bf16"]), attention_sizes(draw))]


def mean_square(g, x):
    return g.reduce("mean", g.binary("mul", x, x), range(len(x.shape)))


def layers_gradient(draw, g):
    """Two dense layers."""
    sides = draw.scale.sides
    lead = (draw.size(2, 8, 0), draw.size(16, 128 * sides)) if draw.chance(0.4) else (draw.size(8, 512 * sides),)
    width, inner = draw.size(32, 512 * sides), draw.size(32, 1024 * sides)
    x = g.input((*lead, width))
    value = product(draw, g, x, inner, width)
    if draw.chance(0.6):
        value = g.binary("add", value, g.input((inner,)))
    value = g.unary(draw.pick(["relu", "gelu", "gelu_tanh", "silu", "tanh"]), value)
    value = product(draw, g, value, width, inner)
    g.results = [mean_square(g, g.binary("add", x, value) if draw.chance(0.5) else value)]


def norm_gradient(draw, g):
    x = g.input(draw.within(draw.pick([2, 3]), 2**20, 4))
    kind = draw.pick(["layer_norm", "rms_norm", "softmax", "log_softmax"])
    if kind == "layer_norm":
        value = g.layer_norm(x, g.input(x.shape[-1:]), g.input(x.shape[-1:]))
    elif kind == "rms_norm":
        value = g.rms_norm(x, g.input(x.shape[-1:]))
    else:
        value = g.softmax(x, len(x.shape) - 1, kind)
    g.results = [g.reduce("sum", g.binary("mul", value, g.input(x.shape)), range(len(x.shape)))]


def gradient(draw, g):
    kind = draw.pick(["layers", "layers", "norm", "attention", "elementwise"])
    if kind == "layers":
        layers_gradient(draw, g)
    elif kind == "norm":
        norm_gradient(draw, g)
    elif kind == "attention":
        sizes = attention_sizes(draw)
        sizes = (*sizes[:2], *(max(1, size // 2) for size in sizes[2:4]), sizes[4])
        g.results = [mean_square(g, attention_of(draw, g, "f32", sizes))]
    else:
        elementwise(draw, g)
        g.results = [g.reduce("sum", g.results[0], range(len(g.results[0].shape)))]
        for x in g.nodes:
            x.element = "f32"
    g.wrt = list(range(len(g.inputs)))


FAMILIES = (contraction, few_rows, reduction, elementwise, gradient,
            norm, attention, movement, bytes_product, running_sum)


def name_of(number, family, graph):
    shapes = " ".join("x".join(map(str, (*x.shape, x.element))) for x in graph.inputs[:3])
    more = " …" if len(graph.inputs) > 3 else ""
    kinds = [x.parameters.get("function", x.kind) for x in graph.nodes if x.kind not in ("input", "constant")]
    return f"{number} {family} {'+'.join(kinds[:4])}{'…' if len(kinds) > 4 else ''} {shapes}{more}"


def random_graph(seed, number):
    """The name of a case and its graph, drawn again until it is large enough to be measured."""
    family, graph, attempt = FAMILIES[number % len(FAMILIES)], Graph(), 0
    while graph.estimate() < SHORTEST:
        graph = Graph()
        family(Draw(seed, number, attempt), graph)
        attempt += 1
    return name_of(number, family.__name__, graph), graph


def inputs(graph, seed):
    """Arrays for the arguments, in f64, of values that the element types hold exactly."""
    rng, arrays = np.random.default_rng([seed, 7]), []
    for node in graph.inputs:
        low, high = node.parameters["low"], node.parameters["high"]
        if node.element.startswith("i"):
            arrays.append(rng.integers(low, high + 1, node.shape).astype(np.float64))
            continue
        values = rng.uniform(low, high, node.shape)
        exact = np.round(values * 64) / 64 if node.element in ("f16", "bf16") else values.astype(np.float32)
        arrays.append(exact.astype(np.float64))
    return arrays
