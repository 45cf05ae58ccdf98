# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Powers of integers are those of NumPy: exact, modulo the width of the type."""

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp

RANDOM = np.random.default_rng(11)
TYPES = [np.int8, np.int32, np.int64]


def integers(dtype, low, high, *shape):
    return RANDOM.integers(low, high, shape, dtype, endpoint=True)


def anything(dtype, *shape):
    return integers(dtype, np.iinfo(dtype).min, np.iinfo(dtype).max, *shape)


@pytest.mark.parametrize("dtype", TYPES)
def test_by_numbers(dtype):
    x = np.concatenate([anything(dtype, 200), integers(dtype, -3, 3, 20)])
    for exponent in (0, 1, 2, 3, 13, 62, 63, 64, 65, 100, 127):
        made = adjoint.jit(lambda x: (x**exponent, anp.pow(x, exponent)))(x)  # noqa: B023
        for one in made:
            assert one.dtype == dtype and (one == x**exponent).all(), exponent


@pytest.mark.parametrize("dtype", TYPES)
def test_by_arrays(dtype, target):
    x = np.concatenate([anything(dtype, 100), integers(dtype, -3, 3, 28)])
    n = np.concatenate([integers(dtype, 0, np.iinfo(dtype).max, 64), integers(dtype, 0, 20, 64)])
    small = n % 21
    made, base, by_constants = adjoint.jit(lambda x, n: (x**n, 3**n, x**small), target=target)(x, n)
    assert made.dtype == dtype and (made == x**n).all()
    assert (base == dtype(3) ** n).all() and (by_constants == x**small).all()


def test_shapes_and_types():
    x, n = np.int8([[2], [-3]]), np.int64([0, 1, 40])
    made = adjoint.jit(lambda x, n: x**n)(x, n)
    assert made.dtype == np.int64 and (made == x.astype(np.int64) ** n).all()
    zeros = np.zeros((2, 3), np.int32)
    dynamic = adjoint.jit(lambda x: x ** zeros[0], specs=(adjoint.spec("n 3", "i32"),))
    assert (dynamic(zeros) == 1).all()
    assert adjoint.jit(lambda x: x ** anp.asarray(2))(np.int64(3_037_000_499)) == 3_037_000_499**2  # above 2^53
    total = adjoint.jit(lambda x: adjoint.fori_loop(0, 4, lambda i, t: t + x**i + i**2, np.int64(0)))(np.int64(10))
    assert total == 1111 + 14


def test_negative_exponents():
    for exponent in (-1, np.array([-2, 1])):
        with pytest.raises(ValueError, match="exponents of integers of at least 0, got -") as caught:
            adjoint.jit(lambda x: x**exponent)(np.arange(2))  # noqa: B023
        assert isinstance(caught.value, adjoint.Error)
    # Of traced ones: their bits, as a number without a sign.
    made = adjoint.jit(lambda x, n: x**n)(np.int32([1, -1, -1, 2, 0, 3]), np.int32([-5, -5, -2, -1, -1, -1]))
    assert made.tolist() == [1, -1, 1, 0, 0, pow(3, -1, 2**32) - 2**32]
    assert adjoint.jit(lambda x: x**-2.0)(np.int32(2)) == 0.25 and adjoint.jit(lambda x: x**-2)(np.float32(2)) == 0.25
