# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A small Llama trains in bf16 as in f32: examples/training/llama.py."""

import importlib.util
import pathlib

import numpy as np
import pytest

FILE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "training" / "llama.py"
STEPS = 300
TOLERANCE = 0.02  # of the mean loss of 20 steps


@pytest.fixture(scope="module")
def example():
    # Its own module is called llama too.
    spec = importlib.util.spec_from_file_location("training_llama", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_loss_curve_in_bf16_is_that_in_f32(example):
    wide, narrow = (example.losses(precision, STEPS) for precision in ("none", "bf16"))
    assert len(wide) == len(narrow) == STEPS and (wide != narrow).any()
    wide, narrow = example.curve(wide), example.curve(narrow)
    assert np.abs(narrow / wide - 1).max() < TOLERANCE
    assert wide[0] > 3 and narrow[-1] < 1.6
