# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays of donated arguments are updated in place where that is safe, and copied where it is not."""

import adjoint
import numpy as np
import pytest

NEGATE = """
func.func @main(%x: tensor<2x2xf32> {ad.donated = 0 : i64}) -> (tensor<2x2xf32> {ad.name = "y"}) {
  %y = ad.neg %x : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
"""

# The second result is computed from the other argument after the first one may have been written over.
NEGATE_AND_REVERSE = """
func.func @main(%x: tensor<4xf32> {ad.donated = 0 : i64}, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %z = ad.neg %x : tensor<4xf32>
  %w = ad.reverse %y axes [0] : tensor<4xf32>
  return %z, %w : tensor<4xf32>, tensor<4xf32>
}
"""

NEGATE_BOTH = """
func.func @main(%x: tensor<4xf32> {ad.donated = 0 : i64}, %y: tensor<4xf32> {ad.donated = 1 : i64})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %z = ad.neg %x : tensor<4xf32>
  %w = ad.exp %y : tensor<4xf32>
  return %z, %w : tensor<4xf32>, tensor<4xf32>
}
"""


def square():
    return np.arange(4, dtype=np.float32).reshape(2, 2)


def test_a_donated_array_is_updated_in_place():
    program = adjoint.compile(NEGATE)
    assert program.signature.arguments[0].donated_to == "y"
    x = square()
    y = program(x)
    np.testing.assert_array_equal(y, -square())
    np.testing.assert_array_equal(x, y)
    assert not np.shares_memory(x, y)


def test_the_reference_updates_nothing():
    x = square()
    np.testing.assert_array_equal(adjoint.compile(NEGATE, target="reference")(x), -square())
    np.testing.assert_array_equal(x, square())


def read_only():
    x = square()
    x.flags.writeable = False
    return x


def unaligned():
    x = np.zeros(17, np.uint8)[1:].view(np.float32).reshape(2, 2)
    x[:] = square()
    return x


class Subclass(np.ndarray):
    pass


COPIED = {
    "read-only": read_only,
    "strided": lambda: np.arange(8, dtype=np.float32).reshape(2, 4)[:, ::2],
    "transposed": lambda: np.asfortranarray(square()),
    "unaligned": unaligned,
    "foreign byte order": lambda: square().astype(">f4"),
    "subclass": lambda: square().view(Subclass),
}


@pytest.mark.parametrize("make", COPIED.values(), ids=COPIED)
def test_what_cannot_be_updated_is_copied(make):
    x = make()
    before = x.copy()
    np.testing.assert_array_equal(adjoint.compile(NEGATE)(x), -before)
    np.testing.assert_array_equal(x, before)


def test_a_donated_array_that_is_also_another_argument_is_copied(target):
    program = adjoint.compile(NEGATE_AND_REVERSE, target=target)
    x = np.arange(4, dtype=np.float32)
    negated, reversed_ = program(x, x)
    np.testing.assert_array_equal(negated, [0, -1, -2, -3])
    np.testing.assert_array_equal(reversed_, [3, 2, 1, 0])
    np.testing.assert_array_equal(x, [0, 1, 2, 3])


def test_donated_arrays_that_overlap_are_copied(target):
    program = adjoint.compile(NEGATE_BOTH, target=target)
    both = np.arange(6, dtype=np.float32)
    negated, exponential = program(both[:4], both[2:])
    np.testing.assert_array_equal(negated, [0, -1, -2, -3])
    np.testing.assert_allclose(exponential, np.exp([2, 3, 4, 5]), rtol=1e-6)
    # One of them may be updated when the other is a copy.
    x = np.arange(4, dtype=np.float32)
    negated, exponential = program(x, x)
    np.testing.assert_array_equal(negated, [0, -1, -2, -3])
    np.testing.assert_allclose(exponential, np.exp(np.arange(4)), rtol=1e-6)


def test_neighbours_do_not_overlap():
    both = np.arange(8, dtype=np.float32)
    adjoint.compile(NEGATE_AND_REVERSE)(both[:4], both[4:])
    np.testing.assert_array_equal(both, [0, -1, -2, -3, 4, 5, 6, 7])
