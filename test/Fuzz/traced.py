#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random functions of Python with branches and loops: traced and compiled, they give what NumPy gives for the same
function, on each target, for sizes that are known and for dynamic ones, and their gradients are those of JAX where it is
installed, else central differences.

Needs the package: scripts/build_python.sh makes it. Closes with `traced: N run, N failed`."""

import argparse
import os
import pathlib
import random
import sys

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
        return carry, np.stack(made)

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
        self.shapes = [tuple(source.choice([1, 2, 3, 5]) for _ in range(source.randrange(4)))
                       for _ in range(source.randrange(1, 4))]
        if not any(self.shapes):
            self.shapes[0] = (3, 4)
        self.arguments = len(self.shapes)
        self.has_scan = False
        self.steps = []
        for _ in range(source.randrange(3, 12)):
            self.steps.append(self.step(len(self.shapes), depth=0))

    def pick(self, count, least=0):
        """The number of a value, of at least that rank."""
        fits = [index for index in range(count) if len(self.shapes[index]) >= least]
        return self.source.choice(fits) if fits else None

    def step(self, count, depth):
        """A function (backend, values) that makes the next value; its shape is noted."""
        kinds = ["unary"] * 4 + ["binary"] * 4 + ["reduce", "matmul", "transpose", "slice", "reshape", "concat", "expand"]
        if depth == 0:
            kinds += ["cond", "loop", "scan", "call", "accumulate"]
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
        name = self.source.choice(["sum", "mean", "max"])
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
                                           self.source.randrange(-size, size)]))
        key = tuple(key)
        shape = np.zeros(self.shapes[at])[key].shape
        return None if 0 in shape else ((lambda b, v: v[at][key]), shape)

    def reshape(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        size = int(np.prod(self.shapes[at]))
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
        at, steps, begin = self.pick(count), self.source.randrange(4), self.source.choice([0, 0.0, 1.5, -2])
        body = self.same_shape(at)
        scale = self.source.choice([lambda i: 0.1, lambda i: i + 1, lambda i: np.sqrt(2)])
        return (lambda b, v: b.fori_loop(
            0, steps, lambda i, total: total + scale(i) * b.xp.mean(body(b, v, v[at])), begin) + b.xp.mean(v[at])), ()

    def scan(self, count):
        at = self.pick(count, 1)
        if at is None:
            return None
        self.has_scan = True
        self.shapes.append(self.shapes[at][1:])
        body = self.same_shape(len(self.shapes) - 1)
        self.shapes.pop()

        def step(b, v):
            def each(carry, x):
                carry = body(b, {**dict(enumerate(v)), len(v): carry}, carry) * 0.5 + x
                return carry, b.xp.sin(carry)

            last, ys = b.scan(each, v[at][0], v[at])
            return ys + last

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
        return sum(xp.mean(xp.sin(value)) for value in values[self.arguments:]), values[-1]


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


def complaint(number, given):
    source = random.Random(f"{given.seed}/{number}")
    function = Function(source)
    numbers = np.random.default_rng([given.seed, number])
    arguments = [numbers.standard_normal(shape) for shape in function.shapes[:function.arguments]]
    target = TARGETS[number % len(TARGETS)]
    everything = tuple(range(len(arguments)))
    specs = specs_of(source, function.shapes[:function.arguments])
    # A loop of dynamic length has no reverse.
    has_gradient = specs is None or not function.has_scan

    def both(*x):
        if not has_gradient:
            return function.run(Traced, *x), ()
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
            wrong = complaint(number, given)
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
