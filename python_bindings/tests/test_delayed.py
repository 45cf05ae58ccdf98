# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""adjoint.text.delayed: scales and histories against NumPy, and training runs in f8 with delayed scaling."""

import re

import adjoint
import numpy as np
import pytest
from adjoint.text.delayed import LARGEST, DelayedScaling, scales_of_history, update_history
from adjoint.text.loop import Training, training_function
from adjoint.text.optim import SGD

STEPS = 20


def call(text, name, *values):
    return adjoint.compile(text.replace("func.func private", "func.func"), entry=name)(*values)


def expected_scale(magnitude, element, margin):
    if magnitude == 0:
        return 1.0
    exponents = [e for e in range(-300, 300) if magnitude * 2.0**e <= LARGEST[element]]
    return 2.0 ** np.clip(max(exponents) - margin, -126, 126)


@pytest.mark.parametrize("margin", [0, 3])
def test_scales_are_powers_of_two_below_the_limit(margin):
    delayed = DelayedScaling(5, history=3, margin=margin)
    magnitudes = np.random.default_rng(0).uniform(0.1, 1, size=(3, 5, 3)).astype(np.float32)
    magnitudes *= np.exp2(np.random.default_rng(1).integers(-140, 40, size=(3, 5, 3))).astype(np.float32)
    magnitudes[:, 0] = 0
    magnitudes[:, 1] = [448, 224, 57344]
    # The logarithm of the limit divided by such a number rounds to a whole one.
    for row, toward in ((2, np.inf), (3, 0)):
        limits = np.array([448 * 2.0**-20, 448 * 2.0**13, 57344 * 2.0**-30], np.float32)
        magnitudes[:, row] = np.nextafter(limits, np.float32(toward))
    found = call(scales_of_history("main", delayed), "main", magnitudes)
    largest = magnitudes.max(axis=0)
    wanted = [[expected_scale(float(m), t, margin) for m, t in zip(row, delayed.types)] for row in largest]
    assert np.array_equal(found, np.array(wanted, np.float32))


@pytest.mark.parametrize("history", [1, 4])
def test_the_last_step_comes_first_and_what_is_not_finite_counts_as_the_largest(history):
    delayed = DelayedScaling(2, history=history)
    before = np.random.default_rng(0).uniform(0, 9, size=(history, 2, 3)).astype(np.float32)
    new = np.array([[1, np.inf, 2], [np.nan, 0, 100]], np.float32)
    found = call(update_history("main", delayed), "main", before, new)
    first = np.where(np.isfinite(new), new, before.max(axis=0))
    assert np.array_equal(found, np.concatenate([first[None], before[:-1]]))


@pytest.mark.parametrize("options, message", [
    ({"contractions": 0}, "at least one contraction, got 0"),
    ({"contractions": 1, "history": 0}, "a history of at least one step, got 0"),
    ({"contractions": 1.5}, "at least one contraction, got 1.5"),
    ({"contractions": True}, "at least one contraction, got True"),
    ({"contractions": 1, "history": 2.5}, "a history of at least one step, got 2.5"),
    ({"contractions": 1, "margin": 0.5}, "a whole margin from 0 to 64, got 0.5"),
    ({"contractions": 1, "margin": 65}, "a whole margin from 0 to 64, got 65"),
    ({"contractions": 1, "types": ("f8E5M2", "f8E5M2")}, "the types of lhs, rhs and cotangent, got ("),
    ({"contractions": 1, "types": "f8E5M2"}, "the types of lhs, rhs and cotangent, got 'f8E5M2'"),
    ({"contractions": 1, "margin": -1}, "a whole margin from 0 to 64, got -1"),
    ({"contractions": 1, "types": ("f8E5M2", "bf16", "f8E5M2")}, "f8E4M3FN or f8E5M2 as types, got 'bf16'"),
])
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        DelayedScaling(**options)


LOSS = """
func.func private @loss(%w: tensor<8x2xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<f32> {
  %product = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %error = ad.sub %product, %y : tensor<4x2xf32>
  %square = ad.mul %error, %error : tensor<4x2xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<4x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
"""


def train(contractions, precision, target="cpu", size=1.0):
    delayed = DelayedScaling(contractions) if contractions else None
    training = Training("loss", {"w": (8, 2)}, {"x": "tensor<4x8xf32>", "y": "tensor<4x2xf32>"}, STEPS, SGD(),
                        delayed=delayed)
    random = np.random.default_rng(0)
    x = random.normal(size=(STEPS, 4, 8)).astype(np.float32)
    w, true = random.normal(size=(8, 2)).astype(np.float32), random.normal(size=(8, 2)).astype(np.float32)
    losses = []
    run = adjoint.compile(LOSS + training_function("main", training), precision=precision, target=target,
                          numerics="reproducible")
    trained = run(size * w, feeds={"x": x, "y": size * (x @ true), "rate": np.full(STEPS, 0.3, np.float32)},
                  receives={"loss": lambda value: losses.append(value.item())})
    return trained, np.array(losses)


@pytest.mark.parametrize("size", [1.0, 2.0**20, 2.0**-20])
def test_a_run_in_f8_learns_as_in_f32_whatever_the_size_of_values(size):
    _, wide = train(0, "none", size=size)
    for contractions in (0, 1):
        _, losses = train(contractions, "f8", size=size)
        # The first step with delayed scaling has scales of 1, which round everything to 0 or saturate.
        assert np.isfinite(losses).all() and losses[-1] < 0.05 * losses[0]
        if not contractions:
            assert np.allclose(losses[:6], wide[:6], rtol=0.35)


def test_targets_give_the_same_bits():
    runs = [train(1, "f8", target) for target in ("cpu", "gpu-sim", "reference")]
    for trained, losses in runs[1:]:
        assert np.array_equal(trained, runs[0][0]) and np.array_equal(losses, runs[0][1])


def test_other_policies_ignore_the_scales():
    assert np.array_equal(train(1, "none")[0], train(0, "none")[0])


def test_the_number_of_contractions_is_checked():
    with pytest.raises(adjoint.CompileError, match="expected 'ad.scales' of type tensor<1x3xf32> for the 1 contraction"):
        train(2, "f8")
