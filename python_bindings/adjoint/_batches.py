# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Batches of an iterable as feeds of a training loop."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from . import tree
from ._errors import ArgumentTypeError
from ._types import Spec, element_of


def _leaves(form: tree.Structure) -> str:
    names = tree.names(form)
    return "an array" if names == [""] else f"{len(names)} arrays ({', '.join(names)})"


class Batches:
    """The batches of an iterable for the feeds of a program, one for each leaf, which ask in any order."""

    def __init__(self, data: Iterable[Any], skipped: int):
        self._source = itertools.islice(iter(data), skipped, None)
        self.ended = False
        first = next(self._source, None)
        if first is None:
            raise ArgumentTypeError(f"expected more than {skipped} batches, but the data ended")
        leaves, self.form = tree.flatten(first)
        self.specs = [Spec(np.shape(leaf), element_of(np.asarray(leaf).dtype)) for leaf in leaves]
        self._waiting: list[collections.deque[np.ndarray]] = [collections.deque([np.asarray(leaf)]) for leaf in leaves]
        self.names = [f"batch.{name}" if name else "batch" for name in tree.names(self.form)]

    def feeds(self) -> dict[str, Iterator[np.ndarray]]:
        return {name: self._of(number) for number, name in enumerate(self.names)}

    def _of(self, number: int) -> Iterator[np.ndarray]:
        while True:
            if not self._waiting[number]:
                batch = next(self._source, None)
                if batch is None:
                    self.ended = True
                    return
                leaves, form = tree.flatten(batch)
                if form != self.form:
                    raise ArgumentTypeError(
                        f"expected batches of one structure: the first one has {_leaves(self.form)}, this one {_leaves(form)}"
                    )
                for queue, leaf in zip(self._waiting, leaves):
                    queue.append(np.asarray(leaf))
            yield self._waiting[number].popleft()
