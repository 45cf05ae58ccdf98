# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Einstein sums, one product after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._arithmetic import common
from .._errors import TracingError
from .._products import dot
from .._shapes import permute, reduce, reshape
from ._making import eye

if TYPE_CHECKING:
    from .._tensor import Tensor


def _subscripts(text: str, operands: Sequence[Tensor]) -> tuple[list[str], str]:
    """The letters of each operand and of the result. `...` is as many capital letters as axes are left."""
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise TracingError(f"einsum: '{text}' has {len(terms)} operands, got {len(operands)}")
    free = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if letter not in text]
    most = 0
    read = []
    for term, operand in zip(terms, operands):
        count = operand.ndim - len(term.replace("...", ""))
        if count < 0 or (count and "..." not in term):
            raise TracingError(f"einsum: '{term}' does not name the axes of {operand}")
        most = max(most, count)
        read.append((term, count))
    if most and arrow and "..." not in right:
        raise TracingError(f"einsum: '{text}' has axes of `...` that its result does not name")
    spread = [term.replace("...", "".join(free[most - count : most])) for term, count in read]
    if not arrow:
        letters = "".join(spread)
        right = "..." * bool(most) + "".join(
            sorted({letter for letter in letters if letters.count(letter) == 1 and letter not in free[:most]})
        )
    return spread, right.replace("...", "".join(free[:most]))


def _diagonals(value: Tensor, letters: str) -> tuple[Tensor, str]:
    """A letter twice in one operand: its diagonal."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = (position for position, other in enumerate(letters) if other == letter)
            size = value.shape[first]
            mask = eye(size, dtype=value.element_type)
            shape = [size if position in (first, second) else 1 for position in range(value.ndim)]
            value = reduce("reduce_sum", value * reshape(mask, shape), second, False)
            letters = letters[:second] + letters[second + 1 :]
    return value, letters


def _product(left: Tensor, a: str, right: Tensor, b: str, later: str) -> tuple[Tensor, str]:
    """The product of two; letters that nothing needs later are contracted."""
    for letters, other, which in ((a, b, 0), (b, a, 1)):
        alone = [position for position, letter in enumerate(letters) if letter not in other and letter not in later]
        if alone:
            value = reduce("reduce_sum", (left, right)[which], tuple(alone), False)
            kept = "".join(letter for position, letter in enumerate(letters) if position not in alone)
            left, a, right, b = (value, kept, right, b) if which == 0 else (left, a, value, kept)
    batch = [letter for letter in a if letter in b and letter in later]
    contract = [letter for letter in a if letter in b and letter not in later]
    made = dot(
        left,
        right,
        ([a.index(letter) for letter in batch], [b.index(letter) for letter in batch]),
        ([a.index(letter) for letter in contract], [b.index(letter) for letter in contract]),
    )
    rest = [letter for letter in a + b if letter not in batch and letter not in contract]
    return made, "".join(batch + rest)


def einsum(subscripts: str, *operands: Any) -> Tensor:
    """NumPy's einsum: products from the left to the right, each an ad.dot."""
    values = common(*operands)
    terms, result = _subscripts(subscripts, values)
    pairs = [_diagonals(value, letters) for value, letters in zip(values, terms)]
    value, letters = pairs[0]
    for position, (other, its) in enumerate(pairs[1:], 2):
        later = result + "".join(term for _, term in pairs[position:])
        value, letters = _product(value, letters, other, its, later)
    gone = tuple(position for position, letter in enumerate(letters) if letter not in result)
    if gone:
        value = reduce("reduce_sum", value, gone, False)
        letters = "".join(letter for letter in letters if letter in result)
    missing = [letter for letter in result if letter not in letters]
    if missing:
        raise TracingError(f"einsum: the result has '{''.join(missing)}', which no operand has")
    return permute(value, [letters.index(letter) for letter in result])
