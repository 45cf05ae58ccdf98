# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The named cases of sweep.py: graphs, and programs with loops, donated arguments or a generator of their own.

A case has a name and a tolerance, relative to the largest element of a result. `prepare` gives it the `text` of our
program, its `arguments` by name, the `truth` in f64 by the name of a result, and `contenders`: functions without
arguments that compute the results in this order.
"""

import functools
import importlib
import sys

import numpy as np

import encoder
import llama
import llama_program
import measure
import sweep_cases
import sweep_graph
import sweep_peers
import sweep_sizes
import transformer_program
from sweep_graph import Graph

TOLERANCE = {"f32": 1e-4, "f64": 1e-10, "f16": 1e-2, "bf16": 5e-2, "i8": 0, "i32": 0}


OFFSETS = (0, 4, 16, 32)  # where arrays of random cases begin, in bytes after a multiple of 64
OPEN = 3  # in one of so many random cases of a family, types of arguments leave sizes open


class GraphCase:
    """A named graph, or the random graph of that number, which is part of its name."""

    static_text = None  # the program with all sizes in its types, if `text` leaves some open

    def __init__(self, name, graph, number=None):
        self.name, self.graph, self.seed = name, graph, number or 0
        if number is not None:
            self.offset = OFFSETS[number % len(OFFSETS)]
            if number // len(sweep_cases.FAMILIES) % OPEN == 1:
                self.open_sizes(number)
        self.tolerance = max(TOLERANCE[x.element] for x in graph.nodes)  # that of the narrowest type

    def open_sizes(self, number):
        static_text = sweep_graph.text(self.graph)
        if sweep_sizes.open_sizes(self.graph, sweep_cases.Draw(number, 11)):
            self.static_text = static_text
            self.name += " (dynamic)"

    def prepare(self, peers):
        arrays = sweep_cases.inputs(self.graph, self.seed)
        self.text = sweep_graph.text(self.graph)
        self.arguments = {x.name[1:]: (values, x.element) for values, x in zip(arrays, self.graph.inputs)}
        results = sweep_peers.in_double(self.graph, arrays, peers["torch"])
        self.truth = {f"r{i}": value for i, value in enumerate(results)}
        self.contenders = {}
        for forms in (sweep_peers.numpy_forms, *(peer.forms for peer in peers.values() if peer)):
            try:
                self.contenders.update(forms(self.graph, arrays))
            except sweep_peers.Missing:
                continue


class LlamaCase:
    tolerance = 1e-4

    def __init__(self, batch, length):
        self.name = f"llama step {batch}x{length}x{llama.WIDTH}"
        self.batch, self.length = batch, length

    def prepare(self, peers):
        parameters, x, target = inputs = llama.make_inputs(self.batch, self.length)
        cos, sin = llama.rotary(self.length)
        arrays = {**parameters, "x": x, "target": target, "cos": cos, "sin": sin}
        self.text = llama_program.program(self.batch, self.length)
        self.arguments = {name: (values, "f32") for name, values in arrays.items()}
        loss, gradients = llama.loss_and_gradients(*inputs)
        order = [*parameters, "x"]
        self.truth = {"loss": loss, **{f"d_{name}": gradients[name] for name in order}}
        self.contenders = {}
        if peers["jax"]:
            import jax_llama
            run_jax = jax_llama.step(*inputs)
            self.contenders["jax"] = lambda: [(r := run_jax())[0], *(r[1][0][name] for name in parameters), r[1][1]]
        if peers["torch"]:
            import torch_llama
            for name, compiled in (("torch", False), ("torch-compile", True)):
                run = torch_llama.step(*inputs, compiled)
                self.contenders[name] = lambda run=run: [(r := run())[0], *r[1]]


def trainers(model, peers, methods, arguments):
    """By name of a peer that is there: a function that trains with MODULE.Trainer(*arguments), made on the first
    call."""
    @functools.cache
    def trainer(peer):
        return importlib.import_module(f"{peer}_{model}").Trainer(*arguments)

    return {peer: lambda peer=peer: getattr(trainer(peer), method)() for peer, method in methods.items() if peers[peer]}


class EncoderCase:
    """Training steps of the small encoder in one call; the loss of the last one is compared."""

    tolerance = 1e-4

    def __init__(self, layers=2, steps=100):
        self.name, self.layers, self.steps = f"encoder of {layers} layers, {steps} steps", layers, steps

    def loss_in_double(self, parameters, x, target):
        parameters = {name: value.astype(np.float64) for name, value in parameters.items()}
        for _ in range(self.steps):
            loss, gradients = encoder.loss_and_gradients(parameters, x, target, self.layers)
            parameters = {name: value - transformer_program.RATE * gradients[name] for name,
                          value in parameters.items()}
        return loss

    def prepare(self, peers):
        parameters, x, target = inputs = encoder.make_inputs(self.layers)
        self.text = transformer_program.program(self.layers, self.steps)
        self.arguments = {name: (values, "f32") for name, values in {**parameters, "x": x, "target": target}.items()}
        self.truth = {"loss": self.loss_in_double(*inputs)}
        runs = trainers("encoder", peers, {"jax": "time_loop", "torch": "time_compiled"},
                        (*inputs, self.layers, transformer_program.RATE, self.steps))
        self.contenders = {peer: lambda run=run: [np.float64(run()[1])] for peer, run in runs.items()}


class DigitsCase:
    """The training run of the perceptron in examples/digits, with its batches; the loss of each step is compared."""

    name, tolerance = "digits perceptron, 880 steps", 1e-2

    def prepare(self, peers):
        digits = measure.ROOT / "examples/digits"
        sys.path.insert(0, str(digits))
        import prepare
        parameters, self.feeds = prepare.make_inputs("mlp", 0)
        self.text = (digits / "mlp.mlir").read_text()
        self.arguments = {name: (values, "f32") for name, values in parameters.items()}
        batches = self.feeds["images"], self.feeds["labels"]
        self.truth = {"loss": digits_losses_in_double(parameters, *batches)}
        runs = trainers("digits", peers, {"jax": "losses_in_loop", "torch": "losses_compiled"}, (parameters, *batches))
        self.contenders = {peer: lambda run=run: [run()] for peer, run in runs.items()}


def digits_losses_in_double(parameters, images, labels, momentum=0.9, rate=0.1):
    p = {name: value.astype(np.float64) for name, value in parameters.items()}
    velocities, losses = {name: 0.0 for name in p}, []
    for pixels, classes in zip(images, labels):
        x = pixels * 0.0625
        hidden = np.maximum(x @ p["hidden_weight"] + p["hidden_bias"], 0.0)
        scores = hidden @ p["output_weight"] + p["output_bias"]
        scores -= scores.max(1, keepdims=True)
        log_sum = np.log(np.exp(scores).sum(1, keepdims=True))
        rows = np.arange(len(classes))
        losses.append((log_sum[:, 0] - scores[rows, classes]).mean())
        d_scores = np.exp(scores - log_sum)
        d_scores[rows, classes] -= 1.0
        d_scores /= len(classes)
        d_hidden = (d_scores @ p["output_weight"].T) * (hidden > 0.0)
        gradients = {"hidden_weight": x.T @ d_hidden, "hidden_bias": d_hidden.sum(0),
                     "output_weight": hidden.T @ d_scores, "output_bias": d_scores.sum(0)}
        velocities = {name: momentum * velocities[name] + gradients[name] for name in p}
        p = {name: p[name] - rate * velocities[name] for name in p}
    return np.array(losses)


class SliceLoopCase:
    """The gradient of a recurrence that reads a row of its input in each step: h = tanh(h * w + x[i])."""

    tolerance = 1e-4

    def __init__(self, steps, width=1024):
        self.name, self.steps, self.width = f"gradient through dynamic_slice, {steps} steps", steps, width

    def program(self):
        rows, row = f"tensor<{self.steps}x{self.width}xf32>", f"tensor<{self.width}xf32>"
        wide = f"tensor<1x{self.width}xf32>"
        return f"""\
func.func private @loss(%x: {rows}, %w: {row}) -> tensor<f32> {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant {self.steps} : index
  %start = ad.constant dense<0.0> : {row}
  %h = scf.for %i = %zero to %steps step %one iter_args(%last = %start) -> ({row}) {{
    %0 = ad.dynamic_slice %x[%i, %zero] : {rows} -> {wide}
    %1 = ad.reshape %0 : {wide} -> {row}
    %2 = ad.mul %last, %w : {row}
    %3 = ad.add %2, %1 : {row}
    %4 = ad.tanh %3 : {row}
    scf.yield %4 : {row}
  }}
  %square = ad.mul %h, %h : {row}
  %loss = ad.reduce_mean %square axes [0] : {row} -> tensor<f32>
  return %loss : tensor<f32>
}}
func.func @main(%x: {rows} {{ad.name = "x"}}, %w: {row} {{ad.name = "w"}})
    -> (tensor<f32> {{ad.name = "loss"}}, {rows} {{ad.name = "d_x"}}, {row} {{ad.name = "d_w"}}) {{
  %l, %d:2 = ad.value_and_grad @loss(%x, %w) wrt [0, 1] : ({rows}, {row}) -> (tensor<f32>, {rows}, {row})
  return %l, %d#0, %d#1 : tensor<f32>, {rows}, {row}
}}
"""

    def in_double(self, x, w):
        states = [np.zeros(self.width)]
        for row in x:
            states.append(np.tanh(states[-1] * w + row))
        g, d_x, d_w = 2 * states[-1] / self.width, np.zeros_like(x), np.zeros_like(w)
        for i in reversed(range(self.steps)):
            d_x[i] = g * (1 - states[i + 1] ** 2)
            d_w += d_x[i] * states[i]
            g = d_x[i] * w
        return (states[-1] ** 2).mean(), d_x, d_w

    def prepare(self, peers):
        rng = np.random.default_rng(0)
        x, w = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((self.steps, self.width), (self.width,)))
        self.text, self.arguments = self.program(), {"x": (x, "f32"), "w": (w, "f32")}
        self.truth = dict(zip(("loss", "d_x", "d_w"), self.in_double(x.astype(np.float64), w.astype(np.float64))))
        self.contenders = {}
        if peers["jax"]:
            self.contenders["jax"] = self.in_jax(peers["jax"].jax, x, w)
        if peers["torch"]:
            self.contenders["torch"] = self.in_torch(peers["torch"].torch, x, w)

    def in_jax(self, jax, x, w):
        def loss(x, w):
            step = lambda h, row: ((h := jax.numpy.tanh(h * w + row)), None)  # noqa: E731
            h, _ = jax.lax.scan(step, jax.numpy.zeros(self.width, "float32"), x)
            return (h * h).mean()

        gradients = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
        given = jax.numpy.asarray(x), jax.numpy.asarray(w)
        return lambda: [(r := jax.block_until_ready(gradients(*given)))[0], *r[1]]

    def in_torch(self, torch, x, w):
        x, w = torch.from_numpy(x).requires_grad_(), torch.from_numpy(w).requires_grad_()

        def run():
            h = torch.zeros(self.width)
            for row in x.unbind(0):
                h = torch.tanh(h * w + row)
            loss = (h * h).mean()
            return [loss.detach(), *torch.autograd.grad(loss, (x, w))]

        return run


class ScalarLoopCase:
    """A loop of scalars: s = 0.5 s + 0.75."""

    name, tolerance, steps = "scalar loop of 100000 iterations", 1e-4, 100000

    def prepare(self, peers):
        scalar = "tensor<f32>"
        self.text = f"""\
func.func @main(%a: {scalar} {{ad.name = "a"}}, %b: {scalar} {{ad.name = "b"}}) -> ({scalar} {{ad.name = "s"}}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant {self.steps} : index
  %s = scf.for %i = %zero to %steps step %one iter_args(%last = %b) -> ({scalar}) {{
    %0 = ad.mul %last, %a : {scalar}
    %1 = ad.add %0, %b : {scalar}
    scf.yield %1 : {scalar}
  }}
  return %s : {scalar}
}}
"""
        a, b = np.float32(0.5), np.float32(0.75)
        self.arguments, self.truth = {"a": (a, "f32"), "b": (b, "f32")}, {"s": np.float64(1.5)}
        self.contenders = {"numpy": lambda: [self.in_numpy(a, b)]}
        if peers["jax"]:
            jax = peers["jax"].jax
            loop = jax.jit(lambda a, b: jax.lax.fori_loop(0, self.steps, lambda _, s: s * a + b, b))
            given = jax.numpy.asarray(a), jax.numpy.asarray(b)
            self.contenders["jax"] = lambda: [jax.block_until_ready(loop(*given))]

    def in_numpy(self, a, b):
        s = b
        for _ in range(self.steps):
            s = s * a + b
        return s


class AdamCase:
    """A step of Adam that updates parameters and both moments in place."""

    tolerance, count = 1e-4, 10_000_000
    name = "adam, 10 M parameters"
    rate, beta1, beta2, epsilon = 1e-3, 0.9, 0.999, 1e-8

    def program(self):
        t, scalar = f"tensor<{self.count}xf32>", "tensor<f32>"
        constants = {"beta1": self.beta1, "beta2": self.beta2, "rest1": 1 - self.beta1, "rest2": 1 - self.beta2,
                     "up2": 1 / (1 - self.beta2), "rate": self.rate / (1 - self.beta1), "epsilon": self.epsilon}
        written = "".join(f"  %{name} = ad.constant dense<{value:e}> : {scalar}\n" for name, value in constants.items())
        donated = ", ".join(f'%{name}: {t} {{ad.name = "{name}", ad.donated = {i}}}' for i, name in enumerate("pmv"))
        results = ", ".join(f'{t} {{ad.name = "new_{name}"}}' for name in "pmv")
        return f"""\
func.func @main({donated}, %g: {t} {{ad.name = "g"}}) -> ({results}) {{
{written}\
  %0 = ad.mul %m, %beta1 : {t}, {scalar}
  %1 = ad.mul %g, %rest1 : {t}, {scalar}
  %m1 = ad.add %0, %1 : {t}
  %2 = ad.mul %v, %beta2 : {t}, {scalar}
  %3 = ad.mul %g, %g : {t}
  %4 = ad.mul %3, %rest2 : {t}, {scalar}
  %v1 = ad.add %2, %4 : {t}
  %5 = ad.mul %v1, %up2 : {t}, {scalar}
  %6 = ad.sqrt %5 : {t}
  %7 = ad.add %6, %epsilon : {t}, {scalar}
  %8 = ad.div %m1, %7 : {t}
  %9 = ad.mul %8, %rate : {t}, {scalar}
  %p1 = ad.sub %p, %9 : {t}
  return %p1, %m1, %v1 : {t}, {t}, {t}
}}
"""

    def prepare(self, peers):
        rng = np.random.default_rng(0)
        p, g = (rng.uniform(-1, 1, self.count).astype(np.float32) for _ in range(2))
        m = v = np.zeros(self.count, np.float32)  # the first step: PyTorch's optimizer starts there
        self.text = self.program()
        self.arguments = {name: (value, "f32") for name, value in zip("pmvg", (p, m, v, g))}
        m1, v1 = (1 - self.beta1) * g.astype(np.float64), (1 - self.beta2) * g.astype(np.float64) ** 2
        p1 = p - self.rate * (m1 / (1 - self.beta1)) / (np.sqrt(v1 / (1 - self.beta2)) + self.epsilon)
        self.truth, self.contenders = {"new_p": p1, "new_m": m1, "new_v": v1}, {}
        if peers["jax"]:
            self.contenders["jax"] = self.in_jax(peers["jax"].jax, p, g)
        if peers["torch"]:
            self.contenders["torch"] = self.in_torch(peers["torch"].torch, p, g)

    def in_jax(self, jax, p, g):
        np_ = jax.numpy

        def step(p, m, v, g):
            m, v = self.beta1 * m + (1 - self.beta1) * g, self.beta2 * v + (1 - self.beta2) * g * g
            up = m / (1 - self.beta1) / (np_.sqrt(v / (1 - self.beta2)) + self.epsilon)
            return p - self.rate * up, m, v

        compiled, g = jax.jit(step, donate_argnums=(0, 1, 2)), np_.asarray(g)
        state = [(np_.array(p), np_.zeros(self.count, "float32"), np_.zeros(self.count, "float32"))]

        def run():
            state[0] = jax.block_until_ready(compiled(*state[0], g))
            return state[0]

        return run

    def in_torch(self, torch, p, g):
        weight = torch.nn.Parameter(torch.from_numpy(p.copy()))
        weight.grad = torch.from_numpy(g)
        adam = torch.optim.Adam([weight], lr=self.rate, betas=(self.beta1, self.beta2), eps=self.epsilon, fused=True)

        def run():
            adam.step()
            state = adam.state[weight]
            return [weight.detach(), state["exp_avg"], state["exp_avg_sq"]]

        return run


def graph_case(name, build):
    graph = Graph()
    graph.results = [build(graph)]
    return GraphCase(name, graph)


def activation(function, element="f32"):
    return graph_case(f"{function} {element} 262144",
                      lambda g: g.unary(function, g.input((1 << 18,), element, -4.0, 4.0)))


def rows_times_matrix(rows):
    return graph_case(f"x W^T, batch {rows}, 4096x4096",
                      lambda g: g.dot(g.input((rows, 4096)), g.input((4096, 4096)), ((1,), (1,))))


def projection(heads, width):
    """Of 8 x 128 tokens to the queries of an attention, as flax and einsum users write it."""
    return graph_case(f"projection bts,shd->bthd to {heads} heads of {width}",
                      lambda g: g.dot(g.input((8, 128, 512)), g.input((512, heads, width)), ((2,), (0,))))


def layer_norm_gradient():
    graph = Graph()
    x, scale, bias, weight = (graph.input(shape) for shape in ((4096, 1024), (1024,), (1024,), (4096, 1024)))
    weighted = graph.binary("mul", graph.layer_norm(x, scale, bias), weight)
    graph.results, graph.wrt = [graph.reduce("sum", weighted, (0, 1))], [0, 1, 2]
    return GraphCase("layer_norm forward and backward 4096x1024", graph)


def cases():
    return [
        LlamaCase(2, 256),
        LlamaCase(1, 1024),
        graph_case("matrix times vector 4096x4096",
                   lambda g: g.dot(g.input((4096, 4096)), g.input((4096,)), ((1,), (0,)))),
        rows_times_matrix(1),
        rows_times_matrix(2),
        projection(8, 64),
        projection(64, 8),
        *(SliceLoopCase(steps) for steps in (100, 400, 1600)),
        AdamCase(),
        activation("gelu"),
        activation("gelu_tanh"),
        activation("tanh", "f64"),
        activation("erf"),
        graph_case("int8 product 512x512x512", lambda g: g.dot(
            g.input((512, 512), "i8", -100, 100), g.input((512, 512), "i8", -100, 100), ((1,), (0,)), element="i32")),
        graph_case("cumsum along rows 2048x1024", lambda g: g.cumsum(g.input((2048, 1024)), 1)),
        graph_case("column sums 65536x1024", lambda g: g.reduce("sum", g.input((65536, 1024)), (0,))),
        layer_norm_gradient(),
        ScalarLoopCase(),
    ]
