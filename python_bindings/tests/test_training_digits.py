# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The transformer of the digits learns as well in 16 and 8 bits as in f32: examples/training/digits.py."""

import pathlib
import sys

import numpy as np
import pytest
from adjoint.text.scaling import DynamicScale

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "training"
SEEDS = 3
TOLERANCE = 1.0  # percentage points of the mean over the seeds


@pytest.fixture(scope="module")
def digits():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLES))
        import digits

        yield digits
        sys.modules.pop("digits", None)


@pytest.fixture(scope="module")
def accuracy_in_f32(digits):
    return np.mean([digits.train("f32", seed)[0] for seed in range(SEEDS)])


def test_f32_learns(accuracy_in_f32):
    assert accuracy_in_f32 > 96


@pytest.mark.long
@pytest.mark.parametrize("precision", ["bf16", "f16", "bf16-stochastic", "f8"])
def test_accuracies_are_those_of_f32(digits, accuracy_in_f32, precision):
    runs = [digits.train(precision, seed) for seed in range(SEEDS)]
    assert abs(np.mean([accuracy for accuracy, _ in runs]) - accuracy_in_f32) < TOLERANCE
    if precision == "f16":
        assert all(sum(sent["finite"]) > 0.95 * len(sent["finite"]) for _, sent in runs)


def test_a_forced_overflow_is_skipped_and_the_scale_falls(digits):
    """2^40 times the gradients of the first step overflow f16; after at least ten halvings they fit."""
    accuracy, sent = digits.train("f16", 0, scaling=DynamicScale(2.0**40))
    first = sent["finite"].index(True)
    assert first >= 10
    assert sent["scale"][: first + 1] == [2.0 ** (40 - step) for step in range(first + 1)]
    # Parameters have not changed: losses of skipped steps are those of the initial model, and they stay finite.
    assert np.isfinite(sent["loss"]).all() and np.mean(sent["loss"][:first]) > 2
    assert accuracy > 95 and np.mean(sent["loss"][-50:]) < 0.1
