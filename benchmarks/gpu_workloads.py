# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Workloads of users: gradients of a Llama block in four forms, a linear layer with gelu, products of every type, rows,
gradients of norms, cross entropy, and Adam. Most are graphs; the others have the same interface as
gpu_graphs.GraphCase."""

import contextlib
import math

import adam_program
import llama
from adam_program import BETA1, BETA2, EPSILON, RATE
from gpu_graphs import BYTES, Argument, GraphCase
from sweep_graph import Graph

# Sizes on a GPU, and on the emulated one.
LARGE = {"layer": (8192, 4096, 14336), "side": 8192, "half_side": 4096, "rows": (16384, 4096), "scores": (8192, 32000),
         "parameters": 1 << 26, "block": (4, 1024)}
SMALL = {"layer": (32, 64, 48), "side": 64, "half_side": 32, "rows": (32, 64), "scores": (16, 50), "parameters": 500,
         "block": None}


def graph_case(name, build, mode="strict", flags=()):
    graph = Graph()
    build(graph)
    case = GraphCase(name, graph, mode, flags)
    case.part = "workloads"
    return case


def product(element, size, mode, flags=(), name=""):
    def build(g):
        limits = (-100, 100) if element == "i8" else ()
        # PyTorch multiplies f8 only where both operands are contiguous along K.
        turned = element == "f8E4M3FN"
        x, y = g.input((size, size), element, *limits), g.input((size, size), element, *limits)
        result = {"i8": "i32", "f8E4M3FN": "f32"}.get(element, element)
        g.results = [g.dot(x, y, ((1,), (1 if turned else 0,)), element=result)]

    return graph_case(f"product {element} {size}x{size} {name or mode}", build, mode, flags)


def linear_gelu(rows, inner, columns, mode):
    def build(g):
        x, weight, bias = (g.input(shape, "bf16") for shape in ((rows, inner), (columns, inner), (columns,)))
        g.results = [g.unary("gelu", g.binary("add", g.dot(x, weight, ((1,), (1,))), bias))]

    return graph_case(f"linear layer with gelu bf16 {rows}x{inner}x{columns} {mode}", build, mode)


def softmax(shape, element):
    return graph_case(f"softmax {element} {shape[0]}x{shape[1]}",
                      lambda g: setattr(g, "results", [g.softmax(g.input(shape, element), 1)]))


def gelu(shape, element):
    return graph_case(f"gelu {element} {shape[0]}x{shape[1]} fast",
                      lambda g: setattr(g, "results", [g.unary("gelu", g.input(shape, element, -4.0, 4.0))]), "fast")


def layer_norm_gradients(shape, element):
    def build(g):
        x, scale, bias, weight = (g.input(size, element) for size in (shape, shape[-1:], shape[-1:], shape))
        weighted = g.binary("mul", g.layer_norm(x, scale, bias), weight)
        g.results, g.wrt = [g.reduce("sum", weighted, (0, 1))], [0, 1, 2]

    return graph_case(f"gradients of layer_norm {element} {shape[0]}x{shape[1]}", build)


def cross_entropy(shape, element):
    def build(g):
        scores, classes = g.input(shape, element, -4.0, 4.0), g.input(shape[:1], "i32", 0, shape[1] - 1)
        g.results, g.wrt = [g.reduce("mean", g.cross_entropy(scores, classes), (0,))], [0]

    return graph_case(f"gradients of cross entropy {element} {shape[0]}x{shape[1]}", build)


class Block:
    """Gradients of the block of llama.py. With the policy bf16, PyTorch has autocast."""

    part = "workloads"

    def __init__(self, batch, length, form, mode, flags=()):
        self.name, self.mode, self.flags = f"gradients of a Llama block {batch}x{length} {form}", mode, list(flags)
        self.sizes, self.form = (batch, length), form
        self.narrow, self.elements = form == "tf32", ["bf16" if "bf16" in form else "f32"]
        self.arguments = [Argument(name, shape, "f32", *self.limits(shape)) for name, shape in llama.shapes().items()]
        self.arguments += [Argument(name, (batch, length, llama.WIDTH), "f32", -1.7, 1.7) for name in ("x", "target")]
        self.arguments += [Argument(name, (length, 1, llama.HALF), "f32", None, None) for name in ("cos", "sin")]
        self.results = ["loss", *(f"d_{name}" for name in [*llama.shapes(), "x"])]
        self.flops = 3 * 2 * batch * length * sum(math.prod(s) for s in llama.shapes().values() if len(s) > 1)
        self.bytes = 0

    @staticmethod
    def limits(shape):
        """Uniform with the deviation of llama.py: near 1 for scales, else one by the root of the inputs."""
        return (0.8, 1.2) if len(shape) == 1 else (-1.7 * shape[1] ** -0.5, 1.7 * shape[1] ** -0.5)

    def values(self, name):
        """Of an argument that is not random."""
        return llama.rotary(self.sizes[1])[("cos", "sin").index(name)]

    def text(self):
        import llama_program

        return llama_program.program(*self.sizes)

    def runner(self, library, given):
        import torch_llama

        torch = library.torch
        values = {each.name: value for each, value in zip(self.arguments, given)}
        parameters = {name: values[name].requires_grad_() for name in llama.shapes()}
        x, tables = values["x"].requires_grad_(), (values["cos"], values["sin"])
        narrow = self.elements == ["bf16"] and x.dtype == torch.float32

        def run():
            with torch.autocast(x.device.type, torch.bfloat16, cache_enabled=False) if narrow \
                    else contextlib.nullcontext():
                loss = torch_llama.loss(parameters, x, values["target"], tables)
            return [loss.detach(), *torch.autograd.grad(loss, [*parameters.values(), x])]

        return run


class Adam:
    """The first step, whose parameters and moments are donated."""

    part = "workloads"
    mode, flags, narrow, elements, flops = "strict", (), False, ["f32"], 0
    results, wrt = ["p", "m", "v"], []

    def __init__(self, count):
        self.name, self.count, self.bytes = f"Adam {count} parameters", count, 7 * BYTES["f32"] * count
        moments = [Argument(name, (count,), "f32", 0, 0) for name in "mv"]
        self.arguments = [Argument("p", (count,), "f32", -1, 1), *moments, Argument("g", (count,), "f32", -1, 1)]

    def text(self):
        return adam_program.program(self.count, number=1)

    def in_double(self, _library, given):
        p, m, v, g = given
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
        return p - RATE * (m / (1 - BETA1)) / ((v / (1 - BETA2)) ** 0.5 + EPSILON), m, v

    def runner(self, library, given):
        """PyTorch's fused optimizer on copies, whose first step is compared."""
        torch = library.torch
        weight = torch.nn.Parameter(given[0].clone())
        weight.grad = given[3].clone()
        is_cuda = weight.device.type == "cuda"
        adam = torch.optim.Adam([weight], lr=RATE, betas=(BETA1, BETA2), eps=EPSILON, fused=True, capturable=is_cuda)

        def run():
            adam.step()
            state = adam.state[weight]
            return [weight.detach(), state["exp_avg"], state["exp_avg_sq"]]

        return run


def cases(small=False):
    sizes = SMALL if small else LARGE
    side, half = sizes["side"], sizes["half_side"]
    if sizes["block"]:
        for form, mode, flags in (("bf16 strict", "strict", ["--precision", "bf16"]),
                                  ("bf16 fast", "fast", ["--precision", "bf16"]), ("f32", "strict", []),
                                  ("tf32", "fast,narrow", [])):
            yield Block(*sizes["block"], form, mode, flags)
    for size in sorted({half // 4, half // 2, half, side}) if not small else [side]:
        yield product("bf16", size, "strict")
    yield from (linear_gelu(*sizes["layer"], mode) for mode in ("strict", "fast"))
    for element in ("bf16", "f32"):
        yield softmax(sizes["rows"], element)
        yield layer_norm_gradients(sizes["rows"], element)
        yield cross_entropy(sizes["scores"], element)
        yield gelu(sizes["rows"], element)
    yield Adam(sizes["parameters"])
    yield product("f32", side, "strict")
    yield product("f16", side, "fast")
    yield product("f8E4M3FN", side, "fast")
    yield product("i8", side, "strict")
    yield product("f32", half, "fast", ["--kernel", "dot=bf16x6"], "bf16x6")
    yield product("bf16", half, "reproducible")
