# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Objects that are no trees are constants of a program; numbers and texts that they have may change between calls."""

import numpy as np
import pytest

import adjoint

X = np.ones(2, np.float32)


class Scaled:
    def __init__(self, factor, mode="times"):
        self.factor, self.mode, self.traced = factor, mode, 0

    @adjoint.jit
    def __call__(self, x):
        self.traced += 1
        return x * self.factor if self.mode == "times" else x + self.factor


def test_attributes_that_change_are_seen():
    scaled = Scaled(2.0)
    assert (scaled(X) == 2).all() and (scaled(X) == 2).all() and scaled.traced == 1
    scaled.factor = 3.0
    assert (scaled(X) == 3).all() and (scaled(X) == 3).all() and scaled.traced == 2
    scaled.mode = "plus"
    assert (scaled(X) == 4).all() and scaled.traced == 3
    scaled.factor = 3  # equal, of another type
    assert (scaled(X) == 4).all() and scaled.traced == 4
    scaled.factor = None
    with pytest.raises(TypeError):
        scaled(X)


def test_objects_are_told_apart():
    one, other = Scaled(2.0), Scaled(5.0)
    assert (one(X) == 2).all() and (other(X) == 5).all() and (one(X) == 2).all() and one.traced == other.traced == 1


def test_objects_as_arguments():
    class Settings:
        power = 2

    settings = Settings()
    square = adjoint.jit(lambda x, settings: x**settings.power)
    x = np.float32([3])
    assert square(x, settings) == 9
    settings.power = 3
    assert square(x, settings) == 27
    static = adjoint.jit(lambda x, settings: x**settings.power, static_argnames="settings")
    assert static(x, settings) == 27
    settings.power = 2
    assert static(x, settings) == 9


def test_objects_that_are_compared_by_their_values():
    """Their own == decides."""

    class Pair:
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 0

    made = adjoint.jit(lambda x, pair: x * pair.value)
    assert (made(X, Pair(2)) == 2).all() and (made(X, Pair(3)) == 2).all()
