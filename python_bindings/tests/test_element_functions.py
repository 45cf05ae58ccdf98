# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of elements against NumPy: computed in extended precision and rounded once to the type. Of 8- and 16-bit
floats all numbers are taken, of other types random ones of all magnitudes and special ones. NaNs, infinities and signs
of zeros are those of NumPy."""

import math
import os
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint.nn import functional

NARROW = ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"]
TYPES = ["float64", "float32", *NARROW]
SEED = int(os.environ.get("ADJOINT_SAMPLE") or 0)




#: The function, NumPy's, and how many units in the last place f32 and f64 may differ; narrow floats differ by one at
#: most. Units of a sum of two count in the larger one of them.
FUNCTIONS = {
    "exp": (anp.exp, np.exp, 2), "expm1": (anp.expm1, np.expm1, 2), "log": (anp.log, np.log, 2),
    "log1p": (anp.log1p, np.log1p, 2), "log2": (anp.log2, np.log2, 2), "log10": (anp.log10, np.log10, 2),
    "sin": (anp.sin, np.sin, 2), "cos": (anp.cos, np.cos, 2), "tan": (anp.tan, np.tan, 2),
    "tanh": (anp.tanh, np.tanh, 2), "sqrt": (anp.sqrt, np.sqrt, 0), "exp2": (anp.exp2, np.exp2, 2),
    "sinh": (anp.sinh, np.sinh, 4), "cosh": (anp.cosh, np.cosh, 4), "asinh": (anp.asinh, np.arcsinh, 4),
    "acosh": (anp.acosh, np.arccosh, 4), "atanh": (anp.atanh, np.arctanh, 4), "atan": (anp.atan, np.arctan, 2),
    "asin": (anp.asin, np.arcsin, 4), "acos": (anp.acos, np.arccos, 4), "square": (anp.square, np.square, 0),
    "reciprocal": (anp.reciprocal, lambda x: 1 / x, 0), "floor": (anp.floor, np.floor, 0),
    "ceil": (anp.ceil, np.ceil, 0), "round": (anp.round, np.round, 0), "trunc": (anp.trunc, np.trunc, 0),
    "isinf": (anp.isinf, np.isinf, 0), "isfinite": (anp.isfinite, np.isfinite, 0), "isnan": (anp.isnan, np.isnan, 0),
    "cube": (lambda x: x**3, lambda x: x**3, 2), "tenth": (lambda x: x**10, lambda x: x**10, 10),
    "elu": (lambda x: functional.elu(x, 0.3), lambda x: np.where(x > 0, x, np.longdouble(0.3) * np.expm1(x)), 4),
    "leaky_relu": (functional.leaky_relu, lambda x: np.where(x > 0, x, x * np.longdouble(0.01)), 2),
    "softplus": (lambda x: functional.softplus(x, 0.5), lambda x: np.logaddexp(x / 2, 0) * 2, 4),
    "dropout": (lambda x: functional.dropout(x, 1e-9, key=1), lambda x: x / (1 - np.longdouble(1e-9)), 1),
}  # fmt: skip
OF_TWO = {
    "hypot": (anp.hypot, np.hypot, 4), "logaddexp": (anp.logaddexp, np.logaddexp, 4),
    "floor_divide": (anp.floor_divide, np.floor_divide, 2), "remainder": (anp.remainder, np.remainder, 0),
    "divide": (anp.divide, np.divide, 0), "copysign": (anp.copysign, np.copysign, 0), "atan2": (anp.atan2, np.arctan2, 2),
    "add": (anp.add, np.add, 0), "multiply": (anp.multiply, np.multiply, 0),
    "leaky_relu": (functional.leaky_relu, lambda x, slope: np.where(x > 0, x, x * slope), 2),
}  # fmt: skip


def special(dtype):
    about = ml_dtypes.finfo(dtype)
    largest, least, tiny = (float(one) for one in (about.max, about.tiny, about.smallest_subnormal))
    found = [0.0, 1.0, 0.5, 2.0, 3.0, 7.0, math.inf, math.nan, largest, largest / 3, least, tiny, 1e4]
    with np.errstate(over="ignore"):
        return np.array([*found, *(-one for one in found)]).astype(dtype)


def numbers(random, dtype, count):
    dtype = np.dtype(dtype)
    if dtype.itemsize <= 2:
        return np.arange(256**dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    about = np.finfo(dtype)
    wide = np.exp2(random.uniform(np.log2(about.tiny), np.log2(about.max), count)) * random.choice([1, -1], count)
    drawn = [wide, random.standard_normal(count) * 4, random.uniform(-1, 1, count), random.uniform(-100, 100, count)]
    return np.concatenate([special(dtype), *drawn]).astype(dtype)


def pairs(random, dtype):
    """Pairs of all numbers of 8 bits, of all special ones, of random ones, and of those that are near to each other."""
    found = numbers(random, dtype, 2000)
    if found.size == 256:
        return np.repeat(found, 256), np.tile(found, 256)
    left, right = (random.permutation(found)[:8000] for _ in range(2))
    with np.errstate(all="ignore"):
        near = (left.astype(np.float64) * random.choice([1, 2, 3, 0.5, -1, 1.01], left.size)).astype(dtype)
    ends = special(dtype)
    return (
        np.concatenate([left, left, np.repeat(ends, ends.size)]),
        np.concatenate([right, near, np.tile(ends, ends.size)]),
    )


def rounded(values, dtype):
    """Once, to the type; 8-bit floats saturate."""
    dtype = np.dtype(dtype)
    if values.dtype == bool or dtype.itemsize > 2:
        return values if values.dtype == bool else values.astype(dtype)
    if dtype.itemsize == 1:
        largest = float(ml_dtypes.finfo(dtype).max)
        values = np.clip(values, -largest, largest)
    return values.astype(np.float64).astype(dtype)


def expected_of(function, name, units, arguments, dtype):
    # What NumPy has exactly is that of the type.
    is_own = units == 0 or name == "floor_divide"
    width = np.dtype(dtype) if is_own and np.dtype(dtype).itemsize > 2 else np.float64 if is_own else np.longdouble
    with np.errstate(all="ignore"):
        wide = [one.astype(np.float64).astype(width) for one in arguments]
        made = function(*wide)
        if name == "floor_divide":  # NumPy rounds large quotients twice
            made = np.array([floor_of(*each) for each in zip(*arguments, made)], width)
        return rounded(made, dtype)


def floor_of(a, b, otherwise):
    """The exact quotient of finite numbers rounded down; zeros as they are."""
    if otherwise == 0 or b == 0 or not (math.isfinite(a) and math.isfinite(b) and math.isfinite(otherwise)):
        return otherwise
    return float(Fraction(float(a)) // Fraction(float(b)))


def place(values):
    """The numbers of floats in their order, of which neighbours differ by one; both zeros have the number 0."""
    size = values.dtype.itemsize
    bits = values.view(f"i{size}").astype(object if size == 8 else np.int64)
    return np.where(bits < 0, -(bits + (1 << (8 * size - 1))), bits)


def wrong_place(made, expected, units, dtype, scale=None):
    """The first place where results differ too much, or None. `scale` are numbers whose units count."""
    if made.dtype == bool:
        wrong = made != expected
        return int(np.argmax(wrong)) if wrong.any() else None
    near, far = made.astype(np.float64), expected.astype(np.float64)
    same = (np.isnan(near) & np.isnan(far)) | ((near == far) & (np.signbit(near) == np.signbit(far)))
    close = np.isfinite(near) & np.isfinite(far) & ~((near == 0) & (far == 0))
    with np.errstate(all="ignore"):
        close[close] = np.abs(place(made[close]) - place(expected[close])) <= units
        if scale is not None:
            about = ml_dtypes.finfo(dtype if np.dtype(dtype).itemsize > 2 else np.float32)
            close |= np.abs(near - far) <= units * float(about.eps) * np.abs(scale)
    wrong = ~(same | close)
    return int(np.argmax(wrong)) if wrong.any() else None


def check(name, function, of_numpy, units, arguments, dtype):
    compiled = adjoint.jit(function)
    made, expected = np.asarray(compiled(*arguments)), expected_of(of_numpy, name, units, arguments, dtype)
    assert made.dtype == expected.dtype
    units = units if np.dtype(dtype).itemsize > 2 else min(units, 1)
    scale = None
    if name == "logaddexp":  # terms that cancel
        with np.errstate(invalid="ignore"):
            scale = np.maximum(*(np.abs(one.astype(np.float64)) for one in arguments))
        scale = np.where(np.isfinite(scale), scale, 0)
        made = np.where(made == 0, 0, made).astype(dtype)
        expected = np.where(expected == 0, 0, expected).astype(dtype)
    if name == "copysign":  # the sign of a NaN is not in the contract
        keep = ~np.isnan(arguments[1].astype(np.float64))
        made, expected, arguments = made[keep], expected[keep], [one[keep] for one in arguments]
    wrong = wrong_place(made, expected, units, dtype, scale)
    assert wrong is None, (name, [float(one[wrong]) for one in arguments], float(made[wrong]), float(expected[wrong]))
    # Other targets have the same bits.
    few = np.random.default_rng(SEED).permutation(made.size)[:700]
    for target in ("reference", "gpu-sim"):
        other = np.asarray(adjoint.jit(function, target=target)(*(one[few] for one in arguments)))
        same = (other == made[few]) | ((other != other) & (made[few] != made[few]))
        assert same.all(), (target, name, [float(one[few][np.argmin(same)]) for one in arguments])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_elements(name, dtype):
    function, of_numpy, units = FUNCTIONS[name]
    check(name, function, of_numpy, units, [numbers(np.random.default_rng(SEED), dtype, 1000)], dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two(name, dtype):
    function, of_numpy, units = OF_TWO[name]
    check(name, function, of_numpy, units, pairs(np.random.default_rng(SEED), dtype), dtype)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_quotients_of_integers(dtype):
    random, about = np.random.default_rng(SEED), np.iinfo(dtype)
    left, right = (np.append(random.integers(about.min, about.max, 999), about.min).astype(dtype) for _ in range(2))
    right[right == 0] = 1
    right[: right.size // 2] = random.choice([-7, -2, -1, 1, 2, 5], right.size // 2)
    with np.errstate(over="ignore"):
        expected = np.divmod(left, right)
    for made, wanted in zip(adjoint.jit(divmod)(left, right), expected, strict=True):
        np.testing.assert_array_equal(made, wanted)
    for made, wanted in zip(adjoint.jit(lambda x: divmod(7, x))(right), np.divmod(dtype(7), right), strict=True):
        np.testing.assert_array_equal(made, wanted)


def test_remainders_have_slopes_where_they_are_zero():
    x, y = np.float64([6, -6, 0, 5]), np.float64([3, 3, -2, 2])
    slopes = adjoint.grad(lambda x, y: anp.sum(x % y), (0, 1))(x, y)
    np.testing.assert_array_equal(slopes[0], np.ones(4))
    np.testing.assert_array_equal(slopes[1], [-2, 2, 0, -2])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slopes_of_hyperbolic_functions_at_their_ends(dtype):
    limit = np.log(np.finfo(dtype).max) * 1.0005  # where exp is infinite, and its half is not
    x = np.array([0, 1e-8, -1e-3, 0.999, 1, -1.001, 20, limit, -limit], dtype)
    wide = x.astype(np.longdouble)
    for name, slope, second in (("sinh", np.cosh, np.sinh), ("cosh", np.sinh, np.cosh)):
        first = adjoint.grad(lambda x: anp.sum(getattr(anp, name)(x)))  # noqa: B023
        rtol = 8 * np.finfo(dtype).eps
        np.testing.assert_allclose(first(x), slope(wide).astype(dtype), rtol=rtol)
        made = adjoint.grad(lambda x: anp.sum(first(x)))(x[:-2])  # noqa: B023
        np.testing.assert_allclose(made, second(wide[:-2]).astype(dtype), rtol=rtol, atol=rtol)


LOSSES = {
    "mse_loss": lambda x, y: (x - y) ** 2, "l1_loss": lambda x, y: np.abs(x - y),
    "smooth_l1_loss": lambda x, y: np.where(np.abs(x - y) < 1, 0.5 * (x - y) ** 2, np.abs(x - y) - 0.5),
    "huber_loss": lambda x, y: np.where(np.abs(x - y) <= 1, 0.5 * (x - y) ** 2, np.abs(x - y) - 0.5),
    "binary_cross_entropy_with_logits": lambda x, y: np.logaddexp(x, 0) - x * y,
    "binary_cross_entropy": lambda x, y: -(y * np.log(x) + (1 - y) * np.log1p(-x)),
    "kl_div": lambda x, y: y * (np.log(y) - x),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_narrow_floats_are_rounded_once(name, dtype):
    random = np.random.default_rng(SEED)
    x, y = (random.uniform(0.05, 0.95, 3000).astype(dtype) for _ in range(2))
    exact = LOSSES[name](x.astype(np.float64), y.astype(np.float64))
    for reduction, expected in (("none", exact), ("mean", exact.mean()), ("sum", exact.sum())):
        made = adjoint.jit(lambda x, y: getattr(functional, name)(x, y, reduction))(x, y)  # noqa: B023
        expected = np.asarray(expected).astype(dtype)
        assert made.dtype == expected.dtype
        np.testing.assert_allclose(
            made.astype(np.float64), expected.astype(np.float64), rtol=float(ml_dtypes.finfo(dtype).eps), atol=1e-6
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_means_of_many_narrow_losses(dtype):
    """Their number and their sum are no numbers of the type."""
    scores = (np.random.default_rng(SEED).standard_normal((9001, 5)) * 8).astype(dtype)
    labels = np.arange(9001, dtype=np.int32) % 5
    labels[::7] = -100
    wide = scores.astype(np.float64)
    logs = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    expected = -logs[np.arange(9001), np.maximum(labels, 0)][labels >= 0].mean()
    eps = float(ml_dtypes.finfo(dtype).eps)
    assert float(adjoint.jit(functional.cross_entropy)(scores, labels)) == pytest.approx(expected, rel=eps)
    given = logs.astype(dtype)
    expected = -given.astype(np.float64)[np.arange(9001), np.maximum(labels, 0)][labels >= 0].mean()
    assert float(adjoint.jit(functional.nll_loss)(given, labels)) == pytest.approx(expected, rel=eps)


@pytest.mark.parametrize("dtype", NARROW)
def test_variances_of_narrow_floats_are_rounded_once(dtype):
    x = (np.random.default_rng(SEED).standard_normal((3, 400)) * 9 + 3).astype(dtype)
    wide, specs = x.astype(np.float64), (adjoint.spec("n m", dtype),)
    for name, correction in (("var", 0), ("var", 1), ("std", 0), ("std", 2)):
        expected = rounded(getattr(np, name)(wide, axis=1, ddof=correction), dtype)
        for options in ({}, {"specs": specs}):
            made = adjoint.jit(lambda x: getattr(anp, name)(x, axis=1, correction=correction), **options)(x)  # noqa: B023
            assert wrong_place(made, expected, 1, dtype) is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_ranges_of_narrow_floats_are_rounded_once(dtype):
    made = adjoint.jit(lambda: anp.arange(0.0, 300.0, 0.1, dtype=dtype))()
    assert wrong_place(made, (np.arange(3000) * 0.1).astype(dtype), 1, dtype) is None


def test_numpy_names_of_functions():
    x = np.float64([0.25, -0.5, 0.75])
    for name in ("arcsin", "arccos", "arctan", "arcsinh", "arctanh", "fabs", "rint", "absolute"):
        np.testing.assert_allclose(adjoint.jit(getattr(np, name))(x), getattr(np, name)(x), rtol=1e-15)
    np.testing.assert_allclose(adjoint.jit(np.arccosh)(x + 2), np.arccosh(x + 2), rtol=1e-15)
    np.testing.assert_array_equal(adjoint.jit(np.invert)(np.int32([1, -5])), [-2, 4])


REDUCTIONS = ("max", "min", "argmax", "argmin", "sum", "prod", "mean", "var", "std")


@pytest.mark.long
@pytest.mark.parametrize("target", ["cpu", "reference", "gpu-sim"])
@pytest.mark.parametrize("shape", [(0, 3), (0, 0)])
def test_reductions_of_nothing(shape, target):
    x = np.ones(shape, np.float32)
    specs = (adjoint.spec(" ".join(f"n{axis}" if size == 0 else str(size) for axis, size in enumerate(shape))),)
    for axis in (None, 0):
        for name in ("max", "argmin", "sum", "var") if target == "gpu-sim" else REDUCTIONS:
            def function(x):
                return getattr(anp, name)(x, axis=axis)  # noqa: B023

            dynamic = adjoint.jit(function, specs=specs, target=target)
            try:
                with np.errstate(all="ignore"):
                    expected = getattr(np, name)(x, axis=axis)
            except ValueError:
                with pytest.raises(adjoint.TracingError, match=f"{name} of no elements has no value: axis"):
                    adjoint.jit(function, target=target)(x)
                if name.startswith("arg"):
                    with pytest.raises(adjoint.ProgramError, match="is outside of size 0") as error:
                        dynamic(x)
                    assert error.value.location.startswith(f"{__file__}:")
                else:
                    assert (np.asarray(dynamic(x)) == (-np.inf if name == "max" else np.inf)).all()
                continue
            for made in (adjoint.jit(function, target=target)(x), dynamic(x)):
                np.testing.assert_array_equal(np.asarray(made), np.asarray(expected, made.dtype))


@pytest.mark.parametrize("dtype, digits", [(np.float32, 23), (np.float64, 52)])
def test_quotients_rounded_down_are_exact_where_they_have_halves(dtype, digits):
    """Below 2^digits the whole number is that of fractions; above, it is within one unit."""
    rng = np.random.default_rng(5)
    count, scale = 3000, 2.0 ** rng.integers(-3, digits + 4, 3000)
    right = (rng.standard_normal(count) * 2.0 ** rng.integers(-20, 40, count)).astype(dtype)
    whole = rng.random(count) < 0.3
    left = (right.astype(np.float64) * np.where(whole, np.rint(scale), rng.standard_normal(count) * scale)).astype(dtype)
    left[0], right[0] = -19723922178048.0, 3752801.5
    found = adjoint.jit(anp.floor_divide)(left, right)
    for a, b, quotient in zip(left.tolist(), right.tolist(), found.tolist()):
        exact = math.floor(Fraction(a) / Fraction(b))
        unit = 0 if abs(exact) < 2**digits else np.spacing(dtype(exact))
        assert abs(quotient - exact) <= abs(unit), (a, b)
