# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of elementwise operations, barriers and foreign operations between them, and the exact derivatives of
the elementwise operations by MPFR."""

import gmpy2
import numpy
from gmpy2 import mpfr

from case import Argument, Case, binary, integers, unary
from slope_oracle import INF, NAN, ONE, ZERO, exactly, slope

#===- Gradient cases ---------------------------------------------------------------------------------------------===#

CASES = []
for op, low, high in [
        ("abs", -1, 1), ("neg", -1, 1), ("exp", -1, 1), ("exp2", -1, 1), ("expm1", -1, 1), ("log", 0.5, 2),
        ("log2", 0.5, 2), ("log1p", -0.5, 1), ("sin", -3, 3), ("cos", -3, 3), ("tan", -1, 1), ("tanh", -2, 2),
        ("sqrt", 0.5, 2), ("rsqrt", 0.5, 2), ("recip", 0.5, 2), ("erf", -2, 2), ("sigmoid", -3, 3),
        ("relu", -1, 1), ("silu", -3, 3), ("gelu", -2, 2)]:
    CASES += unary(op, low, high)
CASES += unary("softplus", -3, 3, value=lambda x: numpy.log(1 + numpy.exp(x)))
CASES += unary("gelu", -2, 2, "%y = ad.gelu %a0 form tanh : {0}", "gelu_tanh")
# Constant almost everywhere: differences and gradients are zero.
for op in ["sign", "floor", "ceil", "round_even"]:
    CASES += unary(op, 0.1, 0.4)

for op in ["add", "sub", "mul", "max", "min"]:
    CASES += binary(op)
CASES += binary("div", right=(0.5, 2.0))
CASES += binary("rem", left=(2.1, 2.4), right=(0.9, 1.0))
CASES += binary("pow", left=(0.5, 2.0), right=(-2.0, 2.0))
CASES += binary("atan2", right=(0.2, 1.0))


def conditioned(op, condition, name):
    """An operation with an integer result, in the condition of a choice."""
    return Case(op, name, [Argument("2x3"), Argument("2x3")],
                condition + "\n%y = ad.select %c, %a0, %a1 : tensor<2x3xi1>, {0}, {1}", Argument("2x3"))


LESS = "%c0 = ad.compare lt %a0, %a1 : {0}\n"
CASES += [
    conditioned("ad.compare", "%c = ad.compare lt %a0, %a1 : {0}", "compare"),
    conditioned("ad.not", LESS + "%c = ad.not %c0 : tensor<2x3xi1>", "not"),
    conditioned("ad.and", LESS + "%c = ad.and %c0, %c0 : tensor<2x3xi1>", "and"),
    conditioned("ad.or", LESS + "%c = ad.or %c0, %c0 : tensor<2x3xi1>", "or"),
    conditioned("ad.xor", LESS + "%c = ad.xor %c0, %c0 : tensor<2x3xi1>", "xor"),
    *(conditioned(f"ad.{name}", LESS + "%i = ad.cast %c0 : tensor<2x3xi1> -> tensor<2x3xi32>\n"
                  f"%s = ad.{name} %i, %i : tensor<2x3xi32>\n%c = ad.compare gt %s, %i : tensor<2x3xi32>", name)
      for name in ("shift_left", "shift_right", "shift_right_logical")),
    conditioned("ad.bitcast", "%b = ad.bitcast %a0 : {0} -> {0}\n%n = ad.neg %b : {0}\n%c = ad.compare gt %b, %n : {0}", "bitcast"),
    conditioned("ad.is_finite", "%c = ad.is_finite %a0 : {0} -> tensor<2x3xi1>", "is_finite"),
]

CASES += [
    Case("ad.select", "select_broadcast", [Argument("2x3"), Argument("3")],
         """%zero = ad.constant dense<0.0> : tensor<f64>
            %c = ad.compare gt %a0, %zero : {0}, tensor<f64>
            %y = ad.select %c, %a0, %a1 : tensor<2x3xi1>, {0}, {1}""", Argument("2x3")),
    Case("ad.select", "select_dynamic", [Argument("?x3", (2, 3)), Argument("?x3", (1, 3))],
         """%zero = ad.constant dense<0.0> : tensor<f64>
            %c = ad.compare gt %a0, %zero : {0}, tensor<f64>
            %y = ad.select %c, %a0, %a1 : tensor<?x3xi1>, {0}, {1}""", Argument("?x3", (2, 3))),
    Case("ad.clamp", "clamp", [Argument("4x5"), Argument("", low=-0.5, high=-0.3), Argument("5", low=0.3, high=0.5)],
         "%y = ad.clamp %a0, %a1, %a2 : {0}, {1}, {2}", Argument("4x5")),
    Case("ad.fma", "fma", [Argument("2x3"), Argument("2x3"), Argument("2x3")],
         "%y = ad.fma %a0, %a1, %a2 : {0}, {1}, {2}", Argument("2x3")),
    Case("ad.fma", "fma_broadcast", [Argument("2x3"), Argument("3"), Argument("2x1")],
         "%y = ad.fma %a0, %a1, %a2 : {0}, {1}, {2}", Argument("2x3")),
    # The differences see the roundings of f32, over a step of about 1e-3.
    Case("ad.cast", "cast_through_f32", [Argument("2x3", low=0.5)],
         """%l = ad.cast %a0 : {0} -> tensor<2x3xf32>
            %c = ad.cast %l : tensor<2x3xf32> -> {0}
            %y = ad.mul %c, %c : {0}""", Argument("2x3"), tolerance=1e-2),
    Case("ad.cast", "cast_integer", [Argument("2x3", low=0.1, high=0.4)],
         """%i = ad.cast %a0 : {0} -> tensor<2x3xi32>
            %f = ad.cast %i : tensor<2x3xi32> -> {0}
            %y = ad.add %f, %a0 : {0}""", Argument("2x3")),
    # Random factors are constants of the gradient; those of rng_bits are small, so that f16 has them.
    *[Case(f"ad.{op}", op, [Argument("2x3"), integers("", 5), integers("3", [0, 1, 1 << 33])],
           f"""%r = ad.{op} %a1, %a2 : {{1}}, {{2}} -> tensor<3x{element}>
               {small}
               %f = ad.cast %s : tensor<3x{element}> -> tensor<3xf64>
               %y = ad.mul %a0, %f : {{0}}, tensor<3xf64>""", Argument("2x3"))
      for op, element, small in [
          ("rng_bits", "i32", """%c = ad.constant dense<7> : tensor<i32>
                                 %s = ad.rem %r, %c : tensor<3xi32>, tensor<i32>"""),
          ("rng_uniform", "f32", "%s = ad.barrier %r : tensor<3xf32>"),
          ("rng_normal", "f32", "%s = ad.barrier %r : tensor<3xf32>")]],
    # The differences see the jumps of the rounding; random_numbers_test.py has the exact cotangent.
    Case("ad.cast_stochastic", "cast_stochastic",
         [Argument("2x3", low=0.5), integers("", 5), integers("3", [0, 1, 2])],
         """%l = ad.cast %a0 : {0} -> tensor<2x3xf32>
            %c = ad.cast_stochastic %l, %a1, %a2 : tensor<2x3xf32>, {1}, {2} -> tensor<2x3xf16>
            %d = ad.cast %c : tensor<2x3xf16> -> {0}
            %s = ad.constant dense<0.0009765625> : tensor<f64>
            %m = ad.mul %d, %s : {0}, tensor<f64>
            %y = ad.add %m, %a0 : {0}""", Argument("2x3"), tolerance=1e-2),
    Case("ad.barrier", "barrier", [Argument("2x3"), Argument("?", (4,))],
         """%b:2 = ad.barrier %a0, %a1 : {0}, {1}
            %s = ad.reduce_sum %b#1 axes [0] : {1} -> tensor<f64>
            %y = ad.mul %b#0, %s : {0}, tensor<f64>""", Argument("2x3")),
    Case("tensor.cast", "tensor_cast", [Argument("?x3", (2, 3))],
         "%c = tensor.cast %a0 : {0} to {r}\n%y = ad.mul %c, %c : {r}", Argument("2x3")),
    Case("arith.select", "arith_select", [Argument("2x3"), Argument("2x3")],
         """%true = arith.constant true
            %s = arith.select %true, %a0, %a1 : {0}
            %y = ad.mul %s, %a1 : {0}""", Argument("2x3")),
]


def logistic(x):
    return 1 / (1 + gmpy2.exp(-x))


def pi():
    return gmpy2.const_pi()


#===- Exact derivatives of one operand ---------------------------------------------------------------------------===#

slope("neg", of_nan=None)(lambda x: -ONE)
slope("abs")(lambda x: ZERO if x == 0 else gmpy2.sign(x) * ONE)
slope("relu", of_nan=None)(lambda x: ONE if x > 0 else ZERO)
slope("exp", span=(-300, 300))(gmpy2.exp)
slope("expm1", span=(-300, 300))(gmpy2.exp)
slope("exp2", span=(-400, 400))(lambda x: gmpy2.exp2(x) * gmpy2.const_log2())
slope("log")(lambda x: ONE / x)
slope("log2")(lambda x: ONE / (x * gmpy2.const_log2()))
slope("log1p")(lambda x: ONE / (1 + x))
slope("sin")(gmpy2.cos)
slope("cos")(lambda x: -gmpy2.sin(x))
slope("tan")(lambda x: 1 + gmpy2.tan(x) ** 2)
slope("sqrt")(lambda x: ONE / (2 * gmpy2.sqrt(x)))
# The root of -0 is -0, and its inverse -inf.
slope("rsqrt")(lambda x: gmpy2.copy_sign(INF, -x) if x == 0 else -ONE / (2 * x * gmpy2.sqrt(x)))
slope("recip")(lambda x: -ONE / (x * x))
slope("erf")(lambda x: 2 / gmpy2.sqrt(pi()) * gmpy2.exp(-x * x))
slope("sigmoid", span=(-300, 300))(lambda x: 1 / (2 * gmpy2.cosh(x / 2)) ** 2)
slope("softplus", span=(-300, 300))(logistic)
# The terms are 1 and the square of the result.
slope("tanh")(lambda x: (1 - gmpy2.tanh(x) ** 2, ONE))


@slope("silu", span=(-300, 300))
def of_silu(x):
    if not gmpy2.is_finite(x):
        return ONE if x > 0 else ZERO
    first, second = logistic(x), x * logistic(x) * logistic(-x)
    return first + second, max(first, abs(second))


# The constant term of gelu counts as 1: it is (1 + erf) / 2, or (1 + tanh) / 2.
@slope("gelu")
def of_gelu(x):
    if not gmpy2.is_finite(x):
        return (ONE if x > 0 else ZERO), ONE
    density = gmpy2.exp(-x * x / 2) / gmpy2.sqrt(2 * pi())
    return gmpy2.erfc(-x / gmpy2.sqrt(mpfr(2))) / 2 + x * density, ONE


@slope("gelu_tanh", "ad.gelu %x form tanh")
def of_gelu_tanh(x):
    if not gmpy2.is_finite(x):
        return (ONE if x > 0 else ZERO), ONE
    cubic, factor = mpfr("0.044715"), gmpy2.sqrt(2 / pi())
    inner, bend = factor * (x + cubic * x**3), factor * (1 + 3 * cubic * x * x)
    # The other term is x/2 times the derivative of the inner function, times 1 and times the square of tanh.
    other = abs(x) / 2 * bend if abs(x) < 8 else ONE
    return logistic(2 * inner) + 2 * x * logistic(2 * inner) * logistic(-2 * inner) * bend, max(ONE, other)


#===- Exact derivatives of several operands ----------------------------------------------------------------------===#

slope("add", operands=2, of_nan=None)(lambda x, y: [ONE, ONE])
slope("sub", operands=2, of_nan=None)(lambda x, y: [ONE, -ONE])
slope("mul", operands=2, of_nan=None)(lambda x, y: [y, x])
slope("fma", operands=3, of_nan=None)(lambda x, y, z: [y, x, ONE])
slope("div", operands=2, of_nan=None)(lambda x, y: [ONE / y, -x / (y * y)])


@slope("rem", operands=2, of_nan=None)
def of_rem(x, y):
    if y == 0 or not gmpy2.is_finite(x):
        return [ONE, NAN]
    with exactly(2300):
        return [ONE, -gmpy2.trunc(x / y)]


def extremum(equal, wins):
    return [ONE / 2, ONE / 2] if equal else [ONE, ZERO] if wins else [ZERO, ONE]


slope("max", operands=2, of_nan=None)(lambda x, y: extremum(x == y, x > y))
slope("min", operands=2, of_nan=None)(lambda x, y: extremum(x == y, x < y))


@slope("clamp", operands=3, of_nan=None)
def of_clamp(x, low, high):
    if low > high:
        return [ZERO, ZERO, ONE]
    return [ONE if low <= x <= high else ZERO, ONE if x < low else ZERO, ONE if x > high else ZERO]


@slope("pow", operands=2, span=(-4.0, 4.0), of_nan=None)
def of_pow(x, y):
    # The rule subtracts 1 from a large y in the type, so that the sign of the infinite slope at -0 is not known.
    if not gmpy2.is_finite(y) or x == 0 and y < -(2**24):
        return [None, None]
    vanishes = (x == 0 and y >= 0) or (x == INF and y < 0)
    return [ZERO if y == 0 else y * power_below(x, y), ZERO if vanishes else x**y * gmpy2.log(x)]


def power_below(x, y):
    """x^(y-1), whose sign does not depend on the digits of y - 1."""
    if not gmpy2.is_signed(x):
        return x ** (y - 1)
    if not gmpy2.is_integer(y):
        return abs(x) ** (y - 1) if x == 0 or gmpy2.is_infinite(x) else NAN
    size = abs(x) ** (y - 1)
    return size if gmpy2.is_signed(x**y) else -size


@slope("atan2", operands=2)
def of_atan2(y, x):
    infinite = gmpy2.is_infinite(x) + gmpy2.is_infinite(y)
    if infinite:
        return [ZERO, ZERO] if infinite == 1 else [NAN, NAN]
    square = x * x + y * y
    return [x / square, -y / square]
