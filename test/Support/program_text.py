# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A program that a random test writes operation by operation: its entry has the arguments and results that were named.
A value is (name, shape, element type)."""

from elements import tensor


class ProgramText:
    def __init__(self, rng):
        self.rng, self.arguments, self.lines, self.results = rng, [], [], []

    def argument(self, element, shape):
        """A new argument: %a0, %a1, … with the names a0, a1, …"""
        self.arguments.append((element, tuple(shape)))
        return f"%a{len(self.arguments) - 1}", tuple(shape), element

    def add(self, text, shape, element):
        """The value of a new operation."""
        self.lines.append(f"  %v{len(self.lines)} = {text}")
        return f"%v{len(self.lines) - 1}", tuple(shape), element

    def program(self):
        arguments = ", ".join(f'%a{i}: {tensor(element, shape)} {{ad.name = "a{i}"}}'
                              for i, (element, shape) in enumerate(self.arguments))
        kinds = ", ".join(tensor(element, shape) for _, shape, element in self.results)
        values = ", ".join(name for name, _, _ in self.results)
        body = "\n".join(self.lines)
        return f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\n  return {values} : {kinds}\n}}\n"
