# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What gpu.py compares with eager PyTorch: random graphs of sweep.py at the sizes of a GPU, half of them gradients, and
workloads of users. Peers take it from here, too.

A graph takes between about 20 microseconds and a few milliseconds on an H200. All sizes are static, types are f32 and
bf16. What has no derivative at ties (max, min) is not drawn for gradients, where bf16 has many.
"""

import math

import sweep_cases
import sweep_graph
import sweep_peers
from sweep_graph import Graph

GPU = sweep_cases.Scale(elements=8, sides=8, products=64, types=("f32", "bf16"))
EMULATED = sweep_cases.Scale(elements=2**-9, sides=2**-5, products=2**-13, types=GPU.types)  # for tests
# Guesses, to find sizes: floating-point operations per second, bytes per second, and the limits of a graph in seconds.
FLOPS, BANDWIDTH, SHORTEST, LONGEST = {"f32": 3e13, "bf16": 3e14}, 3e12, 1.5e-5, 3e-3
BYTES = {"f64": 8, "f32": 4, "i32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "i8": 1}
LARGEST = 1 << 30  # bytes of a value, for peers that keep each of them
FORWARD = [sweep_cases.contraction, sweep_cases.few_rows, sweep_cases.reduction, sweep_cases.elementwise,
           sweep_cases.norm, sweep_cases.attention, sweep_cases.movement, sweep_cases.running_sum]


def bytes_of(node):
    return BYTES[node.element] * math.prod(node.shape)


def weighted(family):
    """A family as a loss: the sum of its result times weights, which have no gradient."""
    def build(draw, g):
        family(draw, g)
        wrt, value = len(g.inputs), g.results[0]
        product = g.binary("mul", value, g.input(value.shape, value.element))
        g.results, g.wrt = [g.reduce("sum", product, range(len(value.shape)))], list(range(wrt))

    build.__name__ = f"{family.__name__}_gradient"
    return build


def mean_square(family):
    def build(draw, g):
        family(draw, g)
        g.results, g.wrt = [sweep_cases.mean_square(g, g.results[0])], list(range(len(g.inputs)))

    build.__name__ = f"{family.__name__}_gradient"
    return build


def of_all(family):
    """A family of f32 in a type that is drawn."""
    def build(draw, g):
        family(draw, g)
        g.wrt, element = list(range(len(g.inputs))), draw.pick(GPU.types)
        for node in g.nodes:
            node.element = element

    build.__name__ = family.__name__
    return build


GRADIENTS = [of_all(sweep_cases.layers_gradient), weighted(sweep_cases.reduction), of_all(sweep_cases.norm_gradient),
             mean_square(sweep_cases.attention), weighted(sweep_cases.elementwise), weighted(sweep_cases.contraction),
             weighted(sweep_cases.movement), weighted(sweep_cases.running_sum), weighted(sweep_cases.few_rows)]


def work(graph):
    """(floating-point operations, bytes at least, seconds at about the speed of an H200). A gradient reads its inputs
    twice and writes as many results."""
    flops, seconds = 0, 0.0
    for node in graph.nodes:
        if node.kind == "dot":
            k = math.prod(node.operands[0].shape[a] for a in node.parameters["contract"][0])
            more = 2 * k * math.prod(node.shape) * (3 if graph.wrt else 1)
            flops += more
            seconds += more / FLOPS.get(node.operands[0].element, FLOPS["bf16"])
    traffic = sum(map(bytes_of, graph.inputs)) * (3 if graph.wrt else 1) + sum(map(bytes_of, graph.results))
    return flops, traffic, max(seconds, traffic / BANDWIDTH)


def suits(graph, scale):
    functions = [node.parameters.get("function") for node in graph.nodes]
    if functions.count("exp") > 1 or graph.wrt and {"max", "min"} & set(functions):
        return False
    return scale == EMULATED or SHORTEST <= work(graph)[2] <= LONGEST and max(map(bytes_of, graph.nodes)) <= LARGEST


def scale_weights(graph):
    """Operands of long sums are about as small as the weights of models, so that activations do not saturate, whose
    derivatives would be nothing but rounding. Scores of an attention have their own scale."""
    for node in graph.nodes:
        if node.kind == "dot" and node.operands[1].kind == "input" and len(node.parameters["batch"][0]) < 2:
            k = math.prod(node.operands[0].shape[a] for a in node.parameters["contract"][0])
            largest = (3 / k) ** 0.5  # the deviation of a uniform number is that by the root of 3
            node.operands[1].parameters.update(low=-largest, high=largest)


def random_graph(seed, number, scale=GPU):
    """The name of a case and its graph; every other one is a gradient."""
    families = GRADIENTS if number % 2 else FORWARD
    family, attempt = families[number // 2 % len(families)], 0
    while True:
        graph = Graph()
        family(sweep_cases.Draw(seed, number, attempt, scale=scale), graph)
        if suits(graph, scale):
            scale_weights(graph)
            return sweep_cases.name_of(number, family.__name__, graph), graph
        attempt += 1


class Argument:
    def __init__(self, name, shape, element, low=-0.75, high=1.25):
        self.name, self.shape, self.element, self.low, self.high = name, tuple(shape), element, low, high


class GraphCase:
    """A program that is a graph, in a mode and with options of the compiler. `narrow`: PyTorch may use tf32."""

    part = "graphs"

    def __init__(self, name, graph, mode="strict", flags=()):
        self.name, self.graph, self.mode, self.flags = name, graph, mode, list(flags)
        self.flops, self.bytes, _ = work(graph)
        self.arguments = [Argument(x.name[1:], x.shape, x.element, x.parameters["low"], x.parameters["high"])
                          for x in graph.inputs]
        outputs = [*graph.results, *(graph.inputs[i] for i in graph.wrt)]
        self.results = [f"r{i}" for i in range(len(outputs))]
        self.elements, self.wrt = [x.element for x in graph.nodes], graph.wrt

    @property
    def narrow(self):
        return "narrow" in self.mode

    def text(self):
        return sweep_graph.text(self.graph)

    def runner(self, library, given):
        """A function that computes the results by PyTorch."""
        return library.runner(self.graph, given, False)

    def in_double(self, library, given):
        """The results without the gradients, by the wide Numpy of sweep_peers.py."""
        wide = [library.array(values, x.element) for values, x in zip(given, self.graph.inputs)]
        return sweep_peers.evaluate(self.graph, library, wide)


def random_cases(seed, count, scale=GPU):
    return [GraphCase(*random_graph(seed, number, scale)) for number in range(count)]
