# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs over the rows of a batch: row i of each result is a function of row i of each argument, and of
weights that all rows share. Programs are written for any size of the batch, which may be known at run time only."""

import numpy as np

from draws import Draws
from elements import FLOATS, tensor
from operations import UNARY_FLOAT

SIZES = [1, 2, 3, 5, 8, 16, 17, 33, 64, 65]
LONG = [130, 513, 1030]  # longer than lanes, and than blocks
LARGEST = 1100  # elements of a row
BINARY = ["add", "sub", "mul", "div", "max", "min", "pow", "atan2"]
DYNAMIC = "?"


class Value:
    """A batch of rows, or a weight that they share."""

    def __init__(self, name, element, shape, shared=False):
        self.name, self.element, self.shape, self.shared = name, element, tuple(shape), shared

    def __str__(self):
        return "%" + self.name

    def type(self, batch):
        return tensor(self.element, self.shape if self.shared else (batch, *self.shape))


class RowProgram(Draws):
    """`first` is the operation that the program begins with. Lines are functions of the size of the batch."""

    def __init__(self, rng, first):
        self.rng = rng
        self.element = self.pick(FLOATS)
        self.arguments, self.values, self.lines = [], [], []
        self.rows = self.argument(self.shape())
        for step in range(int(rng.integers(2, 6))):
            OPERATIONS[first if step == 0 else self.pick(NAMES)](self)
        self.results = [self.values[-1], *(value for value in self.values[:-1] if self.chance(0.2))]

    def shape(self):
        sizes = [self.pick(LONG) if self.chance(0.15) else self.pick(SIZES) for _ in range(self.rng.integers(1, 4))]
        while np.prod(sizes) > LARGEST:
            sizes[int(np.argmax(sizes))] = int(self.rng.integers(1, 5))
        return tuple(sizes)

    # Values.

    def argument(self, shape, element=None, shared=False):
        value = Value(f"{'w' if shared else 'x'}{len(self.arguments)}", element or self.element, shape, shared)
        self.arguments.append(value)
        return value

    def operand(self):
        """A value whose rows have an axis; mostly the last one, so that programs are chains."""
        fitting = [value for value in self.values if value.shape]
        return fitting[-1] if fitting and self.chance(0.8) else self.pick([self.rows, *fitting])

    def twin(self, value):
        """A batch of rows of the same type, another one where there is one."""
        alike = [v for v in self.values + self.arguments
                 if (v.element, v.shape) == (value.element, value.shape) and v is not value and not v.shared]
        return self.pick(alike) if alike and self.chance(0.7) else self.argument(value.shape, value.element)

    def add(self, element, shape, text):
        """A value; `text` gives its operation for a size of the batch, after the lines of others that it needs."""
        value = Value(f"v{len(self.values)}", element, shape)
        self.values.append(value)

        def write(batch):
            *before, last = text(batch).splitlines()
            return "".join(f"  {line}\n" for line in [*before, f"{value} = {last}"])

        self.lines.append(write)

    # Text.

    def function(self, name, batch):
        inputs = ", ".join(f"{value}: {value.type(batch)}" for value in self.arguments)
        types = ", ".join(value.type(batch) for value in self.results)
        body = "".join(line(batch) for line in self.lines)
        returned = ", ".join(map(str, self.results))
        return f"func.func private @{name}({inputs}) -> ({types}) {{\n{body}  return {returned} : {types}\n}}\n"

    def loss(self, name, batch):
        """The sum of all elements of the last result, in f64."""
        inputs = ", ".join(f"{value}: {value.type(batch)}" for value in self.arguments)
        types, result = ", ".join(value.type(batch) for value in self.arguments), self.results[0]
        results = ", ".join(value.type(batch) for value in self.results)
        wide = tensor("f64", (batch, *result.shape))
        cast = f"ad.cast %r#0 : {result.type(batch)} -> {wide}"
        if result.element == "f64":
            cast = f"ad.barrier %r#0 : {wide}"
        return f"""func.func private @{name}_loss({inputs}) -> tensor<f64> {{
  %r:{len(self.results)} = call @{name}({', '.join(map(str, self.arguments))}) : ({types}) -> ({results})
  %wide = {cast}
  %loss = ad.reduce_sum %wide axes {list(range(1 + len(result.shape)))} : {wide} -> tensor<f64>
  return %loss : tensor<f64>
}}
"""


def _unary(g):
    x, name = g.operand(), g.pick([*UNARY_FLOAT, "abs", "neg", "gelu"])
    g.add(x.element, x.shape, lambda b: f"ad.{name} {x} : {x.type(b)}")


def _binary(g):
    x, name = g.operand(), g.pick(BINARY)
    y = g.argument(x.shape[g.rng.integers(0, len(x.shape) + 1):], x.element, True) if g.chance(0.5) else g.twin(x)
    g.add(x.element, x.shape, lambda b: f"ad.{name} {x}, {y} : {x.type(b)}, {y.type(b)}")


def _cast(g):
    x, element = g.operand(), g.pick(FLOATS)
    if element != x.element:
        shape = x.shape
        g.add(element, shape, lambda b: f"ad.cast {x} : {x.type(b)} -> {tensor(element, (b, *shape))}")


def _product(g):
    """Rows times a weight, whose axes are in any order."""
    x = g.operand()
    axis, free = int(g.rng.integers(len(x.shape))), g.pick([1, 3, 8, 17, 64])
    place = int(g.rng.integers(2))
    w = g.argument((x.shape[axis], free) if place == 0 else (free, x.shape[axis]), x.element, True)
    shape = x.shape[:axis] + x.shape[axis + 1:] + (free,)
    if np.prod(shape) <= LARGEST:
        g.add(x.element, shape, lambda b: f"ad.dot {x}, {w} batch [] x [] contract [{axis + 1}] x [{place}] : "
              f"({x.type(b)}, {w.type(b)}) -> {tensor(x.element, (b, *shape))}")


def _pairs(g):
    """A product of two matrices, or of two vectors, for each row of the batch."""
    x = g.operand()
    y, axis = g.twin(x), int(g.rng.integers(len(x.shape)))
    rest = x.shape[:axis] + x.shape[axis + 1:]
    if np.prod(rest) ** 2 <= LARGEST:
        axes = f"batch [0] x [0] contract [{axis + 1}] x [{axis + 1}]"
        g.add(x.element, rest + rest, lambda b: f"ad.dot {x}, {y} {axes} : ({x.type(b)}, {y.type(b)}) -> "
              f"{tensor(x.element, (b, *rest, *rest))}")


def _reduction(g):
    x, name = g.operand(), g.pick(["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"])
    axes = sorted({int(axis) for axis in g.rng.integers(len(x.shape), size=2)})
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
    g.add(x.element, shape, lambda b: f"ad.{name} {x} axes {[axis + 1 for axis in axes]} keep_dims : {x.type(b)} -> "
          f"{tensor(x.element, (b, *shape))}")


def _along(name):
    """An operation along one axis of the rows."""
    def make(g):
        x = g.operand()
        axis = int(g.rng.integers(1, len(x.shape) + 1))
        g.add(x.element, x.shape, lambda b: f"ad.{name} {x} axis {axis} : {x.type(b)}")
    return make


def _norm(name, weights):
    def make(g):
        x = g.operand()
        w = [g.argument(x.shape[-1:], x.element, True) for _ in range(weights)]
        g.add(x.element, x.shape, lambda b: f"ad.{name} {', '.join(map(str, [x, *w]))} epsilon 1.0e-5 : {x.type(b)}, "
              f"{w[0].type(b)}")
    return make


def _turned(g):
    """A sum where the rows lie along another axis: in the lanes of vectors, if it is the last."""
    x, name = g.operand(), f"%t{len(g.lines)}"
    order = [int(axis) for axis in g.rng.permutation(len(x.shape) + 1)]
    back = [order.index(axis) for axis in range(len(order))]
    axis = g.pick([place for place, source in enumerate(order) if source != 0])

    def text(b):
        sizes = [(b, *x.shape)[source] for source in order]
        turned = tensor(x.element, sizes)
        summed = tensor(x.element, [*sizes[:axis], 1, *sizes[axis + 1:]])
        return (f"{name} = ad.transpose {x} {order} : {x.type(b)}\n"
                f"{name}s = ad.reduce_sum {name} axes [{axis}] keep_dims : {turned} -> {summed}\n"
                f"{name}d = ad.sub {name}, {name}s : {turned}, {summed}\n"
                f"ad.transpose {name}d {back} : {turned}")

    g.add(x.element, x.shape, text)


def _moved(g):
    """Paddings, concatenations and reversals along the axes of the rows."""
    x, kind = g.operand(), g.pick(["pad", "concat", "reverse"])
    axis = int(g.rng.integers(1, len(x.shape) + 1))
    if kind == "reverse":
        g.add(x.element, x.shape, lambda b: f"ad.reverse {x} axes [{axis}] : {x.type(b)}")
    elif kind == "concat" and 2 * np.prod(x.shape) <= LARGEST:
        y, shape = g.twin(x), list(x.shape)
        shape[axis - 1] *= 2
        g.add(x.element, shape, lambda b: f"ad.concat axis {axis} {x}, {y} : {x.type(b)}, {y.type(b)}")
    elif kind == "pad" and 2 * np.prod(x.shape) <= LARGEST:
        zero, shape, zeros = g.argument((), x.element, True), list(x.shape), [0] * (len(x.shape) + 1)
        shape[axis - 1] += 1
        low = [int(a == axis) for a in range(len(zeros))]
        g.add(x.element, shape, lambda b: f"ad.pad {x}, {zero} low {low} high {zeros} interior {zeros} : "
              f"{x.type(b)}, {zero.type(b)}")


OPERATIONS = {
    "unary": _unary, "binary": _binary, "cast": _cast, "product": _product, "pairs": _pairs, "reduction": _reduction,
    "softmax": _along("softmax"), "log_softmax": _along("log_softmax"), "cumsum": _along("cumsum"),
    "cummax": _along("cummax"),
    "layer_norm": _norm("layer_norm", 2), "rms_norm": _norm("rms_norm", 1), "turned": _turned, "moved": _moved,
}
NAMES = sorted(OPERATIONS)
