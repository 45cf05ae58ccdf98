# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions at the ends of their domains and of their types, as the campaign `traced` draws them."""

import ml_dtypes  # noqa: F401
import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, "bfloat16"])
def test_inverse_hyperbolic_cosines_below_1(dtype):
    x = np.array([0.5, 0, -0.5, -1, -2, -1e4, -6e4, -np.inf, np.nan]).astype(dtype)
    assert np.isnan(adjoint.jit(anp.acosh)(x).astype(np.float64)).all()
    assert adjoint.jit(anp.acosh)(np.ones(1, dtype)) == 0


def test_inverse_hyperbolic_functions_between_1e6_and_1e9():
    """Where the square plus 1 is no square in f64."""
    x = np.array([9e5, 1e6, 1.5e6, 1e7, 1e8, 9e8, 1.1e9, 1e150, 1e300])
    for name, expected in (("asinh", np.arcsinh(x)), ("acosh", np.arccosh(x))):
        np.testing.assert_allclose(adjoint.jit(getattr(anp, name))(x), expected, rtol=4e-16)
        slope = adjoint.jit(adjoint.grad(lambda x: anp.sum(getattr(anp, name)(x))))(x)  # noqa: B023
        np.testing.assert_allclose(slope, 1 / x, rtol=2e-12)


@pytest.mark.parametrize("dtype", [np.float16, "bfloat16"])
def test_quotients_of_narrow_floats_are_rounded_once(dtype):
    random = np.random.default_rng(4)
    a, b = (random.standard_normal(2000) * np.exp2(random.integers(-6, 6, 2000)) for _ in range(2))
    a, b = a.astype(dtype), b.astype(dtype)
    expected = (a.astype(np.float64) // b.astype(np.float64)).astype(dtype)
    assert (adjoint.jit(lambda a, b: a // b)(a, b) == expected).all()


def test_traced_numbers_beside_steps():
    x, i = np.arange(48.0).reshape(2, 4, 6), np.int32(-1)
    made = adjoint.jit(lambda x, i: (x[i, ::2, 1], x[0, i, 4:1:-2], x[:, 1::3, i], x[i, i, ::-1]))(x, i)
    for one, other in zip(made, (x[-1, ::2, 1], x[0, -1, 4:1:-2], x[:, 1::3, -1], x[-1, -1, ::-1])):
        np.testing.assert_array_equal(one, other)
    dynamic = adjoint.jit(lambda x: (x[-1, ::2], x[-1, 1:, ::3]), specs=(adjoint.spec("n m 6", "f64"),))
    for one, other in zip(dynamic(x), (x[-1, ::2], x[-1, 1:, ::3])):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(adjoint.TracingError, match="a traced number or a step, not both"):
        adjoint.jit(lambda x: adjoint.fori_loop(0, 2, lambda j, y: y + x[j::2].sum(), 0.0))(x)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_quotients_of_the_largest_numbers(dtype):
    large, tiny = np.finfo(dtype).max, np.finfo(dtype).tiny
    a = np.array([-large, large, -large, large, large, -large, large, 3, -3], dtype)
    b = np.array([large / 12.5, -large / 12.5, large / 3 * 2, large, -large, 7, tiny, large, large], dtype)
    with np.errstate(all="ignore"):
        expected = a // b
    np.testing.assert_allclose(adjoint.jit(lambda a, b: a // b)(a, b), expected, rtol=np.finfo(dtype).eps)


def test_scans_of_no_steps():
    def run(x, start):
        return adjoint.scan(lambda c, row: (c * 0.5 + row, anp.sin(c)), start, x)

    start, empty = np.arange(3.0), np.zeros((0, 3))
    for specs in (None, (adjoint.spec("n 3", "f64"), adjoint.spec("3", "f64"))):
        last, ys = adjoint.jit(run, specs=specs)(empty, start)
        assert (last == start).all() and ys.shape == (0, 3) and ys.dtype == np.float64
    gradient = adjoint.grad(lambda start, x: run(x, start)[0].sum())(start, empty)
    assert (gradient == 1).all()
    last, ys = adjoint.jit(lambda: adjoint.scan(lambda c, _: (c + 1, c * 2), 1.5, length=0))()
    assert last == 1.5 and ys.shape == (0,) and ys.dtype == last.dtype == np.float32
