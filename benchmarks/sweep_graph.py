# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Small programs as graphs of operations, and their text in the `ad` dialect.

A graph is built once, with the shape and the element type of each value. `text` writes it in our dialect, and
sweep_peers.py evaluates it with NumPy, JAX and PyTorch. A graph with `wrt` has one scalar result: its program gives
this loss and the gradients of the inputs that `wrt` numbers.
"""

import dataclasses
import math

import numpy as np

UNARY = {name: f"ad.{name} {{}}" for name in (
    "abs", "neg", "exp", "log", "tanh", "erf", "gelu", "silu", "sigmoid", "relu", "sqrt", "rsqrt", "sin", "cos",
    "softplus")}
UNARY["gelu_tanh"] = "ad.gelu {} form tanh"
BINARY = ("add", "sub", "mul", "div", "max", "min")
EPSILON = 1e-5
HIDDEN = -1e4  # what hides a score, in every element type


def type_of(shape, element):
    """`None` is a size that the type leaves open."""
    sizes = ("?" if size is None else str(size) for size in shape)
    return f"tensor<{'x'.join([*sizes, element])}>"


@dataclasses.dataclass(eq=False)
class Node:
    kind: str
    operands: list
    shape: tuple
    element: str
    parameters: dict
    name: str = ""
    static: tuple = None  # the shape of the type, with None for open sizes; None: all are known

    @property
    def type(self):
        return type_of(self.static or self.shape, self.element)


class Graph:
    def __init__(self):
        self.nodes, self.inputs, self.results, self.wrt = [], [], [], []

    def node(self, kind, operands, shape, element=None, **parameters):
        element = element or operands[0].element
        name = f"%v{len(self.nodes)}"
        self.nodes.append(Node(kind, list(operands), tuple(map(int, shape)), element, parameters, name))
        return self.nodes[-1]

    def input(self, shape, element="f32", low=-0.75, high=1.25):
        node = self.node("input", [], shape, element, low=low, high=high)
        node.name = f"%a{len(self.inputs)}"
        self.inputs.append(node)
        return node

    def constant(self, value, element="f32"):
        return self.node("constant", [], (), element, value=value)

    def unary(self, function, x):
        return self.node("unary", [x], x.shape, function=function)

    def binary(self, function, x, y):
        return self.node("binary", [x, y], np.broadcast_shapes(x.shape, y.shape), function=function)

    def cast(self, x, element):
        return self.node("cast", [x], x.shape, element)

    def dot(self, x, y, contract, batch=((), ()), element=None):
        """`contract` and `batch` are pairs of lists of axes."""
        free = [[a for a in range(len(v.shape)) if a not in (*batch[i], *contract[i])] for i, v in enumerate((x, y))]
        shape = [x.shape[a] for a in batch[0]] + [x.shape[a] for a in free[0]] + [y.shape[a] for a in free[1]]
        return self.node("dot", [x, y], shape, element, contract=contract, batch=batch, free=free)

    def transpose(self, x, permutation):
        return self.node("transpose", [x], [x.shape[a] for a in permutation], permutation=tuple(map(int, permutation)))

    def reshape(self, x, shape):
        return self.node("reshape", [x], shape)

    def broadcast(self, x, shape):
        return self.node("broadcast", [x], shape)

    def slice(self, x, offsets, strides, sizes):
        return self.node("slice", [x], sizes, offsets=offsets, strides=strides)

    def concat(self, operands, axis):
        shape = list(operands[0].shape)
        shape[axis] = sum(x.shape[axis] for x in operands)
        return self.node("concat", operands, shape, axis=axis)

    def pad(self, x, low, high):
        value = self.constant(0, x.element)
        return self.node("pad", [x, value], [a + s + b for a, s, b in zip(low, x.shape, high)], low=low, high=high)

    def reverse(self, x, axes):
        return self.node("reverse", [x], x.shape, axes=axes)

    def reduce(self, function, x, axes, keep=False):
        shape = [1 if a in axes else s for a, s in enumerate(x.shape) if keep or a not in axes]
        return self.node("reduce", [x], shape, function=function, axes=tuple(axes), keep=keep)

    def cumsum(self, x, axis):
        return self.node("cumsum", [x], x.shape, axis=axis)

    def softmax(self, x, axis, function="softmax"):
        return self.node("softmax", [x], x.shape, axis=axis, function=function)

    def layer_norm(self, x, scale, bias):
        return self.node("layer_norm", [x, scale, bias], x.shape)

    def rms_norm(self, x, scale):
        return self.node("rms_norm", [x, scale], x.shape)

    def cross_entropy(self, scores, classes):
        """Of each row; `classes` are numbers of its columns."""
        return self.node("cross_entropy", [scores, classes], scores.shape[:-1])

    def estimate(self):
        """Seconds on one core, roughly: at least what reads the inputs and makes each value."""
        seconds = 0.0
        for node in self.nodes:
            contracted = node.parameters["contract"][0] if node.kind == "dot" else None
            k = math.prod(node.operands[0].shape[a] for a in contracted) if contracted else 0
            seconds += math.prod(node.shape) * (1e-10 + 2e-11 * k)
        return seconds * (3 if self.wrt else 1)

    def causal(self, scores):
        """Hides what is after the row, of scores whose last two axes are rows and columns."""
        return self.node("causal", [scores], scores.shape)


def listing(words):
    return ", ".join(map(str, words))


def axes(values):
    return f"[{listing(values)}]"


def write_dot(node):
    x, y = node.operands
    pairs = (node.parameters[kind] for kind in ("batch", "contract"))
    batch, contract = (f"{axes(left)} x {axes(right)}" for left, right in pairs)
    return f"ad.dot {x.name}, {y.name} batch {batch} contract {contract} : ({x.type}, {y.type}) -> {node.type}"


def write_causal(node):
    x, n = node.operands[0], node.name
    rows, columns = x.shape[-2:]
    row, column, seen = type_of((rows, 1), "i32"), type_of((1, columns), "i32"), type_of((rows, columns), "i1")
    return (f"ad.iota axis 0 : {row}\n"
            f"  {n}_column = ad.iota axis 1 : {column}\n"
            f"  {n}_seen = ad.compare le {n}_column, {n}_row : {column}, {row}\n"
            f"  {n}_hidden = ad.constant dense<{HIDDEN:e}> : {type_of((), x.element)}\n"
            f"  {n} = ad.select {n}_seen, {x.name}, {n}_hidden : {seen}, {x.type}, {type_of((), x.element)}")


def write_constant(node):
    value = node.parameters["value"]
    return f"ad.constant dense<{value if node.element.startswith('i') else format(value, 'e')}> : {node.type}"


def write_binary(node):
    x, y = node.operands
    types = x.type if x.type == y.type else f"{x.type}, {y.type}"
    return f"ad.{node.parameters['function']} {x.name}, {y.name} : {types}"


def write_pad(node):
    x, value = node.operands
    p = node.parameters
    interior = axes([0] * len(x.shape))
    return (f"ad.pad {x.name}, {value.name} low {axes(p['low'])} high {axes(p['high'])} interior {interior}"
            f" : {x.type}, {value.type}")


def write_reduce(node):
    p, x = node.parameters, node.operands[0]
    keep = " keep_dims" if p["keep"] else ""
    return f"ad.reduce_{p['function']} {x.name} axes {axes(p['axes'])}{keep} : {x.type} -> {node.type}"


def write_moved(node):
    """Operations whose text is the operand, lists, and both types."""
    x, p = node.operands[0], node.parameters
    lists = f" {axes(p['offsets'])} strides {axes(p['strides'])}" if node.kind == "slice" else ""
    return f"ad.{node.kind} {x.name}{lists} : {x.type} -> {node.type}"


WRITERS = {
    "constant": write_constant,
    "unary": lambda n: f"{UNARY[n.parameters['function']].format(n.operands[0].name)} : {n.type}",
    "binary": write_binary,
    "dot": write_dot,
    "transpose": lambda n: (f"ad.transpose {n.operands[0].name} {axes(n.parameters['permutation'])}"
                            f" : {n.operands[0].type}"),
    **{kind: write_moved for kind in ("cast", "reshape", "broadcast", "slice")},
    "concat": lambda n: (f"ad.concat axis {n.parameters['axis']} {listing(x.name for x in n.operands)}"
                         f" : {listing(x.type for x in n.operands)}"),
    "pad": write_pad,
    "reverse": lambda n: f"ad.reverse {n.operands[0].name} axes {axes(n.parameters['axes'])} : {n.type}",
    "reduce": write_reduce,
    "cumsum": lambda n: f"ad.cumsum {n.operands[0].name} axis {n.parameters['axis']} : {n.type}",
    "softmax": lambda n: f"ad.{n.parameters['function']} {n.operands[0].name} axis {n.parameters['axis']} : {n.type}",
    "layer_norm": lambda n: (f"ad.layer_norm {listing(x.name for x in n.operands)} epsilon {EPSILON:e}"
                             f" : {n.type}, {n.operands[1].type}"),
    "rms_norm": lambda n: (f"ad.rms_norm {listing(x.name for x in n.operands)} epsilon {EPSILON:e}"
                           f" : {n.type}, {n.operands[1].type}"),
    "cross_entropy": lambda n: (f"ad.cross_entropy {listing(x.name for x in n.operands)}"
                                f" : {listing(x.type for x in n.operands)} -> {n.type}"),
    "causal": write_causal,
}


def body(graph):
    lines = [f"  {node.name}{'_row' if node.kind == 'causal' else ''} = {WRITERS[node.kind](node)}\n"
             for node in graph.nodes if node.kind != "input"]
    types = listing(x.type for x in graph.results)
    return f"{''.join(lines)}  return {listing(x.name for x in graph.results)} : {types}\n"


def text(graph):
    """The program; arguments are a0, a1, …, results r0, r1, …"""
    named = listing(f'{x.name}: {x.type} {{ad.name = "{x.name[1:]}"}}' for x in graph.inputs)
    outputs = graph.results + [graph.inputs[i] for i in graph.wrt]
    results = listing(f'{x.type} {{ad.name = "r{i}"}}' for i, x in enumerate(outputs))
    if not graph.wrt:
        return f"func.func @main({named}) -> ({results}) {{\n{body(graph)}}}\n"
    plain = listing(f"{x.name}: {x.type}" for x in graph.inputs)
    operands, types = listing(x.name for x in graph.inputs), listing(x.type for x in graph.inputs)
    count, given = len(graph.wrt), listing(x.type for x in outputs)
    values = listing(["%l", *(f"%d#{i}" for i in range(count))]) if count > 1 else "%l, %d"
    return (f"func.func private @loss({plain}) -> {graph.results[0].type} {{\n{body(graph)}}}\n"
            f"func.func @main({named}) -> ({results}) {{\n"
            f"  %l, %d{f':{count}' if count > 1 else ''} = ad.value_and_grad @loss({operands}) wrt {axes(graph.wrt)}"
            f" : ({types}) -> ({given})\n  return {values} : {given}\n}}\n")
