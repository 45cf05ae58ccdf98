# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Differences of files of tensors, by `ad-diff`."""

from __future__ import annotations

import dataclasses
import numbers
import os
from collections.abc import Sequence

from ._errors import OptionTypeError
from ._options import check_option
from ._reports import read_number
from ._tools import TENSOR_MEASURES, Bound, Tool, bound_words, path_word

_Path = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class TensorPair:
    """The differences of two files."""

    name: str
    abs: float
    rel: float
    sum: float
    n: float
    dnan: float
    #: None if the element types differ.
    ulp: float | None
    #: How many elements differ by more than a threshold, by `>0.001`.
    counts: dict[str, int]
    #: The index of the first largest difference; None of tensors without elements.
    index: tuple[int, ...] | None
    #: False if a difference is larger than `bound`.
    holds: bool
    text: str
    #: The norm of the difference, divided by that of the expected tensor; of zeros, the norm itself.
    l2: float
    #: The same of the largest magnitudes.
    max: float


@dataclasses.dataclass(frozen=True)
class Tensors:
    """The differences of files of one name in two folders, or of two files."""

    pairs: tuple[TensorPair, ...]
    #: Files without counterpart, files that cannot be read, and pairs of different shapes.
    errors: tuple[str, ...]
    #: False if a difference is larger than `bound`.
    holds: bool
    #: What `ad-diff tensors` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def tensors(
    expected: _Path,
    got: _Path,
    /,
    *,
    bound: Bound | None = None,
    thresholds: Sequence[float] | None = None,
    tools: _Path | None = None,
) -> Tensors:
    """Compares two .npy files, or those of the same name in two folders, in parts: memory does not limit their size.

    Of arrays in memory, `max_diff` has the same numbers. `bound` has the measures of `bisect`.
    """
    for side, path in (("expected", expected), ("got", got)):
        check_option(f"the path '{side}'", path, (str, os.PathLike))
    words = [path_word(expected), path_word(got), *bound_words(bound, TENSOR_MEASURES)]
    if thresholds is not None:
        check_option("thresholds", thresholds, Sequence)
        if not all(isinstance(value, numbers.Real) for value in thresholds):
            raise OptionTypeError(f"expected thresholds as numbers, got {thresholds!r}")
        words.append("--thresholds=" + ",".join(repr(float(value)) for value in thresholds))
    with Tool(tools) as tool:
        text, found = tool.run("tensors", words)
    pairs = (
        TensorPair(
            pair["name"],
            read_number(pair["abs"]),
            read_number(pair["rel"]),
            read_number(pair["sum"]),
            read_number(pair["n"]),
            read_number(pair["dnan"]),
            read_number(pair["ulp"]) if "ulp" in pair else None,
            pair["counts"],
            tuple(pair["argm"]) if "argm" in pair else None,
            pair["holds"],
            pair["text"],
            float(pair["l2"]),
            float(pair["max"]),
        )
        for pair in found["pairs"]
    )
    return Tensors(tuple(pairs), tuple(found["errors"]), found["holds"], text)
