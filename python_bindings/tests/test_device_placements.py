# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs, called several times with arguments at random places: on the host, on the device, donated or not.
Their results have the bits of the same program on arrays of the host, and calls on device arrays copy nothing."""

import adjoint
import adjoint.numpy as anp
import numpy as np
import pytest

TYPES = ["float32", "float64", "int32", "bool", "bfloat16", "float16"]


class Drawn:
    """A random program: how many arguments it has of which types and shapes, and its operations."""

    def __init__(self, seed):
        self.random = random = np.random.default_rng(seed)
        self.shapes, self.types = [], []
        sizes = [int(random.choice([0, 1, 2, 3, 5, 8, 33])) for _ in range(2)]
        for _ in range(random.integers(1, 6)):
            rank = int(random.integers(0, 3))
            self.shapes.append(tuple(sizes[: rank]) if random.random() < 0.8 else tuple(reversed(sizes[: rank])))
            self.types.append(str(random.choice(TYPES, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])))
        self.donated = [bool(random.random() < 0.4) for _ in self.shapes]
        self.choices = random.integers(0, 1 << 30, 64).tolist()
        self.is_dynamic = random.random() < 0.3

    def arguments(self):
        made = []
        for shape, dtype in zip(self.shapes, self.types):
            values = self.random.integers(-4, 5, shape) if "int" in dtype else self.random.standard_normal(shape)
            made.append(np.asarray(values).astype(adjoint.spec("", dtype).dtype if dtype == "bfloat16" else dtype))
        return made

    def __call__(self, *values):
        """Some results are arguments, some have the type of an argument, others are of types and shapes of their own."""
        choices = iter(self.choices)
        pool = list(values)
        for _ in range(next(choices) % 4 + 1):
            x = pool[next(choices) % len(pool)]
            if x.dtype == "bool":
                x = anp.where(x, 1.0, 2.0)
            kind = next(choices) % 6
            if kind == 0:
                pool.append(x + x)
            elif kind == 1:
                pool.append(-x)
            elif kind == 2:
                pool.append(anp.sum(x))
            elif kind == 3 and len(x.shape) == 2:
                pool.append(x.T)
            elif kind == 4 and len(x.shape) == 2:
                pool.append(x @ x.T)
            else:
                pool.append(anp.where(x > 0, x, x * x))
        count = next(choices) % 4 + 1
        return tuple(pool[-1 - next(choices) % len(pool)] for _ in range(count))

    def compiled(self):
        names = [f"a{number}" for number in range(len(self.shapes))]
        function = eval(f"lambda {', '.join(names)}: self({', '.join(names)})", {"self": self})
        donated = [name for name, one in zip(names, self.donated) if one]
        specs = None
        if self.is_dynamic:
            specs = tuple(adjoint.spec(["?"] * len(shape), dtype) for shape, dtype in zip(self.shapes, self.types))
        return adjoint.jit(function, target="gpu-sim", donate_argnames=donated, specs=specs, numerics="strict")


def bits(results):
    return [(np.asarray(one).dtype, np.shape(one), np.asarray(one).tobytes()) for one in results]


@pytest.mark.parametrize("seed", range(60))
def test_results_do_not_depend_on_where_arguments_are(seed):
    drawn = Drawn(seed)
    function = drawn.compiled()
    try:
        program = function.trace(*drawn.arguments()).program
    except (adjoint.TracingError, adjoint.CompileError):
        pytest.skip("not a program")  # shapes that do not fit
    for _ in range(3):
        given = drawn.arguments()
        # A program of arrays of the host alone gives such arrays.
        expected = program(*[array.copy() for array in given])
        expected = bits(expected if isinstance(expected, tuple) else (expected,))
        placed = [drawn.random.choice(["host", "device"]) for _ in given]
        arrays = [adjoint.device_put(one, "gpu-sim") if place == "device" else one for one, place in zip(given, placed)]
        kept = [np.array(one) for one in arrays]
        before = adjoint.transfer_counts()
        results = function(*arrays)
        counts = [new - old for new, old in zip(adjoint.transfer_counts(), before)]
        # An empty array moves nothing.
        assert counts[0] <= placed.count("host") and counts[1] == 0
        assert all(isinstance(one, adjoint.DeviceArray) for one in results)
        assert bits(results) == expected
        for array, values, spec in zip(arrays, kept, program.signature.arguments):
            if isinstance(array, adjoint.DeviceArray):
                assert array.is_donated == (spec.donated_to is not None)
            if not (isinstance(array, adjoint.DeviceArray) and array.is_donated):
                assert np.asarray(array).tobytes() == values.tobytes()
        # As in a loop, results of donated arguments are the next ones: a call on device arrays alone copies nothing.
        names = [spec.name for spec in program.signature.results]
        following = [
            adjoint.device_put(array, "gpu-sim") if spec.donated_to is None else results[names.index(spec.donated_to)].copy()
            for array, spec in zip(given, program.signature.arguments)
        ]
        expected = program(*[np.array(one) for one in following])
        before = adjoint.transfer_counts()
        results = function(*following)
        assert adjoint.transfer_counts() == before
        assert bits(results) == bits(expected if isinstance(expected, tuple) else (expected,))
