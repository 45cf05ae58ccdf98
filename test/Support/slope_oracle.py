# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Exact derivatives by MPFR (gmpy2), and how far gradients are from them. Those of the elementwise operations are in
Gradients/elementwise_cases.py.

A slope gives, at one point, the exact partial derivative with respect to each operand and the magnitude of the largest
term that the formula of docs/spec/elementwise.md adds. The error of a gradient is counted in units in the last place of
the cotangent times that term, in the type of the gradient."""

from dataclasses import dataclass

import gmpy2
import numpy as np
from gmpy2 import mpfr

import elements

TYPES = ["f16", "bf16", "f32", "f64"]
WRONG = 1e9
NAN, ZERO, ONE, INF = mpfr("nan"), mpfr(0), mpfr(1), mpfr("inf")


def exactly(precision=300):
    """A context whose exponents do not end, so that nothing leaves the range on the way; its digits suffice for f64
    after cancellation."""
    return gmpy2.context(precision=precision, emax=2**40, emin=-(2**40))


@dataclass
class Slope:
    """derivative(point) → [(exact, largest term) of each operand]; None where no convention says what it is."""

    text: str
    operands: int
    derivative: object
    # Arguments of ordinary size are drawn from here.
    span: tuple

    def at(self, point):
        with exactly():
            found = self.derivative(*(mpfr(float(x)) for x in point))
            found = found if isinstance(found, list) else [found]
            return [pair if isinstance(pair, tuple) else (pair, None if pair is None else abs(pair)) for pair in found]


SLOPES = {}


def slope(name, text=None, operands=1, span=(-8.0, 8.0), of_nan=NAN):
    """Registers a derivative. With a NaN among its operands the slope of a function is NaN; piecewise linear operations
    say nothing about it."""
    def register(function):
        def derivative(*point):
            return [of_nan] * operands if any(gmpy2.is_nan(x) for x in point) else function(*point)
        letters = ", ".join("%" + letter for letter in "xyz"[:operands])
        SLOPES[name] = Slope(text or f"ad.{name} {letters}", operands, derivative, span)
        return function
    return register


def error(exact, term, cotangent, found, element):
    """The distance of a gradient from the exact one, in units in the last place of the cotangent times the term."""
    if exact is None or not np.isfinite(cotangent):
        return 0.0 if exact is None else error_of_infinite(exact, term, cotangent, found, element)
    if gmpy2.is_nan(exact):
        return 0.0 if np.isnan(found) else WRONG
    if gmpy2.is_infinite(exact):
        # 0 times infinity is NaN; where the slope is finite but too large for MPFR, it is 0.
        expected = np.nan if cotangent == 0 else float(exact) * cotangent
        return 0.0 if found == expected or np.isnan(expected) and (np.isnan(found) or found == 0) else WRONG
    if np.isnan(found):
        return WRONG
    mantissa, lowest = elements.MANTISSA[element], elements.MIN_EXPONENT[element]
    highest = 1 - lowest
    with exactly():
        end = gmpy2.exp2(highest + 1)
        wanted, size = exact * mpfr(cotangent), term * abs(mpfr(cotangent))
        wanted = min(max(wanted, -end), end)
        got = end * (1 if found > 0 else -1) if np.isinf(found) else mpfr(found)
        exponent = gmpy2.get_exp(size) - 1 if size else lowest
        unit = max(exponent, lowest) - mantissa
        return float(abs(got - wanted) * gmpy2.exp2(-unit))


def error_of_infinite(exact, term, cotangent, found, element):
    """An infinite cotangent gives an infinite gradient where the slope cannot round to 0."""
    least = max(2.0**elements.MIN_EXPONENT[element], term * 2.0 ** (4 - elements.MANTISSA[element]))
    if np.isnan(cotangent) or not least <= abs(exact) < INF:
        return 0.0
    return 0.0 if found == float(gmpy2.sign(exact)) * cotangent else WRONG


def function(name, slope_name, element, count):
    """A function of the operation, and its derivative by all operands as @main calls it."""
    shape = f"tensor<{count}x{element}>"
    letters = "xyz"[:SLOPES[slope_name].operands]
    arguments = ", ".join(f"%{letter}: {shape}" for letter in letters)
    types = ", ".join(shape for _ in letters) if len(letters) > 1 else shape
    return (f"func.func private @{name}({arguments}) -> {shape} {{\n"
            f"  %r = {SLOPES[slope_name].text} : {types}\n  return %r : {shape}\n}}\n")


def module(cases):
    """A program with the gradients of several cases [(operation, element, count)]. Argument x of case i is i_x, its
    cotangent i_g, and the gradients i_dx, …"""
    functions, inputs, lines, returned, outputs = [], [], [], [], []
    for i, (name, element, count) in enumerate(cases):
        letters, shape = "xyz"[:SLOPES[name].operands], f"tensor<{count}x{element}>"
        functions.append(function(f"f{i}", name, element, count))
        inputs += [f'%a{i}_{letter}: {shape} {{ad.name = "a{i}_{letter}"}}' for letter in letters + "g"]
        results = len(letters) + 1
        lines.append(f"  %v{i}:{results} = ad.vjp @f{i}({', '.join(f'%a{i}_{letter}' for letter in letters)}) "
                     f"cotangents(%a{i}_g) wrt {list(range(len(letters)))} : ({', '.join([shape] * results)}) -> "
                     f"({', '.join([shape] * results)})")
        returned += [(f"%v{i}#{k + 1}", shape) for k in range(len(letters))]
        outputs += [f'{shape} {{ad.name = "a{i}_d{letter}"}}' for letter in letters]
    values, types = (", ".join(part) for part in zip(*returned))
    body = "\n".join(lines)
    return (f"{''.join(functions)}func.func @main({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n{body}\n"
            f"  return {values} : {types}\n}}\n")


def specials(element):
    """Zeros, the ends of the subnormal and normal numbers, infinities, NaN, and 1 with the adjacent numbers, in
    f64."""
    normal, digits = 2.0 ** elements.MIN_EXPONENT[element], 2.0 ** -elements.MANTISSA[element]
    least = normal * digits
    positive = [0.0, least, 3 * least, normal - least, normal, normal * 1.5, 1.0 - digits / 2, 1.0, 1.0 + digits, 2.0,
                elements.LARGEST[element] / 2, elements.LARGEST[element], np.inf]
    return np.array(positive + [-x for x in positive] + [np.nan])


def random_exponents(rng, element, count):
    """Numbers of either sign whose exponents are evenly spread over the type, subnormal ones included."""
    lowest = elements.MIN_EXPONENT[element] - elements.MANTISSA[element]
    exponents = rng.integers(lowest, 2 - elements.MIN_EXPONENT[element], count).astype(np.float64)
    # f64 has exponents that exp2 of the mantissa alone would not reach.
    values = np.ldexp(rng.uniform(1, 2, count), exponents.astype(np.int64)) * rng.choice([-1.0, 1.0], count)
    return np.clip(rounded(element, values), -elements.LARGEST[element], elements.LARGEST[element])


def rounded(element, values):
    return elements.decode(element, elements.encode(element, values))


def points(rng, name, element, count):
    """`count` points of an operation: special numbers, random exponents, ordinary sizes, operands that are equal."""
    found = SLOPES[name]
    columns = []
    for _ in range(found.operands):
        kind = rng.integers(0, 4, count)
        ordinary = rounded(element, rng.uniform(*found.span, count))
        columns.append(np.select([kind == 0, kind == 1], [rng.choice(specials(element), count), ordinary],
                                 random_exponents(rng, element, count)))
    for column in columns[1:]:
        equal = rng.random(count) < 0.1
        column[equal] = columns[0][equal]
    return columns


def worst(name, element, columns, cotangents, gradients):
    """(error, description) of the worst gradient; the gradients are those of each operand."""
    found, known = (0.0, ""), {}
    for i, point in enumerate(zip(*columns)):
        key = np.array(point).tobytes()  # 0 and -0 are equal
        if key not in known:
            known[key] = SLOPES[name].at(point)
        for k, (exact, term) in enumerate(known[key]):
            distance = error(exact, term, cotangents[i], gradients[k][i], element)
            if distance > found[0]:
                at = ", ".join(float(x).hex() for x in point)
                found = (distance, f"{name} in {element} at ({at}), cotangent {float(cotangents[i]).hex()}: "
                         f"d{'xyz'[k]} = {float(gradients[k][i]).hex()}, slope {exact:.9g}, {distance:.3g} ulp")
    return found
