# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random scalar-valued f64 functions that are smooth near their arguments: every operation is tried, and taken back
when its operands come close to a kink, a pole or the end of its domain."""

import numpy as np

import control
import operations_windows
import oracle
from generator import Generator, Program, tensor_type
from operations import CATALOGUE, broadcast_result

NEAR = 0.02   # how far values stay from kinks
CONTROL = 0.15  # the share of control flow among operations
LARGE = 60.0  # how large values may become, so that differences have digits left


def _fraction(x):
    return x - np.floor(x)


def _apart(x, y):
    return np.all(np.abs(x - y) >= NEAR)


def _single_extreme(op, x, sign):
    """The extreme element of each line is ahead of all others."""
    axes = tuple(op.attributes["axes"])
    if not axes or not x.size:
        return bool(x.size)
    rest = [a for a in range(x.ndim) if a not in axes]
    lines = np.sort(sign * x.transpose(rest + list(axes)).reshape([x.shape[a] for a in rest] + [-1]), axis=-1)
    return lines.shape[-1] < 2 or bool(np.all(lines[..., -1] - lines[..., -2] >= NEAR))


UNARY = {
    "exp": lambda x: x <= 4, "exp2": lambda x: x <= 5, "expm1": lambda x: x <= 4, "log": lambda x: x >= 0.2,
    "log2": lambda x: x >= 0.2, "log1p": lambda x: x >= -0.7, "sqrt": lambda x: x >= 0.2, "rsqrt": lambda x: x >= 0.2,
    "tan": lambda x: np.abs(np.cos(x)) >= 0.3, "recip": lambda x: np.abs(x) >= 0.3, "abs": lambda x: np.abs(x) >= NEAR,
    "relu": lambda x: np.abs(x) >= NEAR, "sign": lambda x: np.abs(x) >= NEAR,
    "floor": lambda x: np.abs(_fraction(x) - 0.5) <= 0.5 - NEAR, "ceil": lambda x: np.abs(_fraction(x) - 0.5) <= 0.5
    - NEAR,
    "round_even": lambda x: np.abs(_fraction(x) - 0.5) >= NEAR,
    **{name: lambda x: np.abs(x) <= LARGE
       for name in ("neg", "sin", "cos", "tanh", "erf", "sigmoid", "gelu", "silu", "softplus")},
}


def _binary_is_smooth(name, x, y):
    if name == "div":
        return np.all(np.abs(y) >= 0.3)
    if name == "rem":
        return np.all(np.abs(y) >= 0.3) and np.all(np.abs(_fraction(x / y) - 0.5) <= 0.5 - NEAR)
    if name in ("max", "min", "compare"):
        return _apart(x, y)
    if name == "pow":
        return np.all((x >= 0.3) & (x <= 5) & (np.abs(y) <= 3))
    if name == "atan2":
        return np.all((x * x + y * y >= 0.1) & ((np.abs(x) >= NEAR) | (y > 0)))
    return True


def is_smooth(op, arrays):
    name = op.mnemonic
    if name in UNARY:
        return bool(np.all(UNARY[name](arrays[0])))
    if name == "embedding":  # a row of padding has no gradient, though the result depends on it
        return op.attributes["padding"] not in arrays[1]
    if name == "scatter" and op.attributes["kind"] in ("max", "min"):
        values = np.sort(np.concatenate([arrays[0].ravel(), arrays[-1].ravel()]))
        return bool(np.all(np.diff(values) > NEAR))
    if name in ("sort", "top_k", "cummax", "cummin"):
        return bool(np.all(np.diff(np.sort(arrays[0], op.attributes["axis"]), axis=op.attributes["axis"]) > NEAR))
    if name in operations_windows.TABLE:
        return operations_windows.is_smooth(op, arrays)
    if name in ("reduce_max", "reduce_min"):
        return _single_extreme(op, arrays[0], 1 if name == "reduce_max" else -1)
    if name == "clamp":
        # The adjoint is that of an interval: with low above high, high wins, but the rule asks low first.
        x, low, high = arrays
        return _apart(x, low) and _apart(x, high) and bool(np.all(low + NEAR <= high))
    if len(arrays) == 2 and name in ("div", "rem", "max", "min", "compare", "pow", "atan2"):
        return bool(_binary_is_smooth(name, *arrays))
    return True


# All operations with a derivative, and comparisons, which make the conditions of selects.
OPERATIONS = sorted(UNARY) + [
    "add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2", "clamp", "fma", "compare", "select", "reshape",
    "broadcast", "sum_to_shape", "transpose", "slice", "dynamic_slice", "dynamic_update_slice", "pad", "concat",
    "reverse", "gather", "take", "embedding", "scatter", "sort", "top_k", "conv", "reduce_window", "spread_window",
    "reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_mean", "cumsum", "cumprod", "cummax", "cummin", "dot",
    "gemm", "softmax", "log_softmax", "layer_norm", "rms_norm", "cross_entropy", "attention", "logsumexp", "rotary_embedding",
    "dropout", "group_norm", "batch_norm", "batch_norm_inference"]

# Those whose derivatives need sizes.
SIZED = ["reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_mean", "softmax", "log_softmax", "layer_norm",
         "rms_norm",
         "cross_entropy", "dot", "gemm", "reshape", "broadcast", "sum_to_shape", "concat", "slice", "dynamic_slice",
         "pad", "gather", "take", "embedding", "scatter", "cumsum", "cumprod", "cummax", "cummin", "conv", "reduce_window",
         "spread_window", "attention", "logsumexp", "rotary_embedding", "dropout", "group_norm", "batch_norm"]


def evaluate(op, arrays):
    """Puts the result into `arrays`; false where the operation is not smooth there or gives large numbers."""
    operands = [arrays[value.name] for value in op.operands]
    if not is_smooth(op, operands):
        return False
    result = np.asarray(oracle.expected(op, operands)[0])
    arrays[op.result.name] = result
    return not result.size or bool(np.all(np.abs(result) <= LARGE))


def grow(generator):
    if generator.depth < control.DEEPEST and generator.chance(CONTROL):
        control.grow_control(generator, grow)
    else:
        CATALOGUE[generator.pick(SIZED if generator.chance(generator.open / 2) else OPERATIONS)][1](generator, "f64")


class SmoothGenerator(Generator):
    """Knows the values of everything that it makes."""

    def __init__(self, rng):
        super().__init__(rng, special=0.0, constants=0.05)
        self.open = float(rng.choice([0.0, 0.9]))  # how often an argument gets a type that leaves open sizes it knows
        self.arrays = {}
        self.carried = ["f64"]

    def argument(self, element, sizes, static=None, array=None):
        if array is None and element == "f64":
            array = self.rng.uniform(0.3, 2.0, sizes) * (1 if self.chance(0.5) else self.rng.choice([-1.0, 1.0], sizes))
            array = np.asarray(array)
        value = super().argument(element, sizes, static, array)
        if not self.arguments or self.arguments[-1][0] is not value:
            return value
        self.arrays[value.name] = self.arguments[-1][1]
        return self.opened(value) if element == "f64" and self.chance(self.open) else value

    def opened(self, value):
        """The value with a type that leaves sizes open which are constants."""
        if None in value.static or not value.rank:
            return value
        static = tuple(None if self.chance(0.7) else size for size in value.sizes)
        names = [f"%{self.name('n')}" if size is None else None for size in static]
        prelude = [f"{name} = arith.constant {size} : index" for name, size in zip(names, value.sizes) if name]
        index = f"({', '.join(filter(None, names))})" if prelude else ""
        return self.add("broadcast", "f64", static, value.sizes, [value],
                        f"ad.broadcast {value}{index} : {value.type} -> {tensor_type('f64', static)}", prelude)

    def adopt(self, value, array):
        super().adopt(value, array)
        self.arrays[value.name] = array

    def attempt(self):
        """Adds an operation if it is smooth where its operands are."""
        state = len(self.arguments), len(self.ops), len(self.values)
        grow(self)
        if all(control.evaluate(op, self.arrays, evaluate) for op in self.ops[state[1]:]):
            return True
        del self.arguments[state[0]:], self.ops[state[1]:], self.values[state[2]:]
        return False

    def weighted_sum(self, value):
        """A scalar that depends on each element of the value in another way."""
        weights = self.rng.uniform(0.5, 1.5, value.sizes) * self.rng.choice([-1.0, 1.0], value.sizes)
        # Weights of known sizes let cotangents know sizes that the types of values leave open.
        static = value.sizes if self.open and self.chance(0.7) else value.static
        weights = super().argument("f64", value.sizes, static, np.asarray(weights))
        self.inactive.add(weights.name)
        product = self.add("mul", "f64", *broadcast_result([value, weights]), [value, weights],
                           f"ad.mul {value}, {weights} : {value.type}, {weights.type}")
        axes = list(range(value.rank))
        return self.add("reduce_sum", "f64", (), (), [product],
                        f"ad.reduce_sum {product} axes {axes} : {product.type} -> tensor<f64>",
                        attributes={"axes": axes, "keep": False})

    def function(self, size):
        """A program with one scalar output, and the arguments to differentiate."""
        self.inactive = set()
        for _ in range(8 * size):
            if sum(op.mnemonic != "constant" for op in self.ops) >= size:
                break
            self.attempt()
        read = {value.name for op in self.ops for value in op.operands}
        leaves = [result for op in self.ops for result in op.results
                  if result.element == "f64" and result.name not in read]
        total = None
        for leaf in leaves or [self.argument("f64", (2,))]:
            term = self.weighted_sum(leaf)
            total = term if total is None else self.add("add", "f64", (), (), [total, term],
                                                        f"ad.add {total}, {term} : tensor<f64>")
        program = Program(self.arguments, self.ops, [total]).used()
        active = [value for value, _ in program.arguments if value.element == "f64" and value.name not in self.inactive]
        return program, active
