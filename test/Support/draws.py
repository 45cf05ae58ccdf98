# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What generators of programs draw from their random numbers."""


class Draws:
    """`rng` is a generator of NumPy, which its subclass sets."""

    def chance(self, probability):
        return self.rng.random() < probability

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]
