# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Evaluates the graphs of sweep_graph.py with NumPy, JAX and PyTorch, as their users would write them, and in f64.

Each peer gives functions without arguments that compute the results, a list of arrays. A peer that lacks an operation
raises `Missing`. `load` names a library that is not installed.
"""

import importlib
import math

import numpy as np

from sweep_graph import EPSILON, HIDDEN


class Missing(Exception):
    """The peer has no such operation for these types."""


def evaluate(graph, library, arrays):
    values = dict(zip(graph.inputs, arrays))
    for node in graph.nodes:
        if node not in values:
            values[node] = getattr(library, node.kind)(node, *(values[x] for x in node.operands))
    return [values[x] for x in graph.results]


def slices(node):
    p = node.parameters
    return tuple(slice(o, o + (s - 1) * step + 1, step) for o, s, step in zip(p["offsets"], node.shape, p["strides"]))


class ArrayLibrary:
    """What NumPy and JAX write alike; `np` is the module of arrays."""

    def unary(self, node, x):
        function = node.parameters["function"]
        plain = {"neg": "negative"}.get(function, function)
        if function in ("abs", "neg", "exp", "log", "tanh", "sqrt", "sin", "cos"):
            return getattr(self.np, plain)(x)
        return self.special(function, x)

    def binary(self, node, x, y):
        names = {"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "max": "maximum",
                 "min": "minimum"}
        return getattr(self.np, names[node.parameters["function"]])(x, y)

    def transpose(self, node, x):
        return self.np.transpose(x, node.parameters["permutation"])

    def reshape(self, node, x):
        return self.np.reshape(x, node.shape)

    def broadcast(self, node, x):
        return self.np.broadcast_to(x, node.shape)

    def slice(self, node, x):
        return x[slices(node)]

    def concat(self, node, *operands):
        return self.np.concatenate(operands, node.parameters["axis"])

    def pad(self, node, x, _):
        return self.np.pad(x, list(zip(node.parameters["low"], node.parameters["high"])))

    def reverse(self, node, x):
        return self.np.flip(x, node.parameters["axes"])

    def reduce(self, node, x):
        p = node.parameters
        return getattr(self.np, p["function"])(x, axis=p["axes"], keepdims=p["keep"])

    def cumsum(self, node, x):
        return self.np.cumsum(x, node.parameters["axis"])

    def layer_norm(self, node, x, scale, bias):
        centred = x - x.mean(-1, keepdims=True)
        return centred / self.np.sqrt((centred * centred).mean(-1, keepdims=True) + EPSILON) * scale + bias

    def rms_norm(self, node, x, scale):
        return x / self.np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * scale

    def causal(self, node, x):
        return self.np.where(self.np.tril(self.np.ones(x.shape[-2:], bool)), x, self.np.asarray(HIDDEN, x.dtype))


class Numpy(ArrayLibrary):
    """NumPy in the program's own types, or, where `wide`, in f64 and i64."""

    DTYPES = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}

    def __init__(self, wide=False):
        self.np, self.wide = np, wide

    def dtype(self, element):
        if self.wide:
            return np.int64 if element.startswith("i") else np.float64
        if element not in self.DTYPES:
            raise Missing(element)
        return self.DTYPES[element]

    def array(self, values, element):
        return values.astype(self.dtype(element))

    def constant(self, node):
        return np.asarray(node.parameters["value"], self.dtype(node.element))

    def cast(self, node, x):
        return x.astype(self.dtype(node.element))

    def special(self, function, x):
        if function == "relu":
            return np.maximum(x, 0)
        if function == "rsqrt":
            return 1 / np.sqrt(x)
        if function in ("sigmoid", "silu"):
            return (x if function == "silu" else 1) / (1 + np.exp(-x))
        if function == "softplus":
            return np.logaddexp(0, x)
        if function == "gelu_tanh":
            return x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))) / 2
        if not self.wide:
            raise Missing(function)
        erf = np.vectorize(math.erf, otypes=[np.float64])
        return erf(x) if function == "erf" else x * (1 + erf(x / math.sqrt(2))) / 2

    def softmax(self, node, x):
        axis = node.parameters["axis"]
        shifted = x - x.max(axis, keepdims=True)
        e = np.exp(shifted)
        total = e.sum(axis, keepdims=True)
        return e / total if node.parameters["function"] == "softmax" else shifted - np.log(total)

    def cross_entropy(self, node, x, classes):
        shifted = x - x.max(-1, keepdims=True)
        given = np.take_along_axis(shifted, classes.astype(np.int64)[..., None], -1)[..., 0]
        return np.log(np.exp(shifted).sum(-1)) - given

    def dot(self, node, x, y):
        """By matmul: axes are permuted to batch, free, contracted, and joined."""
        p, dtype = node.parameters, self.dtype(node.element)
        batch, contract, free = p["batch"], p["contract"], p["free"]
        sizes = [math.prod(v.shape[a] for a in free[i]) for i, v in enumerate((x, y))]
        b, k = tuple(x.shape[a] for a in batch[0]), math.prod(x.shape[a] for a in contract[0])
        left = x.transpose(*batch[0], *free[0], *contract[0]).reshape(*b, sizes[0], k)
        right = y.transpose(*batch[1], *contract[1], *free[1]).reshape(*b, k, sizes[1])
        return np.matmul(left.astype(dtype, copy=False), right.astype(dtype, copy=False)).reshape(node.shape)


class Jax(ArrayLibrary):
    def __init__(self, jax):
        self.jax, self.np = jax, jax.numpy
        self.dtypes = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8",
                       "i32": "int32"}

    def array(self, values, element):
        return self.np.asarray(values, self.dtypes[element])

    def constant(self, node):
        return self.array(node.parameters["value"], node.element)

    def cast(self, node, x):
        return x.astype(self.dtypes[node.element])

    def special(self, function, x):
        if function.startswith("gelu"):
            return self.jax.nn.gelu(x, approximate=function == "gelu_tanh")
        if function in ("erf", "rsqrt"):
            return getattr(self.jax.lax, function)(x)
        return getattr(self.jax.nn, function)(x)

    def softmax(self, node, x):
        return getattr(self.jax.nn, node.parameters["function"])(x, node.parameters["axis"])

    def dot(self, node, x, y):
        p = node.parameters
        element = self.dtypes[node.element]
        return self.jax.lax.dot_general(x, y, (p["contract"], p["batch"]), preferred_element_type=element)

    def forms(self, graph, arrays):
        """The ways to run a graph, by name."""
        with self.jax.enable_x64(any(x.element == "f64" for x in graph.nodes)):
            given = [self.array(values, x.element) for values, x in zip(arrays, graph.inputs)]
        function = lambda *values: evaluate(graph, self, values)  # noqa: E731
        if graph.wrt:
            loss = lambda *values: evaluate(graph, self, values)[0]  # noqa: E731
            gradients = self.jax.value_and_grad(loss, argnums=tuple(graph.wrt))
            function = lambda *values: [(r := gradients(*values))[0], *r[1]]  # noqa: E731
        compiled = self.jax.jit(function)

        def run():
            with self.jax.enable_x64(any(x.element == "f64" for x in graph.nodes)):
                return self.jax.block_until_ready(compiled(*given))

        return {"jax": run}


class Torch:
    def __init__(self, torch):
        self.torch, self.functional = torch, torch.nn.functional
        self.dtypes = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
                       "f8E4M3FN": torch.float8_e4m3fn, "i8": torch.int8, "i32": torch.int32}

    def array(self, values, element):
        return self.torch.from_numpy(np.array(values)).to(self.dtypes[element])

    def constant(self, node):
        return self.torch.tensor(node.parameters["value"], dtype=self.dtypes[node.element])

    def cast(self, node, x):
        return x.to(self.dtypes[node.element])

    def unary(self, node, x):
        function = node.parameters["function"]
        if function.startswith("gelu"):
            return self.functional.gelu(x, approximate="tanh" if function == "gelu_tanh" else "none")
        if function in ("silu", "softplus"):
            return getattr(self.functional, function)(x)
        return getattr(self.torch, function)(x)

    def binary(self, node, x, y):
        name = {"max": "maximum", "min": "minimum"}.get(node.parameters["function"], node.parameters["function"])
        return getattr(self.torch, name)(x, y)

    def dot(self, node, x, y):
        p = node.parameters
        if x.dtype == self.torch.int8:
            if len(x.shape) != 2 or len(y.shape) != 2 or p["batch"][0]:
                raise Missing("int8")
            return self.torch._int_mm(x if p["contract"][0][0] == 1 else x.T, y if p["contract"][1][0] == 0 else y.T)
        if x.dtype == self.torch.float8_e4m3fn:
            if p["contract"] != ((1,), (1,)):
                raise Missing("f8 in this layout")
            one = self.torch.ones((), device=x.device)
            return self.torch._scaled_mm(x, y.T, one, one, out_dtype=self.dtypes[node.element])
        letters = iter("abcdefghijklmnopqrstuvwxyz")
        left = [next(letters) for _ in x.shape]
        right = [next(letters) for _ in y.shape]
        for pair in (p["batch"], p["contract"]):
            for i, j in zip(*pair):
                right[j] = left[i]
        result = [left[a] for a in p["batch"][0]] + [left[a] for a in p["free"][0]] + [right[a] for a in p["free"][1]]
        equation = f"{''.join(left)},{''.join(right)}->{''.join(result)}"
        return self.torch.einsum(equation, x, y).to(self.dtypes[node.element])

    def transpose(self, node, x):
        return x.permute(node.parameters["permutation"])

    def reshape(self, node, x):
        return x.reshape(node.shape)

    def broadcast(self, node, x):
        return x.expand(node.shape)

    def slice(self, node, x):
        return x[slices(node)]

    def concat(self, node, *operands):
        return self.torch.cat(operands, node.parameters["axis"])

    def pad(self, node, x, _):
        pairs = list(zip(node.parameters["low"], node.parameters["high"]))
        return self.functional.pad(x, [size for pair in reversed(pairs) for size in pair])

    def reverse(self, node, x):
        return x.flip(node.parameters["axes"])

    def reduce(self, node, x):
        p = node.parameters
        name = {"max": "amax", "min": "amin"}.get(p["function"], p["function"])
        options = {"dtype": self.dtypes[node.element]} if node.element.startswith("i") and name == "sum" else {}
        return getattr(self.torch, name)(x, dim=p["axes"], keepdim=p["keep"], **options)

    def cumsum(self, node, x):
        return self.torch.cumsum(x, node.parameters["axis"])

    def softmax(self, node, x):
        return getattr(self.torch, node.parameters["function"])(x, node.parameters["axis"])

    def layer_norm(self, node, x, scale, bias):
        return self.functional.layer_norm(x, scale.shape, scale, bias, EPSILON)

    def rms_norm(self, node, x, scale):
        return self.functional.rms_norm(x, scale.shape, scale, EPSILON)

    def hidden(self, x):
        """Where a row of scores must not look."""
        return self.torch.ones(x.shape[-2:], dtype=self.torch.bool, device=x.device).tril().logical_not()

    def causal(self, node, x):
        return x.masked_fill(self.hidden(x), HIDDEN)

    def class_numbers(self, classes):
        return classes.long()

    def cross_entropy(self, node, x, classes):
        return self.functional.cross_entropy(x, self.class_numbers(classes), reduction="none")

    def runner(self, graph, given, compiled):
        function = lambda *values: [x.contiguous() for x in evaluate(graph, self, values)]  # noqa: E731
        if compiled:
            self.torch._dynamo.reset()
            function = self.torch.compile(function, dynamic=False)
        wrt = [given[i].requires_grad_() for i in graph.wrt]

        def run():
            if not wrt:
                with self.torch.no_grad():
                    return function(*given)
            loss = function(*given)[0]
            return [loss.detach(), *self.torch.autograd.grad(loss, wrt)]

        return run

    def forms(self, graph, arrays):
        given = [self.array(values, x.element) for values, x in zip(arrays, graph.inputs)]
        return {"torch": self.runner(graph, given, False), "torch-compile": self.runner(graph, given, True)}

    def wide(self, graph, arrays):
        """The results in f64, by PyTorch's own derivatives where there are gradients."""
        kept, self.dtypes = self.dtypes, {key: self.torch.float64 for key in self.dtypes}
        try:
            given = [self.array(values, x.element) for values, x in zip(arrays, graph.inputs)]
            return [x.numpy() for x in self.runner(graph, given, False)()]
        finally:
            self.dtypes = kept


def in_double(graph, arrays, torch):
    """What every contender is held against."""
    if graph.wrt:
        if torch is None:
            raise Missing("gradients in f64 without PyTorch")
        return torch.wide(graph, arrays)
    library = Numpy(wide=True)
    return evaluate(graph, library, [library.array(values, x.element) for values, x in zip(arrays, graph.inputs)])


def numpy_forms(graph, arrays):
    if graph.wrt:
        raise Missing("gradients")
    library = Numpy()
    given = [library.array(values, x.element) for values, x in zip(arrays, graph.inputs)]
    return {"numpy": lambda: [np.ascontiguousarray(x) for x in evaluate(graph, library, given)]}


def load():
    """JAX and PyTorch, None where one is missing."""
    found = {}
    for name, wrapper in (("jax", Jax), ("torch", Torch)):
        try:
            found[name] = wrapper(importlib.import_module(name))
        except ImportError as error:
            print(f"{name}: missing ({error})")
            found[name] = None
    if found["torch"]:
        found["torch"].torch.set_num_threads(1)
    return found
