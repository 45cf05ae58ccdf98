# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Axes of dynamic size: slices, indices, loops, layers, random numbers and feeds against programs of known sizes."""

import adjoint
import adjoint.numpy as anp
import numpy as np
import pytest
from adjoint import nn

TARGETS = ("cpu", "reference", "gpu-sim")
SLICES = [
    slice(None, 2), slice(None, -1), slice(-2, None), slice(1, -1), slice(None, None, 2), slice(1, None, 2), slice(2, 1),
    slice(7, None), slice(None, 9), slice(-9, None), slice(-9, -8), slice(None, None, -1), slice(3, None), slice(1, 3, 3),
    slice(-3, 2), -1, 0,
]


def rows(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 3)).astype(np.float32)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slices_and_their_gradients(key, target):
    options = {"specs": (adjoint.spec("n 3"),), "target": target}
    taken = adjoint.jit(lambda x: x[key] * 1, **options)
    gradient = adjoint.jit(adjoint.grad(lambda x: (x[key] * x[key]).sum()), **options)
    for n in (1, 2, 3, 5, 8):
        x = rows(n)
        if isinstance(key, int) and not -n <= key < n:
            continue
        np.testing.assert_array_equal(taken(x), x[key])
        expected = np.zeros_like(x)
        expected[key] = 2 * x[key]
        np.testing.assert_array_equal(gradient(x), expected)


@pytest.mark.parametrize("key, message", [
    (slice(None, None, -2), r"x\[::-1\]"), (slice(2, None, -1), r"x\[::-1\]"), (slice(-3, None, 2), "one after the other"),
])
def test_slices_that_cannot_be(key, message):
    with pytest.raises(adjoint.TracingError, match=message):
        adjoint.jit(lambda x: x[key], specs=(adjoint.spec("n 3"),))(rows(4))


@pytest.mark.parametrize("target", TARGETS)
def test_traced_indices_count_from_the_end(target):
    x, element = rows(4), adjoint.jit(lambda x, i: x[i], target=target)
    for i in range(-4, 4):
        np.testing.assert_array_equal(element(x, np.int32(i)), x[i])
    for i in (-5, 4):
        with pytest.raises(adjoint.ProgramError, match=f"index {i if i > 0 else -1} is outside of size 4"):
            element(x, np.int32(i))
    before = adjoint.jit(lambda x: adjoint.fori_loop(0, 4, lambda i, s: s + x[i - 1] * (1 + i), anp.zeros(3)), target=target)
    np.testing.assert_allclose(before(x), sum(x[i - 1] * (1 + i) for i in range(4)), rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_slices_with_traced_bounds(target):
    def total(x):
        def body(i, s):
            return s + x[i : i + 2].sum(0) + x[:i].sum(0) + 2 * x[i - 1 :].sum(0)

        return adjoint.fori_loop(0, 3, body, anp.zeros(3))

    x = rows(4)
    expected = sum(x[i : i + 2].sum(0) + x[:i].sum(0) + 2 * x[i - 1 :].sum(0) for i in range(3))
    np.testing.assert_allclose(adjoint.jit(total, target=target)(x), expected, rtol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_slices_with_bounds_that_are_tensors(target):
    def part_and_gradient(x, a, b):
        part = lambda x: (x[a:b], x[b:], x[:b:2], x.at[a:b].set(7))
        (_, parts), gradient = adjoint.value_and_grad(lambda x: ((x[a:b] ** 2).sum(), part(x)), has_aux=True)(x)
        return parts, gradient

    run, x = adjoint.jit(part_and_gradient, target=target), rows(4)
    for a in (-9, -2, 0, 1, 3, 4, 9):
        for b in (-5, -1, 0, 2, 4, 5):
            (middle, end, rest, replaced), gradient = run(x, np.int32(a), np.int64(b))
            np.testing.assert_array_equal(middle, x[a:b])
            np.testing.assert_array_equal(end, x[b:])
            np.testing.assert_array_equal(rest, x[:b:2])
            expected, slope = x.copy(), np.zeros_like(x)
            expected[a:b], slope[a:b] = 7, 2 * x[a:b]
            np.testing.assert_array_equal(replaced, expected)
            np.testing.assert_array_equal(gradient, slope)


@pytest.mark.parametrize("bound", [np.float32(1), np.array([1], np.int32), np.array(True)])
def test_bounds_that_are_no_integers(bound):
    with pytest.raises(adjoint.TracingError, match="expected an integer of rank 0 as an index, got"):
        adjoint.jit(lambda x, n: x[:n])(rows(4), bound)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU])
def test_recurrent_layers_have_dynamic_batches_and_lengths(layer, target):
    model = layer(8, 6, key=1)
    dynamic = adjoint.jit(lambda m, x: m(x)[0], specs=(None, adjoint.spec("b t 8")), target=target)
    static = adjoint.jit(lambda m, x: m(x)[0], target=target)
    for shape in [(2, 5, 8), (3, 1, 8), (1, 7, 8)]:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(dynamic(model, x), static(model, x))
    assert dynamic(model, np.zeros((2, 0, 8), np.float32)).shape == (2, 0, 6)

    def loss(m, x):
        return (m(x)[0] ** 2).sum()

    slope = adjoint.jit(adjoint.grad(loss), specs=(None, adjoint.spec("b t 8")), target=target)
    for shape in [(3, 5, 8), (1, 2, 8)]:
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        expected = adjoint.jit(adjoint.grad(loss), target=target)(model, x)
        for one, other in zip(slope(model, x).parameters(), expected.parameters(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert all((one == 0).all() for one in slope(model, np.zeros((2, 0, 8), np.float32)).parameters())


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_have_dynamic_lengths(reverse):
    def run(x):
        return adjoint.scan(lambda c, x: (c + x, c * x), anp.zeros(3), x, reverse=reverse)

    x = rows(5)
    for one, other in zip(adjoint.jit(run, specs=(adjoint.spec("n 3"),))(x), adjoint.jit(run)(x), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("reverse", [False, True])
def test_scans_of_dynamic_length_have_derivatives(reverse, target):
    def loss(w, x):
        last, rows = adjoint.scan(lambda c, row: (anp.sin(c * w) + row, c * row), w, x, reverse=reverse)
        return (last * last).sum() + rows.sum()

    def slope_of_norm(w, x):
        return adjoint.grad(lambda w: (adjoint.grad(loss)(w, x) ** 2).sum())(w)

    w, options = rows(1)[0], {"specs": (None, adjoint.spec("n 3")), "target": target}
    gradient, second = (adjoint.jit(f, **options) for f in (adjoint.grad(loss, (0, 1)), slope_of_norm))
    for n in (1, 4):
        expected = adjoint.jit(adjoint.grad(loss, (0, 1)), target=target)(w, rows(n))
        for one, other in zip(gradient(w, rows(n)), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(second(w, rows(n)), adjoint.jit(slope_of_norm, target=target)(w, rows(n)), rtol=1e-4)
    np.testing.assert_array_equal(gradient(w, rows(0))[0], 2 * w)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_to_a_traced_number_have_derivatives(target):
    def loss(w, n):
        def outer(i, c):
            return adjoint.fori_loop(0, i, lambda j, d: d * w, c)

        return adjoint.fori_loop(0, n, outer, w)

    slope = adjoint.jit(adjoint.grad(loss), target=target)
    for n in (0, 1, 4):
        factors = 1 + n * (n - 1) // 2
        np.testing.assert_allclose(slope(np.float64(1.1), np.int32(n)), factors * 1.1 ** (factors - 1), rtol=1e-14)


def test_a_scan_whose_sizes_are_made_in_a_step_is_refused():
    def run(x):
        return adjoint.scan(lambda c, row: (c, anp.zeros((x.shape[0] * 2,))), 0.0, x)[1]

    with pytest.raises(adjoint.TracingError, match="computed in the step"):
        adjoint.jit(run, specs=(adjoint.spec("n 3"),))(rows(2))


def test_random_numbers_have_dynamic_shapes():
    draw = adjoint.jit(lambda x: adjoint.random.normal(adjoint.random.key(5), x.shape), specs=(adjoint.spec("n 3"),))
    for n in (1, 4):
        np.testing.assert_array_equal(draw(rows(n)), adjoint.random.normal(adjoint.random.key(5), (n, 3)))


def test_feeds_have_the_sizes_of_arguments():
    def total(x):
        y = adjoint.feed("y", adjoint.spec("n 3"))
        return (x + y).sum(0) + adjoint.feed("z", adjoint.spec("m 3"), sizes=(x.shape[0] * 2,)).sum(0)

    x, y, z = rows(4), rows(4, 1), rows(8, 2)
    made = adjoint.jit(total, specs=(adjoint.spec("n 3"),))(x, feeds={"y": [y], "z": [z]})
    np.testing.assert_allclose(made, (x + y).sum(0) + z.sum(0), rtol=1e-5)
    with pytest.raises(adjoint.TracingError, match=r"sizes=\(\.\.\.\)"):
        adjoint.jit(lambda: adjoint.feed("y", adjoint.spec("k 3")))()
    with pytest.raises(adjoint.TracingError, match="expected adjoint.spec"):
        adjoint.jit(lambda: adjoint.feed("y", (3,)))()


def test_zeros_of_a_dynamic_shape_have_no_nan():
    def back(x):
        _, pull, _ = adjoint.vjp(lambda x: (x.sum(), x / 0), x, has_aux=True)
        return pull(anp.ones(()))[0]

    np.testing.assert_array_equal(adjoint.jit(back, specs=(adjoint.spec("n 3"),))(rows(2)), np.ones((2, 3)))


def test_parts_of_a_dynamic_axis_are_not_counted():
    with pytest.raises(adjoint.TracingError, match="has a dynamic size"):
        adjoint.jit(lambda x: anp.split(x, 2), specs=(adjoint.spec("n 3"),))(rows(2))


@pytest.mark.parametrize("shift", [2, -1, 0, 7, -9])
@pytest.mark.parametrize("target", TARGETS)
def test_rolls(shift, target):
    options = {"specs": (adjoint.spec("n 3"),), "target": target}
    rolled = adjoint.jit(lambda x: (anp.roll(x, shift, axis=0), anp.roll(x, shift)), **options)
    gradient = adjoint.jit(adjoint.grad(lambda x: (anp.roll(x, shift, axis=0) ** 2).sum()), **options)
    for n in (0, 1, 2, 5):
        x = rows(n)
        for made, axis in zip(rolled(x), (0, None)):
            np.testing.assert_array_equal(made, np.roll(x, shift, axis=axis))
        np.testing.assert_array_equal(gradient(x), 2 * x)


def test_rolls_by_sizes():
    for specs in (None, (adjoint.spec("n 3"),)):
        rolled = adjoint.jit(lambda x: anp.roll(x, (x.shape[0] // 2, -1), axis=(0, 1)), specs=specs)
        np.testing.assert_array_equal(rolled(rows(5)), np.roll(rows(5), (2, -1), axis=(0, 1)))
    with pytest.raises(adjoint.TracingError, match="the shift of roll as ints, sizes or indices"):
        adjoint.jit(lambda x, shift: anp.roll(x, shift, axis=0))(rows(5), np.int32(2))


@pytest.mark.parametrize("specs", [None, (adjoint.spec("n"),)])
def test_variances_without_degrees_of_freedom(specs):
    measured = adjoint.jit(lambda x: (anp.var(x, correction=2), anp.std(x, correction=2)), specs=specs)
    for n in (1, 2):
        assert np.isnan(measured(np.arange(n, dtype=np.float32))).all()
    np.testing.assert_allclose(measured(np.float32([0, 1, 2])), (2, 2**0.5))
