# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traced functions against NumPy, closed forms and finite differences."""

import dataclasses
import pickle
from typing import NamedTuple

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp

RANDOM = np.random.default_rng(7)
TARGETS = ["reference", "cpu", "gpu-sim"]


def floats(*shape, dtype=np.float64):
    return RANDOM.standard_normal(shape).astype(dtype)


def run(function, *arguments, **options):
    return adjoint.jit(function, **options)(*arguments)


def difference(function, x, step=1e-6):
    """The gradient by central differences."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        above, below = x.copy(), x.copy()
        above[index] += step
        below[index] -= step
        gradient[index] = (function(above) - function(below)) / (2 * step)
    return gradient


def test_operators():
    x, y = floats(3, 4), floats(4) + 2.5
    made = run(lambda x, y: (x + y, x - y, x * y, x / y, -x, abs(x), 2 - x, 1 / y, x**3, y**0.5, x % y, x // y), x, y)
    expected = (x + y, x - y, x * y, x / y, -x, abs(x), 2 - x, 1 / y, x**3, y**0.5, x % y, x // y)
    for one, other in zip(made, expected):
        np.testing.assert_allclose(one, other, rtol=1e-14)


def test_integer_division_rounds_down():
    x, y = np.array([7, -7, 7, -7, 6], np.int32), np.array([2, 2, -2, -2, 3], np.int32)
    quotient, rest = run(lambda x, y: (x // y, x % y), x, y)
    np.testing.assert_array_equal(quotient, x // y)
    np.testing.assert_array_equal(rest, x % y)


def test_comparisons_and_masks():
    x = floats(5)
    made = run(lambda x: ((x > 0) & (x < 1), (x <= 0) | ~(x == x), anp.where(x > 0, x, 0)), x)
    for one, other in zip(made, ((x > 0) & (x < 1), (x <= 0) | ~(x == x), np.where(x > 0, x, 0))):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("key", [
    np.s_[1], np.s_[-1], np.s_[1:3], np.s_[::2], np.s_[::-1], np.s_[3:0:-2], np.s_[..., 2], np.s_[:, None, 1:, -2],
    np.s_[None], np.s_[1, 2, 3], np.s_[2:2], np.s_[-3:-1, ::-3], np.s_[...],
])
def test_indexing(key):
    x = floats(4, 5, 6)
    np.testing.assert_array_equal(run(lambda x: x[key], x), x[key])


def test_traced_index():
    x, i = floats(4, 5), np.array(2, np.int32)
    taken, row, changed = run(lambda x, i: (x[i, 1:3], x[i], x.at[i, 1:3].set(0)), x, i)
    np.testing.assert_array_equal(taken, x[2, 1:3])
    np.testing.assert_array_equal(row, x[2])
    expected = x.copy()
    expected[2, 1:3] = 0
    np.testing.assert_array_equal(changed, expected)


def test_matmul():
    for left, right in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
                        ((5, 2, 3), (5, 3, 4)), ((1, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4)), ((7, 5, 2, 3), (5, 3, 4)),
                        ((5, 2, 3), (3,)), ((3,), (5, 3, 4))]:
        a, b = floats(*left), floats(*right)
        np.testing.assert_allclose(run(lambda a, b: a @ b, a, b), a @ b, rtol=1e-12, atol=1e-14)


def test_reductions():
    x = floats(3, 4, 5)
    for axis in (None, 0, -1, (0, 2)):
        made = run(lambda x, axis=axis: (x.sum(axis), x.mean(axis), x.max(axis), x.min(axis, keepdims=True), x.var(axis),
                                         x.std(axis, correction=1)), x)
        expected = (x.sum(axis), x.mean(axis), x.max(axis), x.min(axis, keepdims=True), x.var(axis), x.std(axis, ddof=1))
        for one, other in zip(made, expected):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_numbers_follow_tensors():
    x = floats(3, dtype=np.float32)
    assert run(lambda x: x * 2 + 0.5, x).dtype == np.float32
    assert run(lambda x: x * 2, np.arange(3, dtype=np.int64)).dtype == np.int64
    assert run(lambda x: x * 0.5, np.arange(3)).dtype == np.float32


class Pair(NamedTuple):
    left: object
    right: object


@dataclasses.dataclass
class Layer:
    weight: object
    bias: object


def test_trees():
    weights = {"b": Layer(floats(3, 2), floats(2)), "a": [floats(2)], "none": None}

    @adjoint.jit
    def step(weights, pair):
        return {"y": pair.left @ weights["b"].weight + weights["b"].bias, "rest": (weights["a"][0] * pair.right, None)}

    x = floats(4, 3)
    made = step(weights, Pair(x, 2.0))
    np.testing.assert_allclose(made["y"], x @ weights["b"].weight + weights["b"].bias, rtol=1e-13)
    assert made["rest"][1] is None
    assert "weights.b.weight" in step.trace(weights, Pair(x, 2.0)).text


def test_gradient_of_trees():
    weights = {"w": floats(4, 3), "b": floats(3)}
    x, y = floats(5, 4), floats(5, 3)

    def loss(weights, x, y):
        return ((anp.tanh(x @ weights["w"] + weights["b"]) - y) ** 2).mean()

    value, gradient = run(adjoint.value_and_grad(loss), weights, x, y)

    def plain(w, b):
        return np.mean((np.tanh(x @ w + b) - y) ** 2)

    np.testing.assert_allclose(value, plain(weights["w"], weights["b"]), rtol=1e-12)
    np.testing.assert_allclose(gradient["w"], difference(lambda w: plain(w, weights["b"]), weights["w"]), atol=1e-8)
    np.testing.assert_allclose(gradient["b"], difference(lambda b: plain(weights["w"], b), weights["b"]), atol=1e-8)


def test_gradient_without_jit_and_of_several_arguments():
    x, y = floats(3), floats(3)
    gradients = adjoint.grad(lambda x, y: (x * x * y).sum(), (0, 1))(x, y)
    np.testing.assert_allclose(gradients[0], 2 * x * y, rtol=1e-13)
    np.testing.assert_allclose(gradients[1], x * x, rtol=1e-13)


def test_auxiliary_results():
    x = floats(3)
    (value, others), gradient = adjoint.value_and_grad(lambda x: ((x**3).sum(), {"twice": 2 * x}), has_aux=True)(x)
    np.testing.assert_allclose(value, (x**3).sum(), rtol=1e-13)
    np.testing.assert_allclose(others["twice"], 2 * x)
    np.testing.assert_allclose(gradient, 3 * x**2, rtol=1e-13)


def test_second_derivative_and_captured_values():
    x, v = floats(4), floats(4)

    @adjoint.jit
    def product(x, v):
        """Of the Hessian and a vector: the inner function uses `v`, which is traced outside of it."""
        return adjoint.grad(lambda x: (adjoint.grad(lambda x: (x**4).sum())(x) * v).sum())(x)

    np.testing.assert_allclose(product(x, v), 12 * x**2 * v, rtol=1e-13)


def test_vjp():
    x, w, g = floats(3, 4), floats(4, 2), floats(3, 2)

    @adjoint.jit
    def pull(x, w, g):
        y, pullback = adjoint.vjp(lambda x, w: anp.sin(x @ w), x, w)
        return y, pullback(g)

    y, (dx, dw) = pull(x, w, g)
    np.testing.assert_allclose(y, np.sin(x @ w), rtol=1e-13)
    inner = g * np.cos(x @ w)
    np.testing.assert_allclose(dx, inner @ w.T, rtol=1e-12)
    np.testing.assert_allclose(dw, x.T @ inner, rtol=1e-12)


def test_stop_gradient():
    x = floats(3)
    np.testing.assert_allclose(adjoint.grad(lambda x: (x * adjoint.stop_gradient(x)).sum())(x), x)


@pytest.mark.parametrize("target", TARGETS)
def test_branches(target):
    @adjoint.jit(target=target)
    def choose(x, limit):
        return adjoint.cond(x.sum() > limit, lambda x: {"y": x * 2}, lambda x: {"y": x - 1}, x)

    x = floats(4)
    np.testing.assert_allclose(choose(x, x.sum() - 1)["y"], x * 2)
    np.testing.assert_allclose(choose(x, x.sum() + 1)["y"], x - 1)


@pytest.mark.parametrize("target", TARGETS)
def test_loops(target):
    x = floats(3)
    power = run(lambda x: adjoint.fori_loop(0, 5, lambda i, y: y * x + i, anp.ones_like(x)), x, target=target)
    expected = np.ones_like(x)
    for i in range(5):
        expected = expected * x + i
    np.testing.assert_allclose(power, expected, rtol=1e-13)
    halved, count = run(lambda x: adjoint.while_loop(lambda s: s[0].max() > 0.1, lambda s: (s[0] / 2, s[1] + 1),
                                                     (abs(x), anp.full((), 0, dtype="i32"))), x, target=target)
    assert halved.max() <= 0.1 < halved.max() * 2 and abs(x).max() / 2.0**count == halved.max()


def test_gradient_of_loop():
    x = floats(3)
    made = adjoint.grad(lambda x: adjoint.fori_loop(0, 3, lambda i, y: y * x, anp.ones_like(x)).sum())(x)
    np.testing.assert_allclose(made, 3 * x**2, rtol=1e-13)


def test_scan():
    xs, x0 = floats(6, 3), floats(3)

    def body(carry, x):
        carry = carry * 0.5 + x
        return carry, (carry.sum(), carry * 2)

    for reverse in (False, True):
        last, (sums, doubled) = run(lambda x0, xs, r=reverse: adjoint.scan(body, x0, xs, reverse=r), x0, xs)
        carry, expected = x0, np.zeros(6)
        for index in reversed(range(6)) if reverse else range(6):
            carry = carry * 0.5 + xs[index]
            expected[index] = carry.sum()
            np.testing.assert_allclose(doubled[index], carry * 2, rtol=1e-13)
        np.testing.assert_allclose(last, carry, rtol=1e-13)
        np.testing.assert_allclose(sums, expected, rtol=1e-12)


def test_dynamic_sizes():
    @adjoint.jit(specs=(adjoint.spec("b 4", "f64"), adjoint.spec("4 3", "f64"), adjoint.spec("b 3", "f64")))
    def loss(x, w, y):
        return ((x @ w - y) ** 2).sum() / x.shape[0]

    w = floats(4, 3)
    for size in (1, 7):
        x, y = floats(size, 4), floats(size, 3)
        np.testing.assert_allclose(loss(x, w, y), ((x @ w - y) ** 2).sum() / size, rtol=1e-6)
    with pytest.raises(adjoint.ArgumentShapeError, match="the size b is 2 and 3"):
        loss(floats(2, 4), w, floats(3, 3))
    assert len(loss._programs) == 1


def test_functions_stay_functions():
    @adjoint.jit
    def inner(x):
        return x * 2

    @adjoint.jit
    def outer(x):
        return inner(x) + inner(x + 1)

    x = floats(2)
    np.testing.assert_allclose(outer(x), 4 * x + 2)
    assert outer.trace(x).text.count("call @inner") == 2


def test_static_arguments():
    @adjoint.jit(static_argnames="count")
    def repeat(x, count, mode="sum"):
        return anp.tile(x, count) if mode == "sum" else x

    x = floats(2)
    np.testing.assert_array_equal(repeat(x, 3), np.tile(x, 3))
    np.testing.assert_array_equal(repeat(x, count=2), np.tile(x, 2))
    np.testing.assert_array_equal(repeat(x, 2, mode="none"), x)


def test_donated_arguments():
    @adjoint.jit(donate_argnames="x")
    def update(x, y):
        return x + y

    x = floats(4)
    before = x.copy()
    made = update(x, np.ones(4))
    assert made is x or made.ctypes.data == x.ctypes.data
    np.testing.assert_array_equal(made, before + 1)


def test_feeds_and_receives():
    seen = []

    @adjoint.jit
    def train(w):
        def step(i, w):
            w = w + adjoint.feed("batch", adjoint.spec("3", "f64"))
            adjoint.receive("sum", w.sum())
            return w

        return adjoint.fori_loop(0, 4, step, w)

    batches = floats(4, 3)
    made = train(np.zeros(3), feeds={"batch": batches}, receives={"sum": seen.append})
    np.testing.assert_allclose(made, batches.sum(0), rtol=1e-13)
    np.testing.assert_allclose(seen, np.cumsum(batches, 0).sum(1), rtol=1e-12)


def test_programs_pickle_and_save(tmp_path):
    x = floats(3)
    program = adjoint.jit(lambda x: {"y": x * 2}).trace(x)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(program))(x)["y"], x * 2)
    program.save(tmp_path / "p.mlir")
    np.testing.assert_array_equal(adjoint.compile(tmp_path / "p.mlir")(x), x * 2)
    with pytest.raises(adjoint.OptionError, match="ends with .mlir or .adx"):
        program.save(tmp_path / "p.txt")


@pytest.mark.parametrize("use, message", [
    (lambda x: x if x.sum() > 0 else -x, "use adjoint.cond"),
    (lambda x: x * int(x[0]), "static argument"),
    (lambda x: np.cbrt(x), "functions of adjoint.numpy"),
    (lambda x: x[x > 0], "a traced mask"),
    (lambda x: x[7], "out of range"),
    (lambda x: x.reshape(2, 7), "cannot be reshaped"),
    (lambda x: "text", "expected tensors as results"),
    (lambda x: adjoint.cond(x[0] > 0, lambda: x, lambda: x[0]), "differ in type"),
    (lambda x: adjoint.fori_loop(0, 3, lambda i, y: y.astype("f32"), x), "differ in type"),
    (lambda x: adjoint.grad(lambda x: x * 2)(x), "value is a float of rank 0"),
    (lambda x: adjoint.grad(lambda x: x * 2.0)(1), "tensors of floats"),
    (lambda x: adjoint.vmap(lambda x: x), "does not exist yet"),
])
def test_refusals(use, message):
    with pytest.raises((adjoint.Error, NotImplementedError, TypeError), match=message):
        run(use, floats(3))


def test_errors_name_the_line():
    def wrong(x, y):
        return x + y  # here

    with pytest.raises(adjoint.CompileError) as caught:
        run(wrong, floats(3), floats(4))
    assert "test_tracing.py" in str(caught.value) and "return x + y  # here" in str(caught.value)


def test_run_time_errors_name_the_line():
    def take(x, i):
        return x[i]  # outside

    with pytest.raises(adjoint.ProgramError, match="return x.i.  # outside"):
        run(take, floats(3), np.array(7))


def test_values_do_not_leak():
    kept = []
    run(lambda x: kept.append(x) or x, floats(2))
    with pytest.raises(adjoint.TracingError, match="after its function was traced"):
        run(lambda x: x + kept[0], floats(2))


@pytest.mark.parametrize("target", TARGETS)
def test_random_numbers(target):
    def draw(seed):
        key, other = adjoint.random.split(adjoint.random.key(seed))
        return (adjoint.random.normal(key, (2000,)), adjoint.random.uniform(other, (100,), minval=-1.0, maxval=2.0),
                adjoint.random.randint(key, (50,), 3, 9), adjoint.random.truncated_normal(other, -1.0, 2.0, (500,)))

    normal, uniform, integers, truncated = run(draw, np.array(3, np.int64), target=target)
    assert abs(normal.mean()) < 0.1 and abs(normal.std() - 1) < 0.1
    assert uniform.min() >= -1 and uniform.max() < 2 and set(integers) == set(range(3, 9))
    assert -1 <= truncated.min() < -0.9 and 1.7 < truncated.max() <= 2
    np.testing.assert_array_equal(normal, run(draw, np.array(3, np.int64), target="reference")[0])


@pytest.mark.parametrize("text, shapes", [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(5, 2, 3), (5, 3, 4)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
    ("i,j->ij", [(2,), (3,)]), ("...ij,...jk->...ik", [(5, 2, 3), (5, 3, 4)]), ("ij->ji", [(2, 3)]),
    ("ijk,il,jm->klm", [(2, 3, 4), (2, 5), (3, 6)]), ("ij,ij->", [(2, 3), (2, 3)]), ("bhqd,bhkd->bhqk", [(2, 3, 4, 5)] * 2),
])
def test_einsum(text, shapes):
    values = [floats(*shape) for shape in shapes]
    np.testing.assert_allclose(run(lambda *x: anp.einsum(text, *x), *values), np.einsum(text, *values), rtol=1e-11,
                               atol=1e-12)


def test_check_gradients():
    x = {"a": floats(3), "b": floats(2, 3, dtype=np.float32)}
    assert adjoint.check_gradients(lambda x: anp.tanh(x["b"] @ x["a"]).sum(), x) < 1e-8

    def wrong(x):
        return (x["b"] @ adjoint.stop_gradient(x["a"])).sum()

    with pytest.raises(adjoint.CheckError, match="differ from central differences"):
        adjoint.check_gradients(wrong, x)


def test_numbers_of_loops_follow_tensors():
    for dtype in (np.float32, np.float64):
        x = floats(3, dtype=dtype)
        made = run(lambda x: adjoint.fori_loop(0, 4, lambda i, y: y + 0.1 * i + i / 3, x), x)
        expected = x.copy()
        for i in range(4):
            expected = (expected + dtype(0.1 * i)) + dtype(i / 3)
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, expected)
    i = run(lambda x: adjoint.fori_loop(0, 4, lambda i, y: y + i * 2, x), np.arange(3, dtype=np.int32))
    np.testing.assert_array_equal(i, np.arange(3) + 12)


def test_known_calls_are_those_of_their_types():
    """The quick way for arguments of known types finds the program that the slow way finds."""
    from adjoint import nn

    calls = []  # of the traced function

    @adjoint.jit
    def f(t, model=None, scale=1.0):
        calls.append(None)
        y = t["b"] * 2 + t["a"]["x"].sum()
        return (y if model is None else model(y)) * scale

    a, b = floats(3), floats(2)
    for turn in range(2):
        before, expected = len(calls), b * 2 + a.sum()
        np.testing.assert_allclose(f({"b": b, "a": {"x": a}}), expected)
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}), expected)  # another order of the dict
        np.testing.assert_allclose(f({"a": {"x": a}, "b": a}), a * 2 + a.sum())
        np.testing.assert_allclose(f({"a": {"x": a[:2]}, "b": b}), b * 2 + a[:2].sum())
        # Sums of positive numbers, apart from `b`: what cancels has no relative bound.
        positive = 1 + np.abs(a)
        found = f({"a": {"x": positive.astype(np.float32)}, "b": b})
        np.testing.assert_allclose(found - b * 2, np.full(2, positive.sum()), rtol=1e-6)
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}, nn.Softmax()), np.exp(expected) / np.exp(expected).sum())
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}, nn.ReLU()), np.maximum(expected, 0))
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}, None, 2.0), 2 * expected)
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}, None, 3), 3 * expected)
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}, nn.LeakyReLU(0.5)), np.where(expected > 0, expected, expected / 2))
        np.testing.assert_allclose(f({"a": {"x": a}, "b": b}, nn.LeakyReLU(0.1)), np.where(expected > 0, expected, expected / 10))
        assert (len(calls) > before) == (turn == 0)
    assert len(f._known) >= 6


@pytest.mark.parametrize("use", [
    lambda x, kept: adjoint.cond(x[0] > 0, lambda: kept.append(x * 2) or x, lambda: x) + kept[0],
    lambda x, kept: adjoint.fori_loop(0, 2, lambda i, y: kept.append(i) or y, x) * kept[0],
    lambda x, kept: adjoint.cond(x[0] > 0, lambda: kept.append(x * 2) or x, lambda: kept[0]),
])
def test_values_do_not_leave_branches_and_loops(use):
    with pytest.raises(adjoint.TracingError, match="outside of it"):
        run(lambda x: use(x, []), floats(3))


def test_a_function_that_raises_can_be_traced_again():
    fails = [True]

    @adjoint.jit
    def f(x):
        def body(i, y):
            if fails:
                raise KeyError("not yet")
            return y + i

        return adjoint.fori_loop(0, 3, body, x)

    with pytest.raises(KeyError):
        f(floats(2))
    fails.clear()
    x = floats(2)
    np.testing.assert_allclose(f(x), x + 3)


def test_captured_in_a_loop_and_used_after_it():
    x, v = floats(3), floats(3)

    def outer(x, v):
        def inner(x):
            y = adjoint.fori_loop(0, 3, lambda i, y: y * 0.5 + v, x)
            return (y * v).sum()

        return adjoint.grad(inner)(x)

    np.testing.assert_allclose(run(outer, x, v), v / 8, rtol=1e-12)
