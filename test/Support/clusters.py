# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs in which operations share kernels: chains with several results, contractions and reductions with what
is before and after them, norms, gradients, values that are read at other points, siblings, loops, feeds and
receives. Values of a program have few different shapes, so that their iteration spaces meet."""

import numpy as np

import control
import elements
import operations_attention  # noqa: F401, registers its operations
import operations_indexing  # noqa: F401, registers its operations
import operations_layers  # noqa: F401, registers its operations
import operations_nn  # noqa: F401, registers its operations
import operations_sorting  # noqa: F401, registers its operations
import operations_windows  # noqa: F401, registers its operations
from generator import Generator, Program, Value, tensor_type
from operations import CATALOGUE, broadcast_result

SIZES = {0: .03, 1: .1, 15: .12, 16: .15, 17: .15, 33: .13, 65: .12, 517: .13, 4095: .02, 4096: .02, 4101: .07}
TYPES = {"f32": .36, "f64": .16, "f16": .14, "bf16": .14, "f8E4M3FN": .1, "f8E5M2": .1}
LARGEST = 9000       # elements of a tensor
PRODUCTS = 150_000   # of a contraction
# Elementary functions take most of the time to compile, and programs.py has them all.
UNARY = ["neg", "abs", "relu", "sqrt", "recip", "sign", "floor", "neg", "abs", "relu", "sqrt", "recip", "exp", "tanh",
         "sigmoid"]
BINARY = ["add", "sub", "mul", "div", "max", "min"]
NORMS = ["softmax", "log_softmax", "layer_norm", "rms_norm", "cross_entropy"]
REDUCTIONS = ["reduce_sum", "reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"]


class ClusterGenerator(Generator):
    largest = LARGEST

    def __init__(self, rng, outer=None):
        super().__init__(rng, special=None if outer is None else outer.special, dynamic=0.0, reuse=0.8, constants=0.02)
        self.palette = outer.palette if outer else [self.choose(SIZES) for _ in range(3)]
        self.element = outer.element if outer else self.choose(TYPES)
        self.open = outer.open if outer else self.chance(0.25)  # dynamic sizes
        self.feeds, self.receivers, self.smooth = {}, {}, outer is not None

    def choose(self, weighted):
        chances = np.array(list(weighted.values()))
        return list(weighted)[int(self.rng.choice(len(weighted), p=chances / chances.sum()))]

    # The interface that operations.py uses.

    def size(self):
        return self.pick(self.palette)

    def sizes(self, rank, limit=LARGEST):
        sizes = [self.size() for _ in range(rank)]
        while int(np.prod(sizes, dtype=np.int64)) > min(limit, LARGEST):
            axis = self.pick([axis for axis, size in enumerate(sizes) if size > 1])
            sizes[axis] = self.rank(1, min(sizes[axis] - 1, 3))
        return tuple(sizes)

    def static(self, sizes):
        return tuple(None if self.open and self.chance(0.5) else size for size in sizes)

    def advance(self, value):
        """The next value of a carry: parts that keep the type."""
        if value.element != self.element or not value.rank:
            return value
        for _ in range(4):
            y = self.pick([chain, other_points, keep_columns, row_values, norm])(self, value)
            if (y.element, y.sizes) == (value.element, value.sizes) and self.chance(0.8):
                return y
        return chain(self, value, 1, 2)

    def finish(self, yields):
        """Receives what nothing reads at the end of a block: else it would not be computed."""
        read = {value.name for op in self.ops for value in op.operands} | {value.name for value in yields}
        for value in [v for op in self.ops for v in op.results]:
            if value.name not in read and value.element == self.element and self.chance(0.8):
                receive(self, value)

    # Values.

    def start(self, low=1, high=3):
        return self.operand(self.element, low, high, lambda v: np.prod(v.sizes, dtype=np.int64) <= LARGEST)

    def like_known(self, element, sizes, static):
        """A value of the type and sizes that exists or is new."""
        known = [v for v in self.values if (v.element, v.sizes, v.static) == (element, sizes, static)]
        return self.pick(known) if known and self.chance(0.5) else self.argument(element, sizes, static)

    def twin(self, value):
        return self.like_known(value.element, value.sizes, value.static)

    def partner(self, value):
        """An operand to combine the value with: one of the same shape, a row, a column, a number."""
        kind = self.rank(0, 9)
        if kind <= 5 or not value.rank:
            return self.twin(value)
        if kind == 6:
            return self.constant(value.element, (), np.asarray(elements.random(self.rng, value.element, ())))
        column = kind == 7 and value.rank > 1
        cut = lambda shape: shape[:-1] + (1,) if column else shape[-1:]
        return self.like_known(value.element, cut(value.sizes), cut(value.static))

    def unary(self, name, x, element=None):
        element = element or x.element
        arrow = f" -> {tensor_type(element, x.static)}" if element != x.element else ""
        return self.add(name, element, x.static, x.sizes, [x], f"ad.{name} {x} : {x.type}{arrow}")

    def combine(self, name, *operands):
        static, sizes = broadcast_result(operands)
        types = ", ".join(v.type for v in operands)
        return self.add(name, operands[-1].element, static, sizes, operands,
                        f"ad.{name} {', '.join(map(str, operands))} : {types}")

    def reduce(self, x, axes, keep, name=None):
        name = name or self.pick(REDUCTIONS)
        kept = lambda shape: tuple(1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes)
        static, sizes = kept(x.static), kept(x.sizes)
        order = "" if name in ("reduce_max", "reduce_min") else self.order()
        text = f"ad.{name} {x} axes {axes}{' keep_dims' if keep else ''}{order} : {x.type} -> {tensor_type(x.element, static)}"
        return self.add(name, x.element, static, sizes, [x], text, attributes={"axes": axes, "keep": keep})

    def order(self):
        """An explicit order of summation, or usually none."""
        orders = ["block = 8", "block = 24", "lanes = 16, chunk = 64"]
        return f" {{order = #ad.order<{self.pick(orders)}>}}" if self.chance(0.2) else ""

    def from_catalogue(self, name, x):
        self.focus = x
        result = CATALOGUE[name][1](self, x.element)
        self.focus = None
        return result


# Parts of programs: each takes a value and gives one.

def step(g, x):
    """One elementwise operation."""
    kind = g.rank(0, 11)
    if kind <= 4:
        return g.unary(g.pick(UNARY), x)
    if kind <= 8:
        operands = [x, g.partner(x)]
        return g.combine(g.pick(BINARY), *(operands if g.chance(0.5) else operands[::-1]))
    if kind == 9:
        return g.combine("fma", x, g.partner(x), g.twin(x))
    if kind == 10:
        other = g.partner(x)
        static, sizes = broadcast_result([x, other])
        mask = g.add("compare", "i1", static, sizes, [x, other],
                     f"ad.compare {g.pick(['lt', 'ge', 'ne'])} {x}, {other} : "
                     f"{x.type}, {other.type}")
        return g.combine("select", mask, x, other)
    wide = g.unary("cast", x, "f64" if x.element == "f32" else "f32")
    return g.unary("cast", g.unary(g.pick(UNARY), wide), x.element)


def chain(g, x, low=1, high=4):
    for _ in range(g.rank(low, high)):
        x = step(g, x)
    return x


def keep_columns(g, x):
    return contraction(g, x, x.sizes[-1])


def contraction(g, x, columns=None):
    """The last axis of x against a weight, and what follows: bias, activation, residual, update, sums of rows."""
    if x.rank == 2 and g.chance(0.2) and not columns:
        y = g.from_catalogue("gemm", x)
        return chain(g, y, 1, 3) if y.element == g.element else y
    k = x.sizes[-1]
    n = g.size() if columns is None else columns
    while n * int(np.prod(x.sizes, dtype=np.int64)) > PRODUCTS or n * k > LARGEST or \
            n * int(np.prod(x.sizes[:-1], dtype=np.int64)) > LARGEST:
        n = g.rank(1, 5) if n > 5 else 1
        if n == 1:
            break
    batch = x.rank == 3 and g.chance(0.4)
    turned = g.chance(0.3)
    sizes = x.sizes[:1] * batch + ((n, k) if turned else (k, n))
    w = g.argument(x.element, sizes, x.static[:1] * batch + tuple(g.static(sizes[batch:])))
    lists = ([0], [0]) if batch else ([], [])
    contract = batch + (1 if turned else 0)
    column = w.static[batch + (0 if turned else 1)]
    static, sizes = x.static[:-1] + (column,), x.sizes[:-1] + (n,)
    y = g.add("dot", x.element, static, sizes, [x, w],
              f"ad.dot {x}, {w} batch {lists[0]} x {lists[1]} contract [{x.rank - 1}] x [{contract}]{g.order()} : ({x.type}, {w.type}) -> "
              f"{tensor_type(x.element, static)}",
              attributes={"batch": lists, "contract": ([x.rank - 1], [contract])})
    return chain(g, y, 0, 3)


def column_sums(g, x):
    """A reduction of another axis than the last, with producers and an update of a parameter."""
    if x.rank < 2:
        return row_values(g, x)
    s = g.reduce(chain(g, x, 0, 2), [g.rank(0, x.rank - 2)], g.chance(0.3))
    if g.chance(0.6):
        rate = g.constant(s.element, (), elements.encode(s.element, np.asarray(0.25)))
        s = g.combine("sub", g.twin(s), g.combine("mul", s, rate))
    return chain(g, s, 0, 2)


def row_values(g, x):
    """Reductions of the last axis that are read at every point again."""
    y = chain(g, x, 0, 2)
    for _ in range(g.rank(1, 2)):
        s = chain(g, g.reduce(y, [y.rank - 1], True), 0, 1)
        y = g.combine(g.pick(["sub", "mul", "div", "add"]), y, s) if s.rank <= y.rank else y
    return chain(g, y, 0, 2)


def norm(g, x):
    y = g.from_catalogue(g.pick(NORMS), chain(g, x, 0, 1))
    return chain(g, y, 0, 2)


def other_points(g, x):
    """A value that is read at its own points and at others."""
    y = chain(g, x, 1, 2)
    if y.rank >= 2 and y.type == tensor_type(y.element, y.static[:-2] + y.static[:-3:-1]) or y.rank < 2:
        order = [*range(y.rank - 2), y.rank - 1, y.rank - 2] if y.rank >= 2 else [*range(y.rank)]
    else:
        order = [int(axis) for axis in g.rng.permutation(y.rank)]
    static, sizes = [y.static[a] for a in order], [y.sizes[a] for a in order]
    t = g.add("transpose", y.element, static, sizes, [y], f"ad.transpose {y} {order} : {y.type}",
              attributes={"order": order})
    if t.type == y.type and t.sizes == y.sizes:
        t = g.combine(g.pick(["add", "mul", "sub"]), *([y, t] if g.chance(0.5) else [t, y]))
    return chain(g, t, 1, 2)


def square(g, x):
    n = g.pick([size for size in g.palette if size * size <= LARGEST] or [16])
    return other_points(g, g.argument(g.element, (n, n)))


def parts(g, x):
    """Slices of a value, each worked on, and joined again; or a movement from the catalogue."""
    if g.chance(0.3):
        name = g.pick(["pad", "reverse", "reshape", "slice", "concat", "broadcast"])
        return chain(g, g.from_catalogue(name, x), 1, 2)
    axis = g.rank(0, x.rank - 1)
    if x.sizes[axis] < 2 or x.static[axis] is None:
        return chain(g, x)
    cut, slices = g.rank(1, x.sizes[axis] - 1), []
    y = chain(g, x, 0, 1)
    for low, size in ((0, cut), (cut, x.sizes[axis] - cut)):
        shape = lambda whole: tuple(size if a == axis else n for a, n in enumerate(whole))
        if None in y.static:
            return chain(g, y)
        offsets = [low if a == axis else 0 for a in range(x.rank)]
        sliced = g.add("slice", y.element, shape(y.static), shape(y.sizes), [y],
                      f"ad.slice {y} {offsets} strides {[1] * x.rank} : {y.type} -> {tensor_type(y.element, shape(y.static))}",
                      attributes={"offsets": offsets, "strides": [1] * x.rank})
        slices.append(chain(g, sliced, 0, 2))
    if g.chance(0.4) or any(p.rank != x.rank or p.sizes[:axis] + p.sizes[axis + 1:] != x.sizes[:axis]
                            + x.sizes[axis + 1:]
                            for p in slices):
        return slices[0]
    static = tuple(sum(p.static[a] for p in slices) if a == axis else n for a, n in enumerate(y.static))
    return g.add("concat", y.element, static, static, slices,
                 f"ad.concat axis {axis} {', '.join(map(str, slices))} : {', '.join(v.type for v in slices)}",
                 attributes={"axis": axis})


def siblings(g, x):
    """Kernels over equal spaces that do not depend on each other."""
    part = g.pick([chain, chain, column_sums, row_values])
    results = [part(g, x if g.chance(0.4) else g.twin(x)) for _ in range(g.rank(2, 4))]
    return g.pick(results)


def anything(g, x):
    """Any operation at all, also such with kernels of their own."""
    name = g.pick(sorted(CATALOGUE))
    types, make = CATALOGUE[name]
    element = x.element if x.element in types else g.pick(types)
    g.focus = x if element == x.element else None
    result = make(g, element)
    g.focus = None
    return chain(g, result, 0, 1) if result.element == g.element else result


SMOOTH = [chain, chain, contraction, contraction, column_sums, row_values, norm, other_points, square, parts, siblings]
PARTS = SMOOTH + [anything]


def grow(g):
    """Adds one part."""
    g.pick(SMOOTH if g.smooth else PARTS)(g, g.start())


# Feeds, receives and gradients.

def feed(g, like=None):
    """Feeds of one type share a name, as iterations of a loop do, so that their order matters."""
    sizes = like.sizes if like else g.sizes(g.rank(1, 2))
    static = like.static if like else g.static(sizes)
    if g.feeds and not like and g.chance(0.6):
        static, sizes = g.pick(list(g.feeds))
    if (static, sizes) not in g.feeds:
        array = np.asarray(elements.random(g.rng, g.element, (g.rank(2, 3), *sizes), g.special))
        g.feeds[static, sizes] = ("$" + g.name("in"), array)
    name, array = g.feeds[static, sizes]
    prelude, operands = [], []
    index = g.dynamic_sizes(static, sizes, prelude, operands)
    return g.add("feed", g.element, static, sizes, operands,
                 f'ad.feed "{name}"{index} : {tensor_type(g.element, static)}', prelude,
                 {"feed": (name, array)})


def receive(g, x):
    """What is received shows nowhere else, so it goes on as its magnitude. Receivers share names like feeds."""
    key = x.type, x.sizes
    name = g.receivers.setdefault(key, "$" + g.name("out"))
    return g.add("receive", x.element, x.static, x.sizes, [x], f"ad.abs {x} : {x.type}",
                 [f'ad.receive "{name}"({x}) : {x.type}'],
                 {"receive": Value(name, x.element, (None, *x.static), (0, *x.sizes))})


def streams(g):
    """A value that an operation with a kernel of its own needs before one feed, and that meets the next one."""
    x = chain(g, g.start(), 1, 2)
    early = g.from_catalogue(g.pick(["cumsum", "cumsum", "cumprod", "cummax", "cummin"]), x) if g.chance(0.7) else receive(g, x)
    first, second = feed(g, x), feed(g, x)
    late = g.combine(g.pick(BINARY), x, second)
    if g.chance(0.5):
        late = receive(g, late)
    if early.sizes == first.sizes:
        early = g.combine(g.pick(BINARY), early, first)
    return chain(g, g.pick([early, late]), 0, 1)


class Gradient(control.Call):
    """ad.value_and_grad of a function of its own with respect to its float arguments."""

    def __init__(self, results, operands, callee, name):
        super().__init__(results, operands, callee, name)
        self.mnemonic = "value_and_grad"

    def lines(self):
        names = ", ".join(str(v) for v in self.results)
        given, taken = (", ".join(v.type for v in values) for values in (self.operands, self.results))
        return [f"{names} = ad.value_and_grad @{self.name}({', '.join(map(str, self.operands))}) wrt "
                f"{[i for i, v in enumerate(self.operands) if elements.is_float(v.element)]} : ({given}) -> ({taken})"]


def total(g):
    """A scalar that depends on everything that nothing else reads."""
    read = {value.name for op in g.ops for value in op.operands}
    leaves = [v for op in g.ops for v in op.results if v.element == g.element and v.name not in read] or g.values[:1]
    scalars = [g.reduce(v, list(range(v.rank)), False, g.pick(["reduce_sum", "reduce_mean"])) if v.rank else v
               for v in leaves]
    result = scalars[0]
    for scalar in scalars[1:]:
        result = g.combine("add", result, scalar)
    return result


def gradient(g):
    inner = ClusterGenerator(g.rng, g)
    inner.count = g.count
    given = [g.start() for _ in range(g.rank(1, 2))]
    parameters = [control.copy_type(inner, value, "a") for value in given]
    inner.values = list(parameters)
    for part in [inner.pick(SMOOTH) for _ in range(inner.rank(1, 2))]:
        part(inner, inner.pick(parameters))
    callee = Program([(v, None) for v in parameters] + inner.arguments, inner.ops, [total(inner)]).used()
    g.count = inner.count
    substitutes = {parameter.name: value for parameter, value in zip(parameters, given)}
    operands = []
    for value, array in callee.arguments:
        if value.name not in substitutes:
            substitutes[value.name] = control.copy_type(g, value, "a")
            g.adopt(substitutes[value.name], array)
        operands.append(substitutes[value.name])
    results = [control.copy_type(g, value, "v") for value in [callee.outputs[0],
                                                              *(v for v in operands if elements.is_float(v.element))]]
    return control.add(g, Gradient(results, operands, callee, "$" + g.name("f")))


def add_part(g):
    """Adds a part, or control flow around parts."""
    if g.depth >= control.DEEPEST:
        return grow(g)
    kind = g.rank(0, 19)
    if kind <= 1:
        control.make_for(g, add_part)
    elif kind == 2:
        control.make_if(g, add_part)
    elif kind <= 5 and not g.depth:
        gradient(g)
    elif kind == 6:
        streams(g)
    elif kind == 7:
        feed(g)
    elif kind == 8:
        receive(g, g.start())
    else:
        grow(g)


def random_program(seed, number):
    g = ClusterGenerator(np.random.default_rng([seed, number, 2]))
    for _ in range(g.rank(1, 4)):
        add_part(g)
    return g.program()
