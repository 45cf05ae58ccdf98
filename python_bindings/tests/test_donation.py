# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays of donated arguments are updated and returned as the results; values that cannot be updated are copied."""

import adjoint
import numpy as np
import pytest

NEGATE = """
func.func @main(%x: tensor<2x2xf32> {ad.name = "x", ad.donated = 0 : i64}) -> (tensor<2x2xf32> {ad.name = "y"}) {
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


# The result reads elements of the argument after it has written others, so that no memory plan writes it in place.
REVERSE = """
func.func @main(%x: tensor<4xf32> {ad.donated = 0 : i64}) -> (tensor<4xf32> {ad.name = "y"}) {
  %y = ad.reverse %x axes [0] : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""

# The result has fewer elements than the argument.
SHORTEN = """
func.func @main(%x: tensor<?xf32> {ad.donated = 0 : i64}) -> (tensor<?xf32> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %size = tensor.dim %x, %zero : tensor<?xf32>
  %less = arith.subi %size, %one : index
  %y = ad.dynamic_slice %x[%one](%less) : tensor<?xf32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}
"""


def square():
    return np.arange(4, dtype=np.float32).reshape(2, 2)


def test_a_donated_array_is_updated_and_given_back(target):
    program = adjoint.compile(NEGATE, target=target)
    assert program.signature.arguments[0].donated_to == "y"
    x = square()
    y = program(x)
    assert y is x
    np.testing.assert_array_equal(x, -square())
    assert program(x) is x
    np.testing.assert_array_equal(x, square())


def test_a_result_that_is_not_made_in_place_comes_back_in_the_donated_array(target):
    x = np.arange(4, dtype=np.float32)
    assert adjoint.compile(REVERSE, target=target)(x) is x
    np.testing.assert_array_equal(x, [3, 2, 1, 0])


def test_a_result_of_another_size_has_memory_of_its_own(target):
    x = np.arange(4, dtype=np.float32)
    y = adjoint.compile(SHORTEN, target=target)(x)
    assert not np.shares_memory(x, y)
    np.testing.assert_array_equal(y, [1, 2, 3])


def test_a_part_of_an_array_can_be_donated(target):
    whole = np.arange(12, dtype=np.float32).reshape(3, 2, 2)
    adjoint.compile(NEGATE, target=target)(whole[1])
    np.testing.assert_array_equal(whole.ravel(), [0, 1, 2, 3, -4, -5, -6, -7, 8, 9, 10, 11])


def test_elements_that_numpy_lacks_are_updated_too(target):
    program = adjoint.compile(NEGATE.replace("f32", "bf16"), target=target)
    bits = np.array([[0x3F80, 0x4000], [0x8000, 0]], np.uint16)
    x = bits.view(program.signature.arguments[0].dtype).copy()
    y = program(x)
    assert np.shares_memory(x, y) and y.dtype == x.dtype
    np.testing.assert_array_equal(x.view(np.uint16), bits ^ 0x8000)


def read_only():
    x = square()
    x.flags.writeable = False
    return x


READ_ONLY = {
    "read-only": read_only,
    "read-only and strided": lambda: np.broadcast_to(np.float32(1), (2, 2)),
    "bytes": lambda: np.frombuffer(square().tobytes(), np.float32).reshape(2, 2),
}


@pytest.mark.parametrize("make", READ_ONLY.values(), ids=READ_ONLY)
def test_a_read_only_array_cannot_be_donated(make, target):
    program = adjoint.compile(NEGATE, target=target)
    x = make()
    before = x.copy()
    with pytest.raises(adjoint.ArgumentMemoryError) as caught:
        program(x)
    assert str(caught.value) == (
        "argument 'x': expected tensor<2x2xf32> that may be written, since the argument is donated, got a read-only "
        "array; give a copy"
    )
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(program(x.copy()), -before)


def unaligned():
    x = np.zeros(17, np.uint8)[1:].view(np.float32).reshape(2, 2)
    x[:] = square()
    return x


class Subclass(np.ndarray):
    pass


COPIED = {
    "strided": lambda: np.arange(8, dtype=np.float32).reshape(2, 4)[:, ::2],
    "transposed": lambda: np.asfortranarray(square()),
    "unaligned": unaligned,
    "foreign byte order": lambda: square().astype(">f4"),
    "subclass": lambda: square().view(Subclass),
}


@pytest.mark.parametrize("make", COPIED.values(), ids=COPIED)
def test_what_cannot_be_updated_is_copied(make, target):
    x = make()
    before = x.copy()
    y = adjoint.compile(NEGATE, target=target)(x)
    assert type(y) is np.ndarray and y.flags.c_contiguous and not np.shares_memory(x, y)
    np.testing.assert_array_equal(y, -before)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, np.int32, np.complex64])
def test_a_donated_array_of_another_type_is_an_error(dtype):
    with pytest.raises(adjoint.ArgumentTypeError, match="argument 'x': expected tensor<2x2xf32>, got an array of"):
        adjoint.compile(NEGATE)(square().astype(dtype))


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
    # One of them may be updated if the other is a copy.
    x = np.arange(4, dtype=np.float32)
    negated, exponential = program(x, x)
    np.testing.assert_array_equal(negated, [0, -1, -2, -3])
    np.testing.assert_allclose(exponential, np.exp(np.arange(4)), rtol=1e-6)


def test_neighbours_do_not_overlap():
    both = np.arange(8, dtype=np.float32)
    negated, reversed_ = adjoint.compile(NEGATE_AND_REVERSE)(both[:4], both[4:])
    assert np.shares_memory(negated, both) and not np.shares_memory(reversed_, both)
    np.testing.assert_array_equal(both, [0, -1, -2, -3, 4, 5, 6, 7])
