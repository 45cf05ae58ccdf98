#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random functions of Python with branches, loops and lookups: traced and compiled, they give what NumPy gives for the same
function, on each target, for sizes that are known and for dynamic ones, also of 0, and their gradients are those of JAX
where it is installed, else central differences. Beside each of them a function of elements is run on numbers at the
ends of its domain and of its type.

Needs the package: scripts/build_python.sh makes it. Closes with `traced: N run, N failed`."""

import argparse
import os
import pathlib
import random
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
sys.path.insert(0, str(BIN.parent / "python"))

try:
    import adjoint
    import adjoint.numpy as anp
except ImportError as error:
    sys.exit(f"traced: {error}; scripts/build_python.sh makes the package")
try:
    import jax

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

TARGETS = ("cpu", "cpu", "reference", "gpu-sim")
TOLERANCE, OF_DIFFERENCES = 1e-10, 1e-5


class Plain:
    """The same control flow in Python."""

    xp = np

    @staticmethod
    def cond(condition, on_true, on_false):
        return on_true() if condition else on_false()

    @staticmethod
    def fori_loop(lower, upper, body, value):
        for index in range(lower, upper):
            value = body(index, value)
        return value

    @staticmethod
    def scan(body, carry, xs):
        made = []
        for x in xs:
            carry, y = body(carry, x)
            made.append(y)
        return carry, np.stack(made) if made else np.zeros((0, *np.shape(carry)))

    @staticmethod
    def update(kind, x, key, y):
        made = x.copy()
        if kind == "set":
            made[key] = y
        else:
            {"add": np.add, "max": np.maximum, "min": np.minimum}[kind].at(made, key, y)
        return made

    @staticmethod
    def call(function, *arguments):
        return function(*arguments)


class Traced:
    xp = anp

    @staticmethod
    def cond(condition, on_true, on_false):
        return adjoint.cond(condition, on_true, on_false)

    fori_loop, scan = staticmethod(adjoint.fori_loop), staticmethod(adjoint.scan)

    @staticmethod
    def update(kind, x, key, y):
        return getattr(x.at[key], kind)(y)

    @staticmethod
    def call(function, *arguments):
        return adjoint.jit(function)(*arguments)


if jax:

    class OfJax:
        xp = jax.numpy

        @staticmethod
        def cond(condition, on_true, on_false):
            return jax.lax.cond(condition, on_true, on_false)

        fori_loop, scan = staticmethod(jax.lax.fori_loop), staticmethod(jax.lax.scan)

        @staticmethod
        def update(kind, x, key, y):
            """One element after another: JAX has no derivative of its maxima, and sets in no order."""
            places = jax.numpy.arange(x.size).reshape(x.shape)[key]
            updates = jax.numpy.broadcast_to(y, places.shape).ravel()
            function = {"set": lambda _, y: y, "add": jax.numpy.add, "max": jax.numpy.maximum,
                        "min": jax.numpy.minimum}[kind]

            def step(flat, each):
                place, y = each
                return flat.at[place].set(function(flat[place], y)), None

            return jax.lax.scan(step, x.ravel(), (places.ravel(), updates))[0].reshape(x.shape)

        @staticmethod
        def call(function, *arguments):
            return function(*arguments)


UNARY = {
    "sin": lambda xp, x: xp.sin(x), "tanh": lambda xp, x: xp.tanh(x), "exp": lambda xp, x: xp.exp(-x * x),
    "log1p": lambda xp, x: xp.log1p(x * x), "sqrt": lambda xp, x: xp.sqrt(x * x + 0.5), "cube": lambda xp, x: x**3 * 0.1,
    "atan": lambda xp, x: xp.atan(x) if hasattr(xp, "atan") else xp.arctan(x), "minus": lambda xp, x: 1 - x,
    "over": lambda xp, x: 1 / (x * x + 1), "clip": lambda xp, x: xp.clip(x, -1.25, 0.75),
}
BINARY = {
    "add": lambda xp, x, y: x + y, "sub": lambda xp, x, y: x - y, "mul": lambda xp, x, y: x * y,
    "div": lambda xp, x, y: x / (1.5 + y * y), "max": lambda xp, x, y: xp.maximum(x, y),
    "where": lambda xp, x, y: xp.where(x > y, xp.sin(x), y * 0.5),
}


class Function:
    """Steps that make values of values; the first ones are the arguments. Sizes are known to the generator."""

    def __init__(self, source):
        self.source = source
        sizes = [1, 2, 3, 5] + [0] * (source.random() < 0.2)
        self.shapes = [tuple(source.choice(sizes) for _ in range(source.randrange(4)))
                       for _ in range(source.randrange(1, 4))]
        if not any(self.shapes):
            self.shapes[0] = (3, 4)
        self.arguments = len(self.shapes)
        self.steps = []
        for _ in range(source.randrange(3, 12)):
            self.steps.append(self.step(len(self.shapes), depth=0))

    def pick(self, count, least=0, has_elements=False):
        """The number of a value, of at least that rank."""
        fits = [index for index in range(count) if len(self.shapes[index]) >= least and
                not (has_elements and 0 in self.shapes[index])]
        return self.source.choice(fits) if fits else None

    def step(self, count, depth):
        """A function (backend, values) that makes the next value; its shape is noted."""
        kinds = ["unary"] * 4 + ["binary"] * 4 + ["reduce", "matmul", "transpose", "slice", "reshape", "concat",
                                                    "expand", "zeros"]
        if depth == 0:
            kinds += ["lookup", "lookup", "update", "update", "cond", "loop", "scan", "call", "accumulate", "carries"]
        made = None
        while made is None:
            made = getattr(self, self.source.choice(kinds))(count)
        function, shape = made
        self.shapes.append(tuple(shape))
        return function

    def unary(self, count):
        at, function = self.pick(count), self.source.choice(list(UNARY.values()))
        return (lambda b, v: function(b.xp, v[at])), self.shapes[at]

    def binary(self, count):
        left, right = self.pick(count), self.pick(count)
        try:
            shape = np.broadcast_shapes(self.shapes[left], self.shapes[right])
        except ValueError:
            return None
        function = self.source.choice(list(BINARY.values()))
        return (lambda b, v: function(b.xp, v[left], v[right])), shape

    def reduce(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        axis, keep = self.source.randrange(len(self.shapes[at])), self.source.random() < 0.3
        name = self.source.choice(["sum", "mean", "max"] if self.shapes[at][axis] else ["sum"])
        shape = list(self.shapes[at])
        shape[axis:axis + 1] = [1] * keep
        return (lambda b, v: getattr(b.xp, name)(v[at], axis=axis, keepdims=keep)), shape

    def matmul(self, count):
        pairs = [(a, b) for a in range(count) for b in range(count) if len(self.shapes[a]) >= 2 and
                 len(self.shapes[b]) >= 1 and self.shapes[a][-1] == self.shapes[b][max(-2, -len(self.shapes[b]))]]
        if not pairs:
            return None
        left, right = self.source.choice(pairs)
        try:
            shape = (np.zeros(self.shapes[left]) @ np.zeros(self.shapes[right])).shape
        except ValueError:
            return None
        return (lambda b, v: v[left] @ v[right] * 0.5), shape

    def zeros(self, count):
        """A product with zeros, whose sizes are those of values."""
        at, of = self.pick(count, 2), self.pick(count, 1)
        if at is None or of is None or len(self.shapes[at]) > 3:
            return None
        rows, (inner, columns) = self.shapes[of][0], self.shapes[at][-2:]
        if self.source.random() < 0.5:
            return (lambda b, v: b.xp.zeros((v[of].shape[0], v[at].shape[-2]), dtype="float64") @ v[at] + 0.5), \
                (*self.shapes[at][:-2], rows, columns)
        return (lambda b, v: v[at] @ b.xp.zeros((v[at].shape[-1], v[of].shape[0]), dtype="float64") + 0.5), \
            (*self.shapes[at][:-2], inner, rows)

    def transpose(self, count):
        at = self.pick(count, 2)
        if at is None:
            return None
        order = list(range(len(self.shapes[at])))
        self.source.shuffle(order)
        return (lambda b, v: b.xp.permute_dims(v[at], tuple(order))), [self.shapes[at][axis] for axis in order]

    def slice(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        key = []
        for size in self.shapes[at]:
            begin, end = sorted(self.source.randrange(size + 1) for _ in range(2))
            step = self.source.choice([1, 1, 2, -1])
            key.append(self.source.choice([slice(None), slice(begin, end, step) if step > 0 else slice(None, None, -1),
                                           self.source.randrange(-size, size) if size else slice(None)]))
        key = tuple(key)
        shape = np.zeros(self.shapes[at])[key].shape
        return None if 0 in shape and self.source.random() < 0.7 else ((lambda b, v: v[at][key]), shape)

    def key(self, shape):
        """An index with tensors, of traced and of known numbers, by the backend."""
        common = tuple(self.source.choice([1, 2, 3]) for _ in range(self.source.randrange(3)))
        first = self.source.randrange(len(shape))
        parts = []
        for axis, size in enumerate(shape):
            kind = "index" if axis == first else self.source.choice(["index", "slice", "number", "whole"])
            if kind == "index":
                parts.append(self.index(size, common))
            elif kind == "number":
                parts.append(lambda xp, number=self.source.randrange(-size, size): number)
            else:
                begin, end = sorted(self.source.randrange(size + 1) for _ in range(2))
                part = slice(begin, end, self.source.choice([1, 2])) if kind == "slice" else slice(None)
                parts.append(lambda xp, part=part: part)
            if self.source.random() < 0.1:
                parts.append(lambda xp: None)
        return lambda xp: tuple(part(xp) for part in parts)

    def index(self, size, common):
        """Numbers of an axis, in a shape that broadcasts to the common one."""
        sizes = tuple(1 if self.source.random() < 0.2 else one for one in common[self.source.randrange(len(common) + 1):])
        factor, begin, count = self.source.randrange(1, 4), self.source.randrange(2 * size), int(np.prod(sizes))
        if self.source.random() < 0.3:
            known = ((np.arange(count) * factor + begin) % (2 * size) - size).reshape(sizes)
            return lambda xp: known if sizes else int(known)
        return lambda xp: xp.reshape((xp.arange(count) * factor + begin) % (2 * size) - size, sizes)

    def lookup(self, count):
        at = self.pick(count, 1, True)
        if at is None:
            return None
        key = self.key(self.shapes[at])
        shape = np.zeros(self.shapes[at])[key(np)].shape
        return None if len(shape) > 4 else ((lambda b, v: v[at][key(b.xp)]), shape)

    def update(self, count):
        at, kind = self.pick(count, 1, True), self.source.choice(["set", "add", "max", "min"])
        if at is None:
            return None
        key = self.key(self.shapes[at])
        part = np.zeros(self.shapes[at])[key(np)].shape
        fits = [index for index in range(count) if len(self.shapes[index]) <= len(part) and all(
            size in (1, other) for size, other in zip(self.shapes[index][::-1], part[::-1]))]
        if not fits:
            return None
        of = self.source.choice(fits)
        return (lambda b, v: b.update(kind, v[at], key(b.xp), b.xp.sin(v[of] + 0.7))), self.shapes[at]

    def reshape(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        size = int(np.prod(self.shapes[at]))
        if size == 0:
            empty = self.source.choice([(0,), (0, 2), (3, 0)])
            return (lambda b, v: b.xp.reshape(v[at], empty)), empty
        first = self.source.choice([one for one in range(1, size + 1) if size % one == 0])
        return (lambda b, v: b.xp.reshape(v[at], (first, -1))), (first, size // first)

    def concat(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        axis, shape = self.source.randrange(len(self.shapes[at])), list(self.shapes[at])
        shape[axis] *= 2
        return (lambda b, v: b.xp.concat([v[at], b.xp.sin(v[at])], axis=axis)), shape

    def expand(self, count):
        at = self.pick(count)
        axis = self.source.randrange(len(self.shapes[at]) + 1)
        shape = list(self.shapes[at])
        shape.insert(axis, 1)
        return (None if len(shape) > 4 else ((lambda b, v: b.xp.expand_dims(v[at], axis=axis)), shape))

    # Steps with functions of their own, which use the values around them.

    def same_shape(self, at):
        """A function of a value that keeps its shape, with others around it."""
        first, second = (self.source.choice(list(UNARY.values())) for _ in range(2))
        other = self.source.choice([index for index, shape in enumerate(self.shapes)
                                    if np.prod(shape) == 1 and len(shape) <= len(self.shapes[at])] or [at])
        return lambda b, v, x: second(b.xp, first(b.xp, x) + 0.25 * v[other])

    def cond(self, count):
        at, of = self.pick(count), self.pick(count)
        yes, no = self.same_shape(at), self.same_shape(at)
        bound = self.source.uniform(-1, 1)
        return (lambda b, v: b.cond(b.xp.sum(v[of]) > bound, lambda: yes(b, v, v[at]), lambda: no(b, v, v[at]))), \
            self.shapes[at]

    def loop(self, count):
        at, steps = self.pick(count), self.source.randrange(4)
        body = self.same_shape(at)
        # Numbers that are made of the index take the type of the tensor, wherever they meet it.
        of_index = self.source.choice([
            lambda b, i, x: x + 0.1 * i, lambda b, i, x: x + (i - 5) % 3 / 7, lambda b, i, x: x * (1 - i / 9),
            lambda b, i, x: b.xp.where(i == 1, x, 0.5 * x), lambda b, i, x: x * np.float64(0.3) + (i != 0),
            lambda b, i, x: b.cond(i < 2, lambda: x + 1, lambda: x)])
        return (lambda b, v: b.fori_loop(0, steps, lambda i, x: of_index(b, i, body(b, v, x)), v[at])), self.shapes[at]

    def accumulate(self, count):
        """A loop that begins with a number of Python, which takes the type of what is added."""
        at, steps, begin = self.pick(count, 0, True), self.source.randrange(4), self.source.choice([0, 0.0, 1.5, -2])
        if at is None:
            return None
        body = self.same_shape(at)
        scale = self.source.choice([lambda i: 0.1, lambda i: i + 1, lambda i: np.sqrt(2)])
        return (lambda b, v: b.fori_loop(
            0, steps, lambda i, total: total + scale(i) * b.xp.mean(body(b, v, v[at])), begin) + b.xp.mean(v[at])), ()

    def carries(self, count):
        """A loop with several values, of which one is used after it: others are made of it, make it, or stay."""
        at, of, steps, used = self.pick(count), self.pick(count), self.source.randrange(4), self.source.randrange(4)
        body, other = self.same_shape(at), self.same_shape(of)
        mixes = self.source.random() < 0.5

        def each(b, v, i, state):
            x, y, kept, number = state
            y = other(b, v, y) + (0.1 * b.xp.sum(x) if mixes else 0.0)
            return body(b, v, x) + 0.1 * number, y, kept, number + i

        def loop(b, v):
            begin = v[at], v[of], v[at], b.xp.ones((), dtype="float64")
            return b.fori_loop(0, steps, lambda i, state: each(b, v, i, state), begin)[used]

        return loop, [*(self.shapes[one] for one in (at, of, at)), ()][used]

    def scan(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        has_rows, is_whole = self.shapes[at][0] > 0, self.source.random() < 0.7
        self.shapes.append(self.shapes[at][1:])
        body = self.same_shape(len(self.shapes) - 1)
        self.shapes.pop()

        def step(b, v):
            def each(carry, x):
                carry = body(b, {**dict(enumerate(v)), len(v): carry}, carry) * 0.5 + x
                return carry, b.xp.sin(carry)

            last, ys = b.scan(each, v[at][0] if has_rows else b.xp.sum(v[at], axis=0), v[at])
            return ys + last if is_whole else ys if has_rows else ys + 1.0

        return step, self.shapes[at]

    def call(self, count):
        at = self.pick(count)
        body = self.same_shape(at)
        return (lambda b, v: b.call(lambda x: body(b, v, x), v[at])), self.shapes[at]

    def run(self, backend, *arguments):
        values = list(arguments)
        for step in self.steps:
            values.append(step(backend, values))
        xp = backend.xp
        means = (xp.sum(xp.sin(value)) / max(int(np.prod(shape)), 1) for value, shape in zip(values, self.shapes))
        return sum(list(means)[self.arguments:]), values[-1]


def close(made, expected, tolerance):
    return made.shape == expected.shape and np.allclose(made, expected, rtol=tolerance, atol=tolerance)


def differences(function, arguments, step=1e-6):
    for number, argument in enumerate(arguments):
        gradient = np.zeros(argument.shape)
        for index in np.ndindex(argument.shape):
            ends = []
            for sign in (1, -1):
                moved = [one.copy() for one in arguments]
                moved[number][index] += sign * step
                ends.append(function.run(Plain, *moved)[0])
            gradient[index] = (ends[0] - ends[1]) / (2 * step)
        yield gradient


def specs_of(source, shapes):
    """Types of the arguments for some functions: sizes that are equal have one name; an axis of size 1, which
    broadcasts, is known."""
    if source.random() < 0.5:
        return None
    return [adjoint.spec(" ".join("1" if size == 1 else f"n{size}" for size in shape), "f64") for shape in shapes]


# Functions at the ends of their domains and of types.

ENDS = {"asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sinh": np.sinh, "cosh": np.cosh,
        "floor_divide": np.floor_divide, "remainder": np.remainder}
SLOPES = {"asinh": lambda x: 1 / np.hypot(x, 1), "acosh": lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)),
          "atanh": lambda x: 1 / ((1 - x) * (1 + x)), "sinh": np.cosh, "cosh": np.sinh}
#: How many units in the last place functions may differ; 16-bit floats compute in f32.
UNITS = {"float64": 8, "float32": 8, "float16": 1, "bfloat16": 1}


def at_ends(numbers, name, dtype):
    """Numbers of which many are special ones."""
    if dtype.kind == "i":
        special = [np.iinfo(dtype).min, np.iinfo(dtype).max, 1, -1, 2, -2, 7, -7]
        made = np.concatenate([special, numbers.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 24)]).astype(dtype)
        return numbers.permutation(np.where(made == 0, 3, made).astype(dtype))
    about = ml_dtypes.finfo(dtype)
    special = [0, np.inf, np.nan, float(about.max), float(about.tiny), float(about.smallest_subnormal), 1, 2, 0.5, 3,
               1 + float(about.eps), 1 - float(about.eps), float(about.max) / 3, float(about.tiny) * 3, 1e6,
               1.5e6, 1e-4]
    wide = np.exp2(numbers.uniform(np.log2(float(about.tiny)), np.log2(float(about.max)), 24))
    made = np.concatenate([special, wide, numbers.uniform(0, 2, 16)])
    made = made * numbers.choice([1, -1], made.size)
    with np.errstate(over="ignore"):
        return numbers.permutation(made).astype(dtype)


def floor_of(a, b, otherwise):
    """The exact quotient rounded down, of finite numbers."""
    if not (np.isfinite(a) and np.isfinite(b) and b and np.isfinite(otherwise)):
        return float(otherwise)
    return float(Fraction(float(a)) // Fraction(float(b)))


def of_ends(source, number, given):
    """What is wrong with a function of elements at its ends."""
    numbers = np.random.default_rng([given.seed, number, 1])
    name, target = source.choice(list(ENDS)), TARGETS[number % len(TARGETS)]
    has_two = name not in SLOPES
    kinds = ["float64", "float32", "float16", "bfloat16"] + ["int8", "int32", "int64"] * has_two
    dtype = np.dtype(source.choice(kinds))
    arguments = [at_ends(numbers, name, dtype) for _ in range(1 + has_two)]
    made = adjoint.jit(getattr(anp, name), target=target, cache="off")(*arguments)
    with np.errstate(all="ignore"):
        is_own = dtype.kind == "i" or (has_two and dtype.itemsize > 2)  # quotients of f32 in f64 are others
        wide = [one if is_own else one.astype(np.float64) for one in arguments]
        expected = ENDS[name](*wide).astype(dtype)
        if name == "floor_divide" and dtype.kind != "i":  # large quotients of NumPy are rounded twice
            exact = map(floor_of, *arguments, expected)
            expected = np.where(expected == 0, expected, np.array([*exact]).astype(dtype))
    units = 0 if name == "remainder" or dtype.kind == "i" else 1 if has_two else UNITS[dtype.name]
    wrong = complaint_at(made, expected, units)
    if wrong is not None:
        given = [float(one[wrong]) for one in arguments]
        return f"{target}: {name} of {dtype}: {given} gives {made[wrong]}, expected {expected[wrong]}"
    if has_two or dtype.itemsize < 4:
        return None
    x = arguments[0]
    slope = adjoint.jit(adjoint.grad(lambda x: anp.sum(getattr(anp, name)(x))), target=target, cache="off")(x)
    with np.errstate(all="ignore"):
        expected = SLOPES[name](x.astype(np.float64)).astype(dtype)
    inside = np.isfinite(x) & np.isfinite(expected) & (np.abs(expected) >= np.finfo(dtype).tiny)
    inside &= {"acosh": x > 1, "atanh": np.abs(x) < 1}.get(name, True)
    wrong = complaint_at(slope[inside], expected[inside], 64)
    return None if wrong is None else f"{target}: slope of {name} at {x[inside][wrong]!r} is {slope[inside][wrong]}, " \
        f"expected {expected[inside][wrong]}"


def complaint_at(made, expected, units):
    """The index of an element that is another one; None if there is none."""
    if made.dtype != expected.dtype or made.shape != expected.shape:
        return 0
    same = ((made == expected) & (np.signbit(made) == np.signbit(expected))) | ((made != made) & (expected != expected))
    if units:
        near, far = (one.astype(np.float64) for one in (made, expected))
        about = ml_dtypes.finfo(made.dtype)
        with np.errstate(all="ignore"):
            bound = units * np.maximum(np.abs(far) * float(about.eps), float(about.smallest_subnormal))
            same |= (np.abs(near - far) <= bound) & ((near != 0) | (far != 0))
    return None if same.all() else int(np.argmin(same))


def complaint(number, given):
    source = random.Random(f"{given.seed}/{number}")
    function = Function(source)
    numbers = np.random.default_rng([given.seed, number])
    arguments = [numbers.standard_normal(shape) for shape in function.shapes[:function.arguments]]
    target = TARGETS[number % len(TARGETS)]
    everything = tuple(range(len(arguments)))
    specs = specs_of(source, function.shapes[:function.arguments])

    def both(*x):
        return adjoint.value_and_grad(lambda *x: function.run(Traced, *x), everything, has_aux=True)(*x)

    (value, last), gradients = adjoint.jit(both, target=target, cache="off", specs=specs)(*arguments)
    its_value, its_last = function.run(Plain, *arguments)
    if not close(value, np.asarray(its_value), TOLERANCE):
        return f"{target}: value {value}, expected {its_value}"
    if not close(last, np.asarray(its_last), TOLERANCE):
        return f"{target}: the last value differs by {np.abs(last - its_last).max()}"
    if jax:
        expected = jax.grad(lambda *x: function.run(OfJax, *x)[0], everything)(*arguments)
    else:
        expected = differences(function, arguments)
    for index, (one, other) in enumerate(zip(gradients, expected)):
        if not close(one, np.asarray(other), TOLERANCE if jax else OF_DIFFERENCES):
            return f"{target}: gradient {index} differs by {np.abs(one - other).max()}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="how many functions to make")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same functions")
    parser.add_argument("--first", type=int, default=0, help="number of the first one, to run one again")
    given = parser.parse_args()
    failed = 0
    for number in range(given.first, given.first + given.count):
        try:
            wrong = complaint(number, given) or of_ends(random.Random(f"{given.seed}/{number}/ends"), number, given)
        except Exception as error:  # noqa: BLE001
            wrong = f"{type(error).__name__}: {error}"
        if wrong:
            failed += 1
            print(f"case {number} of seed {given.seed}: {wrong}", flush=True)
    print(f"gradients are compared with {'JAX' if jax else 'central differences'}")
    print(f"traced: {given.count} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
