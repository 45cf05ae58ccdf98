# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Values that a traced function gives where Python, NumPy and tensors meet: each was wrong, or refused, once."""

import collections
import functools
import pickle

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn

F = nn.functional
X = np.float32([1, 2, 3])
TWO = np.float32(2)


def run(function, *arguments, **options):
    return adjoint.jit(function, **options)(*arguments)


def test_comparisons_of_indices():
    made = run(lambda x: adjoint.fori_loop(0, 5, lambda i, c: adjoint.cond(i == 2, lambda: c + 100, lambda: c + 1), x),
               np.float32(0))
    assert made == 104
    assert run(lambda x: adjoint.fori_loop(0, 5, lambda i, c: anp.where(i != 2, c + 1, c), x), np.float32(0)) == 4
    with pytest.raises(adjoint.TracingError, match="truth"):
        run(lambda x: x if x.shape[0] == 4 else -x, np.ones((4, 6), np.float32), specs=(adjoint.spec("b c"),))


def test_lists_beside_tensors():
    np.testing.assert_array_equal(run(lambda x: x == [1, 2, 4], X), X == [1, 2, 4])
    np.testing.assert_array_equal(run(lambda x: x + [1, 2, 4], X), X + np.float32([1, 2, 4]))


def test_numpy_scalars_keep_their_type():
    made = run(lambda x: x * np.float64(2.5), np.int32([1, 2, 3]))
    np.testing.assert_array_equal(made, [2.5, 5, 7.5])
    assert run(lambda x: anp.where(x > 0, np.float64(0.5), 0), X).tolist() == [0.5] * 3
    assert run(lambda x: np.float64(1.5), X) == 1.5
    assert run(lambda x: anp.asarray(np.float64(2.5)), X) == 2.5


def test_zeros_have_signs():
    run(lambda x: anp.full((3,), 0.0), TWO)
    assert np.signbit(run(lambda x: anp.full((3,), -0.0), TWO)).all()
    assert run(lambda x: anp.copysign(x, -0.0), TWO) == -2


def test_static_arguments_have_types():
    f = adjoint.jit(lambda x, n: x * n if isinstance(n, int) else x / n, static_argnames="n")
    assert f(TWO, n=2) == 4 and f(TWO, n=2.0) == 1


def test_integers_over_the_whole_range():
    made = run(lambda s: adjoint.random.randint(adjoint.random.key(s), (10000,), -(2**31), 2**31 - 1), np.int64(1))
    assert len(np.unique(made)) > 9900 and abs(made.astype(float).mean()) < 5e7


def test_remainders():
    total = run(lambda x: adjoint.fori_loop(0, 6, lambda i, c: c + (i - 5) % 3, x), np.int64(0))
    assert total == sum((i - 5) % 3 for i in range(6))
    a, b = np.float32([1, -1, 7, 5]), np.float32([0.1, 0.1, -2, 0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(lambda a, b: a // b, a, b), a // b)


def test_ranges_of_dynamic_size():
    made = run(lambda x: anp.arange(0, x.shape[0], 2), np.ones(5, np.float32), specs=(adjoint.spec("n"),))
    np.testing.assert_array_equal(made, [0, 2, 4])
    for size, expected in ((9, 2), (3, 0)):
        assert run(lambda x: x[7:], np.ones(size, np.float32), specs=(adjoint.spec("n"),)).shape == (expected,)


@pytest.mark.parametrize("low, high", [(-(2**63), 2**63), (-(2**62), 2**63), (-(2**63), 0)])
def test_integers_of_the_widest_ranges(low, high):
    made = run(lambda s: adjoint.random.randint(adjoint.random.key(s), (10000,), low, high, "i64"), np.int64(1))
    parts = np.histogram([(int(one) - low) / (high - low) for one in made], 4, (0, 1))[0]
    assert made.min() >= low and made.max() < high and abs(parts - 2500).max() < 250


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_narrow_uniform_numbers_are_below_1(element):
    made = run(lambda s: adjoint.random.uniform(adjoint.random.key(s), (100000,), element).astype("f32"), np.int64(1))
    assert made.max() < 1 and made.min() == 0 and abs(made.mean() - 0.5) < 0.01


def test_gradients_at_the_ends_are_finite():
    for z in (30.0, -110.0):
        made = adjoint.grad(lambda z: F.binary_cross_entropy(F.sigmoid(z), np.float32(1)))(np.float32(z))
        assert np.isfinite(made)
    assert np.isfinite(adjoint.grad(lambda x: F.smooth_l1_loss(x, x * 0, beta=0))(X)).all()


def test_powers():
    x = np.array([np.inf, np.nan, 0.0, 2.0])
    np.testing.assert_array_equal(run(lambda x: x**0, x), [1, 1, 1, 1])
    made = run(lambda x, y: x**y, np.int64([3, 2]), np.int64([4, 10]))
    assert made.dtype == np.int64 and made.tolist() == [81, 1024]


@pytest.mark.parametrize("use, message", [
    (lambda x: adjoint.fori_loop(0, 1, lambda i, c: 0.5, np.int32(0)), "begin with a float"),
    (lambda x: adjoint.fori_loop(0, 3.7, lambda i, c: c, x), "expected an integer"),
    (lambda x: anp.asarray(np.int32([1, 2])).at[0].add(0.7), "cannot be replaced"),
    (lambda x: anp.asarray(np.int32([1, 2])) + 2**40, "no number of type i32"),
    (lambda x: adjoint.random.truncated_normal(adjoint.random.key(1), 9.0, 10.0, (3,)), "between"),
    (lambda x: anp.einsum("a...,...b->ab", anp.ones((2, 3)), anp.ones((3, 2))), "does not name"),
    (lambda x: adjoint.grad(lambda x: x.sum(), argnums="x")(x), "number of an argument"),
    (lambda x: adjoint.grad(lambda x: x.sum(), has_aux=True)(x), r"\(value, others\)"),
    (lambda x: adjoint.grad(lambda x: {"a": x.sum(), "b": x}, has_aux=True)(x), r"\(value, others\)"),
])
def test_refusals(use, message):
    with pytest.raises(adjoint.Error, match=message):
        run(use, X)


def test_labels_that_do_not_count():
    logs, labels = np.log(np.float64([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])), np.array([1, -100, 0])
    np.testing.assert_allclose(run(F.nll_loss, logs, labels), -(np.log(0.8) + np.log(0.9)) / 2)


def test_sums_of_integers_and_booleans():
    assert run(lambda x: x.sum(), np.int8([100, 100])) == 200
    assert run(lambda x: (x > 1).sum(), X) == 2 and run(lambda x: (x > 1).max(), X)


def test_numbers_that_are_arguments_are_exact():
    assert run(lambda x, rate: x * rate, np.float64(1), 0.1) == 0.1
    made = run(lambda x, rate: x * rate, X, 0.1)
    assert made.dtype == np.float32 and (made == X * np.float32(0.1)).all()


def test_index_into_an_axis_of_one():
    with pytest.raises(adjoint.ProgramError):
        run(lambda x, i: x[:1][i], X, np.int32(7))


def test_what_can_be_called():
    model = nn.Linear(3, 2, key=1)
    np.testing.assert_allclose(adjoint.jit(model)(X), X @ model.weight.T + model.bias, rtol=1e-6)
    assert adjoint.jit(functools.partial(lambda a, x: a * x, 2.0))(TWO) == 4


def test_static_arguments_of_inner_functions():
    inner = adjoint.jit(lambda x, n: x * n if n > 2 else x, static_argnames="n")
    assert run(lambda x: inner(x, 3) + inner(x, n=1), TWO) == 8


def test_functions_of_any_name():
    def main(x):
        return x * x

    assert adjoint.grad(main)(TWO) == 4
    assert run(lambda x: adjoint.grad(main)(x), TWO) == 4


def test_caught_errors_leave_nothing_behind():
    def f(x):
        for branch in (lambda: 1 / 0, lambda: x.astype("f64")):
            try:
                adjoint.cond(x > 0, lambda: x, branch)
            except (ZeroDivisionError, adjoint.TracingError):
                pass
        return x + 1

    assert run(f, TWO) == 3


def test_errors_of_loops_are_at_the_line():
    def f(x):
        return adjoint.fori_loop(0, 2, lambda i, y: y + np.ones(4, np.float32), x)  # here

    with pytest.raises(adjoint.CompileError) as caught:
        run(f, X)
    assert "# here" in str(caught.value) and "contextlib" not in str(caught.value)


def test_further_arguments():
    f = adjoint.jit(lambda x, *rest, scale: x * scale + sum(rest), static_argnames="scale")
    assert f(TWO, TWO, TWO, scale=3) == 10
    given = collections.defaultdict(list, {"a": TWO})
    assert run(lambda d: d["a"] * 2, given) == 4
    assert run(lambda d: d["a b"] + d["a_b"], {"a b": TWO, "a_b": TWO}) == 4


def test_pullbacks_belong_to_their_function():
    x, v = np.float64([1.0, 2.0]), np.float64([3.0, 4.0])

    def forward(x, v):
        """The product of the Jacobian and a vector, by two pullbacks."""
        y, pull = adjoint.vjp(lambda a: a**3, x)
        return adjoint.grad(lambda u: (pull(u)[0] * v).sum())(y)

    np.testing.assert_allclose(run(forward, x, v), 3 * x**2 * v)
    kept = []
    run(lambda x: kept.append(adjoint.vjp(lambda a: a**3, x)[1]) or x, x)
    with pytest.raises(adjoint.TracingError, match="after its function was traced"):
        run(lambda x: kept[0](x)[0], x)

    def abandoned(x):
        keep = []

        def branch():
            keep.append(adjoint.vjp(lambda a: a**3, x * 2))
            raise ValueError

        try:
            adjoint.cond(x[0] > 0, branch, lambda: x)
        except ValueError:
            pass
        return keep[0][1](x)[0]

    with pytest.raises(adjoint.TracingError):
        run(abandoned, x)


def test_arguments_that_contain_themselves():
    cycle = []
    cycle.append(cycle)
    with pytest.raises(RecursionError):
        run(lambda x: 1.0, cycle)


def test_layers_without_a_key_differ():
    assert (nn.Linear(3, 3).weight != nn.Linear(3, 3).weight).any()


def test_functions_of_the_package_pickle():
    assert pickle.loads(pickle.dumps(anp.tanh)) is anp.tanh


def test_numpy_functions_are_those_of_the_package():
    np.testing.assert_allclose(run(lambda x: np.sin(x) + np.add(np.ones(3, np.float32), x), X), np.sin(X) + 1 + X, rtol=1e-6)


def test_specs_of_some_arguments():
    model = nn.Linear(4, 2, key=1)
    f = adjoint.jit(lambda model, x: model(x), specs=(None, adjoint.spec("b 4")))
    for size in (1, 3):
        assert f(model, np.ones((size, 4), np.float32)).shape == (size, 2)


def test_operations_that_are_refused_leave_no_region_behind():
    def f(x):
        builder = adjoint._builder.current()
        with pytest.raises(adjoint.CompileError):
            with builder.whole(), builder.region(()):
                builder.end_region("scf.yield", [builder.number(x)])
                builder.create("scf.if", [builder.number(x)], (), [x._type], 1)
        return adjoint.cond(x > 0, lambda: x, lambda: -x)

    assert run(f, TWO) == 2


def test_feeds_belong_to_the_outer_call():
    inner = adjoint.jit(lambda x: x)
    with pytest.raises(adjoint.TracingError, match="the call that runs the program"):
        run(lambda x: inner(x, feeds={"a": X}), TWO)


def test_operations_take_indices_as_tensors():
    assert run(lambda x: adjoint.fori_loop(0, 3, lambda i, c: adjoint.ops.add(c, i), x), np.int64(1)) == 4


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_shifts(dtype, target):
    bits, random = np.dtype(dtype).itemsize * 8, np.random.default_rng(7)
    x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, 40, dtype)
    places = random.integers(0, bits, 40).astype(dtype)
    shifted = adjoint.jit(lambda x, y: (x << y, x >> y, x << 1, x >> 1, 1 << y, 1 >> y), target=target)
    one = np.ones(40, dtype)
    expected = (x << places, x >> places, x << one, x >> one, one << places, one >> places)
    for found, wanted in zip(shifted(x, places), expected):
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == dtype
    for outside in (-1, bits, np.iinfo(dtype).max):
        left, right, *_ = shifted(x, np.full(40, outside, dtype))
        assert (left == 0).all()
        np.testing.assert_array_equal(right, np.where(x < 0, -1, 0))
