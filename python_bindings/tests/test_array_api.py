# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""adjoint.numpy against array_api_strict, name by name, and the table of names in docs/array-api.md.

`python test_array_api.py` writes the table."""

import inspect
import pathlib

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/array-api.md"
RANDOM = np.random.default_rng(5)
A, B = RANDOM.standard_normal((3, 4)), RANDOM.standard_normal((3, 4))
POSITIVE, UNIT = RANDOM.random((3, 4)) + 0.5, RANDOM.random((3, 4)) * 1.8 - 0.9
SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan, 1e-300])
I, J = RANDOM.integers(-9, 9, (3, 4)), RANDOM.integers(1, 9, (3, 4))
P, Q = RANDOM.integers(0, 2, (3, 4)).astype(bool), RANDOM.integers(0, 2, (3, 4)).astype(bool)
ROWS = np.array([2, 0, 1, 2, 0])
V, M = RANDOM.standard_normal(4), RANDOM.standard_normal((4, 5))


def one(name, *arrays):
    return [(lambda xp, x: getattr(xp, name)(x), (array,)) for array in arrays]


def two(name, *pairs):
    return [(lambda xp, x, y: getattr(xp, name)(x, y), pair) for pair in pairs]


def reduced(name, *arrays):
    forms = ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)})
    return [(lambda xp, x, form=form: getattr(xp, name)(x, **form), (array,)) for array in arrays for form in forms]


ARITHMETIC = [(A, B), (I, J), (A, V)]
#: By name: functions of a namespace and arrays, and the arrays.
CASES = {
    **{name: one(name, A, SPECIAL[:6]) for name in ("exp", "expm1", "sin", "cos", "tan", "tanh", "sinh", "cosh", "asinh",
                                                    "atan")},
    **{name: one(name, POSITIVE) for name in ("log", "log1p", "log2", "log10", "sqrt", "reciprocal")},
    **{name: one(name, UNIT) for name in ("asin", "acos", "atanh")},
    "acosh": one("acosh", POSITIVE + 0.6),
    **{name: one(name, A, I, SPECIAL) for name in ("abs", "negative", "positive", "square", "ceil", "floor", "trunc",
                                                   "round", "isfinite", "isinf", "isnan")},
    "sign": one("sign", A, I),
    "signbit": one("signbit", A, SPECIAL[:6]),
    **{name: two(name, *ARITHMETIC) for name in ("add", "subtract", "multiply", "maximum", "minimum", "equal", "not_equal",
                                                 "less", "less_equal", "greater", "greater_equal")},
    "divide": two("divide", (A, B), (A, V)),
    **{name: two(name, (A, B), (I, J), (I, -J)) for name in ("floor_divide", "remainder")},
    "pow": two("pow", (POSITIVE, B)),
    **{name: two(name, (A, B)) for name in ("atan2", "hypot", "logaddexp", "copysign")},
    **{name: two(name, (I, J), (P, Q)) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    **{name: two(name, (I, J), (J, I % 64)) for name in ("bitwise_left_shift", "bitwise_right_shift")},
    "nextafter": two("nextafter", (A, B), (A, A), (SPECIAL, SPECIAL[::-1]), (0 * A, B), (A, 0 * B),
                     (A.astype(np.float32), B.astype(np.float32))),
    "bitwise_invert": one("bitwise_invert", I, P),
    **{name: two(name, (P, Q)) for name in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": one("logical_not", P),
    "clip": [(lambda xp, x: xp.clip(x, -0.5, 0.5), (A,)), (lambda xp, x: xp.clip(x, min=1), (I,))],
    "where": [(lambda xp, p, x, y: xp.where(p, x, y), (P, A, B))],
    **{name: reduced(name, A, I) for name in ("sum", "prod", "max", "min")},
    **{name: reduced(name, A) for name in ("mean", "var", "std")},
    **{name: reduced(name, P, A) for name in ("all", "any", "count_nonzero")},
    **{name: [(lambda xp, x, name=name, form=form: getattr(xp, name)(x, **form), (A,))
              for form in ({}, {"axis": 1}, {"axis": 0, "keepdims": True})] for name in ("argmax", "argmin")},
    **{name: [(lambda xp, x, name=name, form=form: getattr(xp, name)(x, **form), (x,)) for x in (A, I, V)
              for form in ({}, {"axis": 0}, {"descending": True})] for name in ("sort", "argsort")},
    "cumulative_sum": [(lambda xp, x: xp.cumulative_sum(x, axis=1), (A,)), (lambda xp, x: xp.cumulative_sum(x), (V,)),
                       (lambda xp, x: xp.cumulative_sum(x, axis=0, include_initial=True), (I,))],
    "cumulative_prod": [(lambda xp, x: xp.cumulative_prod(x, axis=1), (A,)), (lambda xp, x: xp.cumulative_prod(x), (V,)),
                        (lambda xp, x: xp.cumulative_prod(x, axis=0, include_initial=True), (I,))],
    "diff": [(lambda xp, x: xp.diff(x), (A,)), (lambda xp, x: xp.diff(x, axis=0, n=2), (A,))],
    "matmul": two("matmul", (A, M), (V, M), (A, V), (np.stack([A, B]), M), (np.stack([A, B]), np.stack([M, M]))),
    "matrix_transpose": one("matrix_transpose", A),
    "tensordot": [(lambda xp, x, y: xp.tensordot(x, y, axes=1), (A, M)),
                  (lambda xp, x, y: xp.tensordot(x, y, axes=((0, 1), (0, 1))), (A, B))],
    "vecdot": [(lambda xp, x, y: xp.vecdot(x, y), (A, B)), (lambda xp, x, y: xp.vecdot(x, y, axis=-2), (A, B))],
    "broadcast_to": [(lambda xp, x: xp.broadcast_to(x, (3, 4)), (V,))],
    "broadcast_arrays": [(lambda xp, x, y: xp.broadcast_arrays(x, y)[0], (V, A))],
    "concat": [(lambda xp, x, y: xp.concat([x, y], axis=1), (A, B)), (lambda xp, x, y: xp.concat([x, y], axis=None), (A, V))],
    "stack": [(lambda xp, x, y, axis=axis: xp.stack([x, y], axis=axis), (A, B)) for axis in (0, 1, -1)],
    "unstack": [(lambda xp, x: xp.unstack(x, axis=1)[2], (A,))],
    "expand_dims": [(lambda xp, x, axis=axis: xp.expand_dims(x, axis=axis), (A,)) for axis in (0, 1, -1)],
    "squeeze": [(lambda xp, x: xp.squeeze(x, 1), (A[:, :1],))],
    "flip": [(lambda xp, x: xp.flip(x), (A,)), (lambda xp, x: xp.flip(x, axis=-1), (A,))],
    "moveaxis": [(lambda xp, x: xp.moveaxis(x, 0, -1), (np.ones((2, 3, 4)),)),
                 (lambda xp, x: xp.moveaxis(x, (0, 1), (2, 0)), (RANDOM.random((2, 3, 4)),))],
    "permute_dims": [(lambda xp, x: xp.permute_dims(x, (2, 0, 1)), (RANDOM.random((2, 3, 4)),))],
    "reshape": [(lambda xp, x: xp.reshape(x, (2, -1)), (A,))],
    "roll": [(lambda xp, x: xp.roll(x, 2), (A,)), (lambda xp, x: xp.roll(x, (1, -1), axis=(0, 1)), (A,))],
    "tile": [(lambda xp, x: xp.tile(x, (2, 1, 3)), (A,)), (lambda xp, x: xp.tile(x, (2,)), (A,))],
    "repeat": [(lambda xp, x: xp.repeat(x, 3, axis=1), (A,)), (lambda xp, x: xp.repeat(x, 2), (A,))],
    "take": [(lambda xp, x, i, axis=axis: xp.take(x, i, axis=axis), (A, ROWS)) for axis in (0, 1, -1)],
    "take_along_axis": [(lambda xp, x, i: xp.take_along_axis(x, i, axis=0), (A, np.stack([ROWS[:4]] * 2))),
                        (lambda xp, x, i: xp.take_along_axis(x, i), (A, np.stack([ROWS] * 3)))],
    "isin": [(lambda xp, x, y: xp.isin(x, y), (I, I[0]))],
    "searchsorted": [(lambda xp, x, y, side=side: xp.searchsorted(x, y, side=side), (np.sort(I[0]), I))
                     for side in ("left", "right")] + [
        (lambda xp, x, y, i: xp.searchsorted(x, y, sorter=i), (V, A, np.argsort(V)))],
    "arange": [(lambda xp, x: xp.arange(2, 9, 3, dtype=xp.int64) + 0 * xp.sum(x), (I,))],
    "linspace": [(lambda xp, x: x * xp.linspace(-1, 2, 4, dtype=xp.float64), (V,))],
    "asarray": [(lambda xp, x: xp.asarray(x), (A,))],
    "empty": [(lambda xp, x: xp.zeros_like(xp.empty((2, 3), dtype=xp.float64)), (A,))],
    "empty_like": [(lambda xp, x: xp.zeros_like(xp.empty_like(x)), (A,))],
    "eye": [(lambda xp, x: x @ xp.eye(4, 5, k=1, dtype=xp.float64), (A,))],
    "full": [(lambda xp, x: x + xp.full((3, 1), 2.5, dtype=xp.float64), (A,))],
    "full_like": [(lambda xp, x: xp.full_like(x, 7), (A,))],
    "ones": [(lambda xp, x: x + xp.ones((4,), dtype=xp.float64), (A,))],
    "ones_like": [(lambda xp, x: xp.ones_like(x), (I,))],
    "zeros": [(lambda xp, x: x + xp.zeros((4,), dtype=xp.float64), (A,))],
    "zeros_like": [(lambda xp, x: xp.zeros_like(x), (A,))],
    "meshgrid": [(lambda xp, x, y, indexing=indexing: xp.meshgrid(x, y, indexing=indexing)[1], (V, M[0]))
                 for indexing in ("xy", "ij")],
    "tril": [(lambda xp, x: xp.tril(x, k=1), (M,))],
    "triu": [(lambda xp, x: xp.triu(x, k=-1), (M,))],
    "astype": [(lambda xp, x: xp.astype(x, xp.float32), (A,)), (lambda xp, x: xp.astype(x, xp.float64), (I,))],
}
# Functions of types and shapes: what both namespaces say.
ABOUT = {
    "broadcast_shapes": lambda xp: xp.broadcast_shapes((3, 1), (4,), (1, 1, 1)),
    "can_cast": lambda xp: (xp.can_cast(xp.int32, xp.int64), xp.can_cast(xp.float64, xp.float32)),
    "finfo": lambda xp: (xp.finfo(xp.float32).bits, float(xp.finfo(xp.float64).eps)),
    "iinfo": lambda xp: (xp.iinfo(xp.int32).max, xp.iinfo(xp.int8).min),
    "isdtype": lambda xp: (xp.isdtype(xp.int32, "integral"), xp.isdtype(xp.float32, ("bool", "real floating")),
                           xp.isdtype(xp.bool, "numeric")),
    "result_type": lambda xp: (xp.result_type(xp.int32, xp.int64) == xp.int64,
                               xp.result_type(xp.float32, xp.float64) == xp.float64),
}
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")
TYPES = ("bool", "int8", "int32", "int64", "float32", "float64")
#: Names that raise, and what they need.
REFUSED = {
    **dict.fromkeys(("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values"),
                    "a shape that depends on values"),
    **dict.fromkeys(("conj", "imag", "real"), "complex numbers"),
    "from_dlpack": "arrays that have values",
}
#: What needs no new kind of operation.
OWED = {"from_dlpack"}
MISSING_TYPES = ("int16", "uint8", "uint16", "uint32", "uint64")


@pytest.fixture
def strict():
    return pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")


@pytest.mark.parametrize("name", CASES)
def test_values(strict, name):
    for function, arrays in CASES[name]:
        expected = np.asarray(function(strict, *map(strict.asarray, arrays)))
        made = adjoint.jit(lambda *given, function=function: function(anp, *given))(*arrays)
        assert made.shape == expected.shape and made.dtype == expected.dtype, inspect.getsource(function)
        np.testing.assert_allclose(made, expected, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ABOUT)
def test_types_and_shapes(strict, name):
    assert ABOUT[name](anp) == ABOUT[name](strict)


def test_constants_and_types(strict):
    for name in CONSTANTS:
        np.testing.assert_equal(getattr(anp, name), getattr(strict, name))
    for name in TYPES:
        assert np.dtype(getattr(anp, name)).name == name


@pytest.mark.parametrize("name", REFUSED)
def test_refused_names(name):
    with pytest.raises(NotImplementedError, match=f"adjoint.numpy.{name} "):
        adjoint.jit(lambda x: getattr(anp, name)(x))(A)


def test_every_name_is_in_the_table(strict):
    extensions = {"fft", "linalg", "complex64", "complex128", "Device", "ArrayAPIStrictFlags"}
    names = {name for name in strict.__all__ if not name.startswith("__") and "strict_flags" not in name} - extensions
    assert names - {*CASES, *ABOUT, *CONSTANTS, *TYPES, *REFUSED, *MISSING_TYPES} == set()
    have = len({*CASES, *ABOUT, *CONSTANTS, *TYPES} & names)
    assert have / (have + len(OWED | set(MISSING_TYPES))) >= 0.9


def table():
    lines = ["# Names of the array API standard", "",
             "`adjoint.numpy` has these names of the Python array API standard 2025.12; each is tested against", "`array-api-strict`. `linalg` and `fft`, which are extensions, are missing. Written by",
             "`python_bindings/tests/test_array_api.py`.", "", "| name | |", "|---|---|"]
    about = {**dict.fromkeys([*CASES, *ABOUT, *CONSTANTS, *TYPES], "works"),
             **{name: f"raises: needs {reason}" for name, reason in REFUSED.items()},
             **dict.fromkeys(MISSING_TYPES, "missing: no such element type")}
    return "\n".join([*lines, *(f"| `{name}` | {about[name]} |" for name in sorted(about))]) + "\n"


@pytest.mark.skipif(not PAGE.parent.exists(), reason="the package is tested without the tree")
def test_table():
    assert PAGE.read_text() == table(), "run python python_bindings/tests/test_array_api.py"


def test_top_k():
    largest, smallest = adjoint.jit(lambda x: (anp.top_k(x, 2), anp.top_k(x, 1, axis=0, mode="smallest")))(A)
    order = np.argsort(-A, axis=-1, kind="stable")[:, :2]
    np.testing.assert_equal(largest[1], order)
    np.testing.assert_equal(largest[0], np.take_along_axis(A, order, -1))
    np.testing.assert_equal(smallest[0], A.min(axis=0, keepdims=True))
    np.testing.assert_equal(smallest[1], A.argmin(axis=0)[None])
    with pytest.raises(adjoint.TracingError, match="modes largest and smallest"):
        adjoint.jit(lambda x: anp.top_k(x, 2, mode="least"))(A)


def test_einops():
    einops = pytest.importorskip("einops", reason="einops is not installed")
    x = RANDOM.random((2, 3, 8))

    def use(x):
        return (einops.rearrange(x, "b t (h d) -> b h t d", h=2), einops.reduce(x, "b t d -> b d", "mean"),
                einops.repeat(x, "b t d -> b t r d", r=3), einops.einsum(x, x, "b t d, b s d -> b t s"))

    for made, expected in zip(adjoint.jit(use)(x), use(x)):
        np.testing.assert_allclose(made, expected, rtol=1e-13)


if __name__ == "__main__":
    PAGE.write_text(table())
