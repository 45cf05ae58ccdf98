# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes the lines of a function whose tensors have one shape, or are scalars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._checks import is_whole

Size = int | str


def tensor(shape: Sequence[Size], element: str = "f32") -> str:
    """The type of a tensor; a size is a number or "?"."""
    for size in shape:
        if size != "?" and not is_whole(size, 0):
            raise ValueError(f"expected sizes of at least 0 or '?', got {size!r}")
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def literal(value: float) -> str:
    """A number as the text of a float in MLIR, which needs a point."""
    text = repr(float(value))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def signature(arguments: Sequence[str], results: Sequence[str]) -> str:
    """The type of a function."""
    return f"({', '.join(arguments)}) -> ({', '.join(results)})"


class Writer:
    """Names are written without the sign %. Constants have a name for each value."""

    def __init__(self, shape: Sequence[Size]) -> None:
        self.shape = tuple(shape)
        self._lines: list[str] = []
        self._names: dict[str, str] = {}
        self._defined: set[str] = set()

    def has(self, name: str) -> bool:
        return name in self._defined

    def rename(self, name: str, value: str) -> None:
        """From here on the name means the value."""
        self._names[name] = value

    def original(self, name: str) -> str:
        """A name for the value that the name had at first."""
        self._names[f"original {name}"] = name
        return f"original {name}"

    def line(self, text: str) -> None:
        self._lines.append(f"  {text}")
        self._defined.add(text.split(" ")[0].removeprefix("%"))

    def _value(self, name: str) -> str:
        return f"%{self._names.get(name, name)}"

    def unary(self, op: str, result: str, operand: str, *, shape: Sequence[Size] | None = None) -> None:
        kind = tensor(self.shape if shape is None else shape)
        self.line(f"%{result} = ad.{op} {self._value(operand)} : {kind}")

    def binary(
        self, op: str, result: str, lhs: str, rhs: str, *, scalar: bool = False, shape: Sequence[Size] | None = None
    ) -> None:
        """`scalar` says that rhs is a scalar."""
        kind = tensor(self.shape if shape is None else shape)
        kinds = f"{kind}, tensor<f32>" if scalar and kind != "tensor<f32>" else kind
        self.line(f"%{result} = ad.{op} {self._value(lhs)}, {self._value(rhs)} : {kinds}")

    def scale(self, result: str, operand: str, factor: float, *, shape: Sequence[Size] | None = None) -> None:
        """The value times a constant."""
        self.line(f"%{result}_factor = ad.constant dense<{literal(factor)}> : tensor<f32>")
        self.binary("mul", result, operand, f"{result}_factor", scalar=True, shape=shape)

    def average(self, state: str, new: str, beta: float) -> None:
        """%next_STATE = beta * STATE + (1 - beta) * new."""
        self.scale(f"{state}_kept", state, beta)
        self.scale(f"{state}_new", new, 1 - beta)
        self.binary("add", f"next_{state}", f"{state}_kept", f"{state}_new")

    def cast(self, result: str, operand: str, before: str, after: str) -> None:
        kinds = f"{tensor(self.shape, before)} -> {tensor(self.shape, after)}"
        self.line(f"%{result} = ad.cast {self._value(operand)} : {kinds}")

    def select(self, result: str, condition: str, yes: str, no: str, element: str = "f32") -> None:
        """`condition` is a scalar."""
        kind = tensor(self.shape, element)
        self.line(
            f"%{result} = ad.select {self._value(condition)}, {self._value(yes)}, {self._value(no)} : "
            f"tensor<i1>, {kind}, {kind}"
        )

    def kept(self, name: str) -> str:
        """%next_NAME if the step is made, else %NAME."""
        self.select(f"kept_{name}", "finite", f"next_{name}", name)
        return f"kept_{name}"

    def round_stochastically(self, result: str, operand: str, key: str, element: str) -> None:
        """The counter is the index of the element in memory order."""
        count = math.prod(int(size) for size in self.shape)
        if len(self.shape) == 1:
            self.line(f"%{result}_counter = ad.iota axis 0 : {tensor(self.shape, 'i64')}")
        else:
            self.line(f"%{result}_index = ad.iota axis 0 : tensor<{count}xi64>")
            self.line(
                f"%{result}_counter = ad.reshape %{result}_index : tensor<{count}xi64> -> {tensor(self.shape, 'i64')}"
            )
        self.line(
            f"%{result} = ad.cast_stochastic {self._value(operand)}, {self._value(key)}, %{result}_counter\n"
            f"      : {tensor(self.shape)}, tensor<i64>, {tensor(self.shape, 'i64')} -> {tensor(self.shape, element)}"
        )

    def function(self, name: str, arguments: Sequence[tuple[str, str]], results: Sequence[tuple[str, str]]) -> str:
        listed = ", ".join(f"%{argument}: {kind}" for argument, kind in arguments)
        values = ", ".join(self._value(result) for result, _ in results)
        kinds = ", ".join(kind for _, kind in results)
        body = "\n".join(self._lines)
        return f"func.func private @{name}({listed}) -> ({kinds}) {{\n{body}\n  return {values} : {kinds}\n}}\n"
