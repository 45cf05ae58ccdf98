# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random graphs of scalar operations: host programs, and bodies of kernels whose lanes have numbers of their own.

Every value is known here (scalar_oracle.py), so that nothing is divided by zero."""

import math

import elements
import scalar_oracle as oracle
from draws import Draws
from scalar_oracle import FLOATS, WIDTH, is_float

STORED = ["i1", "i8", "i32", "i64", *FLOATS]  # elements of tensors
HOST = [*STORED, "i3", "i16", "index"]
KERNEL = ["i1", "i8", "i16", "i32", "i64", "index", "f16", "f32", "f64"]  # kernels compute in no narrower floats
FAST_MATH = ["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn", "fast", "nnan,nsz"]
EXACT = ["divsi", "divui", "shrsi", "shrui"]


class Scalar:
    """A scalar with its number in each lane."""

    def __init__(self, name, element, values, is_constant=False):
        self.name, self.element, self.values, self.is_constant = name, element, values, is_constant

    def __str__(self):
        return "%" + self.name

    def stored(self):
        """Lines that make it an element of a tensor, how it is named then, and the type."""
        if self.element in STORED:
            return [], str(self), self.element
        cast, target = ("index_cast", "i64") if self.element == "index" else ("extsi", "i32")
        return [f"{self}_wide = arith.{cast} {self} : {self.element} to {target}"], f"{self}_wide", target


class Step:
    """Lines that make values of others."""

    def __init__(self, mnemonic, results, operands, lines):
        self.mnemonic, self.results, self.operands, self.lines = mnemonic, results, operands, lines


def needed(steps, results):
    """The steps that the results need."""
    names, kept = {scalar.name for scalar in results}, []
    for step in reversed(steps):
        if any(result.name in names for result in step.results):
            names.update(operand.name for operand in step.operands)
            kept.append(step)
    return kept[::-1], names


class Graph(Draws):
    """Grows steps on values of the given element types. In a kernel, each value has a number in each of the `lanes`."""

    def __init__(self, rng, types, lanes=None, constants=0.5):
        self.rng, self.constants, self.on_host, self.lanes = rng, constants, lanes is None, lanes or 1
        self.types = [types[i] for i in rng.permutation(len(types))[:rng.integers(2, 5)]]
        self.all_types = types
        self.arguments, self.steps, self.values, self.count = [], [], [], 0

    # Numbers.

    def number(self, element):
        return self.float_number(element) if is_float(element) else self.integer_number(WIDTH[element])

    def integer_number(self, width):
        limit = 1 << (width - 1)
        extreme = [0, 1, -1, 2, 3, -7, width - 1, width, width + 1, -limit, limit - 1, 1 - limit, 1 << width // 2]
        drawn = self.pick(extreme) if self.chance(0.7) else int.from_bytes(self.rng.bytes(8), "little")
        return oracle.wrapped(drawn, width)

    def float_number(self, element):
        largest, least = elements.LARGEST[element], elements.MIN_EXPONENT[element]
        tiny = 2.0 ** (least - elements.MANTISSA[element])
        infinity = math.nan if element == "f8E4M3FN" else math.inf
        extreme = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -1.5, 127.5, -128.5, 255.0, 256.0, 2.0**31, -(2.0**31), 2.0**63,
                   -(2.0**63), largest, -largest, infinity, -infinity, math.nan, tiny, -tiny, 2.0**least]
        if self.chance(0.6):
            drawn = self.pick(extreme)
            return drawn if not math.isfinite(drawn) else oracle.rounded(element, drawn)
        return oracle.rounded(element, float(self.rng.normal() * 2.0 ** self.rng.integers(-12, 12)))

    # Values.

    def new(self, element, values, is_constant=False):
        self.count += 1
        return Scalar(f"v{self.count}", element, values, is_constant)

    def step(self, mnemonic, results, operands, lines):
        self.steps.append(Step(mnemonic, results, operands, lines))
        self.values += results

    def constant(self, element, number=None):
        number = self.number(element) if number is None else number
        number = number if is_float(element) else oracle.wrapped(number, WIDTH[element])  # 1 of i1 is -1
        result = self.new(element, [number] * self.lanes, is_constant=True)
        suffix = "" if element == "i1" else f" : {element}"
        self.step("arith.constant", [result], [], [f"{result} = arith.constant {literal(element, number)}{suffix}"])
        return result

    def argument(self, element):
        result = self.new(element, [self.number(element) for _ in range(self.lanes)])
        self.arguments.append(result)
        self.values.append(result)
        return result

    def behind_barrier(self, element):
        """A constant that folders do not see."""
        result = self.new(element, [self.number(element)])
        tensor, bits = f"tensor<{element}>", literal(element, result.values[0])
        self.step("ad.barrier", [result], [],
                  [f"{result}_c = ad.constant dense<{bits}> : {tensor}",
                   f"{result}_b = ad.barrier {result}_c : {tensor}",
                   f"{result} = tensor.extract {result}_b[] : {tensor}"])
        return result

    def cast_of(self, element):
        """Types that no tensor has come from others."""
        source = self.value("i64")
        name = "index_cast" if element == "index" else "trunci"
        result = self.new(element, [oracle.convert(name, "i64", element, x) for x in source.values])
        self.step(f"arith.{name}", [result], [source], [f"{result} = arith.{name} {source} : i64 to {element}"])
        return result

    def fresh(self, element):
        if self.chance(self.constants):
            return self.constant(element)
        if element not in STORED:
            return self.cast_of(element)
        return self.behind_barrier(element) if self.on_host and self.chance(0.3) else self.argument(element)

    def value(self, element, fits=lambda scalar: True):
        """One of the type, preferably of the last that were made."""
        known = [v for v in self.values if v.element == element and fits(v)]
        if known and self.chance(0.75):
            return self.pick(known[-3:] if self.chance(0.6) else known)
        for _ in range(20):
            made = self.fresh(element)
            if fits(made):
                return made
        return self.constant(element, 1)

    def element(self, fits=lambda element: True):
        """A type that fits, preferably one of the few of this graph."""
        own = [t for t in self.types if fits(t)]
        return self.pick(own if own and self.chance(0.85) else [t for t in self.all_types if fits(t)])

    def apply(self, text, element, operands, function, flags=""):
        """One operation with one result."""
        values = [function(*numbers) for numbers in zip(*(operand.values for operand in operands))]
        result = self.new(element, values)
        self.step(text.split()[0], [result], operands, [f"{result} = {text}{flags}"])
        return result


def literal(element, number):
    if element == "i1":
        return "true" if number else "false"
    if not is_float(element):
        return str(number)
    digits = oracle.FLOAT_BITS[element] // 4
    return f"0x{oracle.unsigned(oracle.bits_of(element, number), 4 * digits):0{digits}X}"
