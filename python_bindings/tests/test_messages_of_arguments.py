# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arguments and functions that cannot be traced: the message names them and says what to do."""

import time

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint._batches import Batches

OTHERS = {
    "uint8": "int32", "uint16": "int32", "int16": "int32", "uint32": "int64",
    "uint64": "int64), which has its numbers below 2^63", "longdouble": "float64", "complex64": "give .real and .imag",
    ">f4": "float32), whose bytes are in the order of this machine",
    "M8[s]": "expected numbers", "U3": "expected numbers", "O": "expected numbers",
}  # fmt: skip


@pytest.mark.parametrize("dtype", OTHERS)
def test_element_types_that_programs_lack(dtype):
    def scale(images, factor):
        return images[0] * factor

    given = [np.ones((2, 3)).astype(dtype)]
    mend = OTHERS[dtype].split(")")
    with pytest.raises(adjoint.ArgumentTypeError) as error:
        adjoint.jit(scale)(given, np.float32(2))
    message = str(error.value)
    assert message.startswith("scale: argument 'images.0' of shape (2, 3): no element type of Adjoint is ")
    assert all(one in message for one in mend)
    with pytest.raises(TypeError) as error:
        adjoint.jit(lambda x: x * given[0])(np.ones(3, np.float32))
    assert dtype[0] in "UO" or all(one in str(error.value) for one in mend)
    with pytest.raises(adjoint.OptionError) as error:
        adjoint.spec("3", dtype)
    assert all(one in str(error.value) for one in mend)


def test_texts_are_no_indices():
    with pytest.raises(adjoint.TracingError, match="expected integers, slices, None and ... as an index of a tensor, got 'a'"):
        adjoint.jit(lambda x: x["a"])(np.ones(3, np.float32))


@pytest.mark.parametrize("number", [300, -129, 2**40])
def test_integers_that_the_type_beside_them_lacks(number):
    with pytest.raises(adjoint.TracingError, match=f"{number} is no number of type i8"):
        adjoint.jit(lambda x: x * number)(np.int8([1, 2]))
    np.testing.assert_array_equal(adjoint.jit(lambda x: x + 127)(np.int8([-1])), [126])


def test_the_key_comes_first():
    key = adjoint.random.key(1)
    with pytest.raises(adjoint.TracingError, match=r"expected a key .*, got \(3,\); the key comes first"):
        adjoint.random.normal((3,), key)
    with pytest.raises(adjoint.TracingError, match="the key comes first"):
        adjoint.jit(lambda k: adjoint.random.normal((3,), k))(key)


def test_batches_of_other_structures():
    batches = [{"x": np.ones(3, np.float32), "y": np.ones(3, np.float32)}, np.ones(3, np.float32)]
    feed = Batches(batches, skipped=0).feeds()["batch.y"]
    next(feed)
    with pytest.raises(adjoint.ArgumentTypeError, match=r"the first one has 2 arrays \(x, y\), this one an array"):
        next(feed)


def test_images_of_bytes_as_the_message_says():
    images = np.arange(12, dtype=np.uint8).reshape(2, 6)
    np.testing.assert_array_equal(adjoint.jit(lambda x: x.sum(1))(images.astype(np.int32)), images.sum(1))


def test_long_lists_are_arrays():
    numbers = [float(n) for n in range(100_000)]
    with pytest.raises(adjoint.ArgumentTypeError, match=r"f: argument 'x.a' has 100000 numbers.*numpy.asarray"):
        @adjoint.jit
        def f(x):
            return x["a"][0]

        f({"a": numbers})
    begin = time.monotonic()
    made = adjoint.jit(lambda x: x * numbers + anp.asarray(numbers))(np.float32(2))
    assert time.monotonic() - begin < 10
    np.testing.assert_array_equal(made, np.float32(numbers) * 3)
    rows = [numbers[:1000]] * 50
    np.testing.assert_array_equal(adjoint.jit(lambda x: x + rows)(np.float32(1)), np.float32(rows) + 1)
    static = adjoint.jit(lambda x, n: x * anp.asarray(n), static_argnames="n")
    np.testing.assert_array_equal(static(np.float32(1), tuple(numbers)), np.float32(numbers))


def test_lists_of_a_few_numbers_are_trees():
    assert adjoint.jit(lambda x: x[0] + x[1][0])([1.0, [2.5, 3]]) == 3.5


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1.0], 2.0], [[[1]], [[1, 2]]]])
def test_rows_of_different_lengths(rows):
    x = np.ones(3, np.float32)
    for function in (anp.asarray, lambda rows: x[0] * anp.sin(rows), lambda rows: anp.zeros(()) + rows):
        with pytest.raises(adjoint.TracingError, match="if all rows have one length"):
            adjoint.jit(lambda _: function(rows))(x)  # noqa: B023


def endless(x):
    return endless(x * 2) + 1


@adjoint.jit
def compiled(x):
    return compiled(x) + 1


def of_branches(x):
    return adjoint.cond(x > 0, lambda: of_branches(x - 1), lambda: x)


def one(x):
    return other(x) * 2


def other(x):
    return one(x - 1)


@pytest.mark.parametrize("function", [endless, compiled, of_branches, one, adjoint.grad(endless)])
def test_endless_recursion_is_named(function):
    with pytest.raises(adjoint.TracingError) as error:
        adjoint.jit(function)(np.float32(1))
    message = str(error.value)
    assert any(f"{name} calls itself " in message for name in ("endless", "compiled", "of_branches", "one", "other"))
    assert f"{__file__}:" in message and "adjoint.while_loop" in message
    assert error.value.__cause__ is None and error.value.__suppress_context__
    # The package is as it was.
    assert adjoint.jit(lambda x: x + 1)(np.float32(1)) == 2


def test_recursion_that_a_static_number_ends():
    def power(x, n):
        return anp.ones(()) if n == 0 else x * power(x, n - 1)

    assert adjoint.jit(power, static_argnames="n")(np.float32(2), 5) == 32
