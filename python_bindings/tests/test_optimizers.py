# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""adjoint.optim: the bits of updates, narrow parameters, and scales."""

import ml_dtypes
import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn, optim

OPTIMIZERS = [
    optim.SGD(0.1),
    optim.SGD(0.1, weight_decay=0.1),
    optim.SGD(0.1, 0.9),
    optim.SGD(0.1, 0.9, 0.25, 0.01),
    optim.SGD(0.1, 0.9, nesterov=True, weight_decay=0.01),
    optim.Adam(0.1),
    optim.Adam(0.1, (0.0, 0.5), 1e-3, 0.1),
    optim.AdamW(0.1),
    optim.AdamW(0.1, (0.8, 0.0), weight_decay=0.5),
]


def close_to_zero(random, shape):
    """Numbers of many magnitudes, with both zeros among them."""
    values = random.standard_normal(shape) * np.exp2(random.integers(-30, 10, shape))
    values.reshape(-1)[:2] = 0.0, -0.0
    return values.astype(np.float32)


class InF32:
    """The formulas of torch.optim with one rounding to f32 for each operation."""

    def __init__(self, optimizer):
        self.o, self.m, self.v, self.count = optimizer, np.float32(0), np.float32(0), 0

    def step(self, p, g):
        o, f, lr = self.o, np.float32, np.float32(self.o.lr)
        self.count += 1
        if isinstance(o, optim.AdamW):
            p = p - p * f(o.lr * o.weight_decay)
        elif o.weight_decay:
            g = g + p * f(o.weight_decay)
        if isinstance(o, optim.SGD):
            return p - self.sgd_step(g) * lr
        b1, b2 = o.betas
        self.m = self.m * f(b1) + g * f(1 - b1)
        self.v = self.v * f(b2) + g * g * f(1 - b2)
        return p - self.unbiased(self.m, b1) / (np.sqrt(self.unbiased(self.v, b2)) + f(o.eps)) * lr

    def sgd_step(self, g):
        o, f = self.o, np.float32
        if not o.momentum:
            return g
        later = self.m * f(o.momentum) + (g * f(1 - o.dampening) if o.dampening else g)
        self.m = g if o.dampening and self.count == 1 else later
        return g + self.m * f(o.momentum) if o.nesterov else self.m

    def unbiased(self, mean, beta):
        """Divided by 1 - beta^count; with our expm1, which NumPy's may differ from."""
        if beta == 0:
            return mean
        return mean / -expm1(np.float32(self.count) * np.float32(np.log(beta)))


expm1 = adjoint.jit(anp.expm1, numerics="reproducible")


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
def test_updates_have_the_bits_of_their_formulas(optimizer, target):
    random = np.random.default_rng(0)
    parameters = {"a": close_to_zero(random, (3, 4)), "b": [close_to_zero(random, (5,))]}
    step = adjoint.jit(optimizer.update, target=target, numerics="reproducible")
    state, expected = optimizer.init(parameters), parameters
    models = adjoint.tree.map(lambda leaf: InF32(optimizer), parameters)
    for _ in range(4):
        gradients = adjoint.tree.map(lambda leaf: close_to_zero(random, leaf.shape), parameters)
        parameters, state = step(parameters, gradients, state)
        expected = adjoint.tree.map(lambda model, p, g: model.step(p, g), models, expected, gradients)
        for one, other in zip(adjoint.tree.leaves(parameters), adjoint.tree.leaves(expected)):
            assert one.dtype == other.dtype and one.tobytes() == other.tobytes()


def test_rates_and_numbers_of_numpy_keep_the_types():
    p, g = np.ones(3, np.float32), np.full(3, 0.5, np.float32)
    expected = adjoint.jit(optim.SGD(0.1, 0.9).update)(p, g, optim.SGD(0.1, 0.9).init(p))[0]
    for rate in (np.float64(0.1), np.float32(0.1), np.array(0.1), lambda step: 0.1, lambda step: 0.1 + 0 * step):
        optimizer = optim.SGD(rate, np.float64(0.9))
        jitted = adjoint.jit(optimizer.update)
        text = jitted.trace(p, g, optimizer.init(p)).text
        assert "f64" not in text and (jitted(p, g, optimizer.init(p))[0] == expected).all()
    traced = adjoint.jit(lambda p, g, rate: optim.SGD(rate).update(p, g, optim.SGD().init(p))[0])
    np.testing.assert_array_equal(traced(p, g, np.float32(0.1)), p - g * np.float32(0.1))


def test_a_tree_with_other_leaves_is_refused():
    optimizer, p = optim.Adam(), {"a": np.ones(2, np.float32), "b": np.ones(2, np.float32)}
    with pytest.raises(adjoint.OptionError, match="in the tree of the parameters"):
        adjoint.jit(optimizer.update)(p, {"a": p["a"]}, optimizer.init(p))


@pytest.mark.parametrize("optimizer", [optim.SGD(1.0), optim.Adam(), optim.Masters(optim.Adam()),
                                       optim.StochasticRounding(optim.SGD())], ids=repr)
def test_gradients_and_states_have_the_shapes_of_parameters(optimizer):
    model, other = nn.Linear(2, 3, key=1), nn.Linear(2, 1, key=1)
    message = r"the gradient of 'weight' in the shape of its parameter, \(3, 2\), got \(1, 2\)"
    for update in (optimizer.update, adjoint.jit(lambda *given: optimizer.update(*given))):
        with pytest.raises(adjoint.OptionError, match=message):
            update(model, other, optimizer.init(model))
    with pytest.raises(adjoint.OptionError, match="the state 'first' of 'weight' in the shape"):
        optim.Adam().update(model, model, optim.Adam().init(other))
    with pytest.raises(adjoint.OptionError, match=r"the gradient in the shape of its parameter, \(3,\), got \(\)"):
        optim.SGD().update(np.ones(3, np.float32), 1.0, optim.SGD().init(np.ones(3, np.float32)))


@pytest.mark.parametrize("make, message", [
    (lambda: optim.SGD(momentum=1.5), "momentum in"),
    (lambda: optim.SGD(nesterov=True), "nesterov needs"),
    (lambda: optim.Adam(betas=(0.9, 1.0)), "beta2 in"),
    (lambda: optim.AdamW(eps=-1.0), "eps as a finite number of at least 0"),
    (lambda: optim.LossScale(0.0), "scale from 2"),
    (lambda: optim.LossScale(growth_interval=0), "interval of at least 1"),
    (lambda: optim.LossScale(backoff_factor=1.0), "backoff between"),
    (lambda: optim.DelayedScales(0), "at least one contraction"),
])
def test_wrong_descriptions_are_refused(make, message):
    with pytest.raises(adjoint.OptionError, match=message):
        make()


# Narrow parameters.


def test_moments_of_narrow_parameters_are_f32():
    """In bf16 a mean of squares would not fall: 0.999 v rounds to v."""
    optimizer, p = optim.Adam(0.01), np.ones(4, ml_dtypes.bfloat16)
    state = optimizer.init(p)
    step = adjoint.jit(optimizer.update)
    p, state = step(p, np.ones(4, ml_dtypes.bfloat16), state)
    for _ in range(3):
        p, state = step(p, np.zeros(4, ml_dtypes.bfloat16), state)
    assert p.dtype == ml_dtypes.bfloat16 and state["second"].dtype == np.float32
    np.testing.assert_allclose(state["second"], 1e-3 * 0.999**3, rtol=1e-6)


def test_masters_keep_what_copies_lose():
    """Each change is 1/10 of an ulp of 1."""
    optimizer, p = optim.Masters(optim.SGD(1.0)), {"p": np.ones(3, ml_dtypes.bfloat16), "q": np.ones(2)}
    gradient, state = {"p": np.full(3, -(2.0**-7) / 10, np.float32), "q": np.ones(2)}, optimizer.init(p)
    step = adjoint.jit(optimizer.update, donate_argnames=("parameters", "state"))
    for _ in range(10):
        p, state = step(p, gradient, state)
    assert p["p"].dtype == ml_dtypes.bfloat16 and (p["p"].astype(np.float32) == 1 + 2.0**-7).all()
    np.testing.assert_allclose(state["masters"]["p"], 1 + 2.0**-7, rtol=1e-6)
    assert p["q"].dtype == np.float64 and (p["q"] == -9).all()


def test_stochastic_rounding_keeps_small_changes_on_average():
    steps, ulp, count = 5, 2.0**-7, 4096
    optimizer = optim.StochasticRounding(optim.SGD(1.0), seed=3)
    p, gradient = [np.ones(count, ml_dtypes.bfloat16), np.ones(2, np.float32)], [np.float32([-ulp / 10] * count),
                                                                                  np.ones(2, np.float32)]
    step, state, start = adjoint.jit(optimizer.update), optimizer.init(p), p
    for _ in range(steps):
        p, state = step(p, gradient, state)
    values = p[0].astype(np.float64)
    assert set(np.unique((values - 1) / ulp)) <= set(range(steps + 1))
    assert abs(values.mean() - (1 + steps * ulp / 10)) < 5 * ulp * np.sqrt(0.1 * 0.9 * steps / count)
    assert (p[1] == 1 - steps).all()
    other = adjoint.jit(optim.StochasticRounding(optim.SGD(1.0), seed=4).update)(start, gradient, optimizer.init(start))
    assert (other[0][0] != step(start, gradient, optimizer.init(start))[0][0]).any()


# Scales.


def test_a_constant_scale_leaves_steps_out_too():
    scaling = optim.LossScale(8.0, None)
    step = adjoint.jit(lambda p, g, state: scaling.update(p - g, p, g, state))
    p, state = step(np.ones(2, np.float32), np.float32([np.nan, 1]), scaling.init())
    assert (p == 1).all() and state["scale"] == 8
    assert (step(p, np.ones(2, np.float32), state)[0] == 0).all()


def test_gradients_of_f16_are_unscaled_in_f32():
    """2^-14 over 2^16 is no f16."""
    scaling = optim.LossScale(2.0**16)
    found = adjoint.jit(scaling.unscale)([np.full(2, 2.0**-14, np.float16), np.ones(2)], scaling.init())
    assert found[0].dtype == np.float32 and (found[0] == 2.0**-30).all()
    assert found[1].dtype == np.float64 and (found[1] == 2.0**-16).all()
    third = optim.LossScale(3.0)
    assert (adjoint.jit(third.unscale)(np.ones(2), third.init()) == 1 / 3).all()


@pytest.mark.parametrize("value, is_finite", [(1e300, True), (np.inf, False), (np.nan, False)])
def test_all_finite(value, is_finite):
    tree = {"a": np.zeros((2, 3), np.float32), "b": np.array(value), "c": np.zeros((0, 2), np.float16)}
    assert adjoint.jit(optim.all_finite)(tree) == is_finite
    assert not adjoint.jit(optim.all_finite)(tree, 1e10)  # times the factor


def test_delayed_scales_name_their_contractions():
    delayed = optim.DelayedScales(2)
    step = adjoint.jit(lambda history, w, x: delayed.value_and_grad(lambda w: (x @ w).sum())(history, w), precision="f8")
    with pytest.raises(adjoint.CompileError, match="for the 1 contraction"):
        step(delayed.init(), np.ones((4, 2), np.float32), np.ones((3, 4), np.float32))


def test_delayed_scales_follow_the_magnitudes():
    """448 / 3 is below 2^8 and 448 / 200 below 2^2; the cotangents are 1, and 57344 is below 2^16."""
    delayed = optim.DelayedScales(1, history=2)
    loss = lambda w, x: (x @ w).sum()  # noqa: E731
    step = adjoint.jit(delayed.value_and_grad(loss), precision="f8")
    w, x = np.full((4, 2), 200, np.float32), np.full((3, 4), 3, np.float32)
    value, gradient, history = step(delayed.init(), w, x)
    np.testing.assert_array_equal(history, [[[3, 200, 1]], [[0, 0, 0]]])
    np.testing.assert_array_equal(adjoint.jit(delayed.scales)(history), [[2.0**7, 2, 2.0**15]])
    assert value == 3 * 200 * 4 * 6 * (192 / 200) and (gradient == 9).all()  # the nearest to 200 with 4 digits
    value, _, history = step(history, w, x)
    assert value == 3 * 200 * 4 * 6 * (192 / 200) and (history == [[[3, 200, 1]]] * 2).all()
