#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Derives lib/Numerics/Math/Coefficients.h and prints it. Needs mpmath.

Every table is a Chebyshev fit (within a small factor of the minimax polynomial) in 200-bit arithmetic of a function
that is smooth where the exact leading terms have been taken off; each coefficient is rounded to its type. The
comment after a table is the largest error of the fit, relative to the result of the whole function; `…Rest` is what
rounding took off the first coefficient.
"""
import struct

from mpmath import chebyfit, cos, erf, erfc, exp, factorial, ldexp, log, matrix, mp, mpf, pi, qr_solve, sqrt, tanh

mp.prec = 260

R = mpf("0.3475")  # ln 2 / 2 and the slack of rounding x / ln 2
HALF = mpf("0.5")
Z_LOG = mpf("0.02945")  # ((sqrt 2 - 1) / (sqrt 2 + 1)) ** 2
F_LOW = (sqrt(mpf(1) / 2) - 1) * mpf("1.0001")
F_HIGH = (sqrt(mpf(2)) - 1) * mpf("1.0001")
Z_TRIG = (pi / 4) ** 2 * mpf("1.001")
Z_ATAN = mpf("0.17158")  # tan(pi / 8) ** 2
CENTRE = mpf(4)  # of the map x -> (x - 4) / (x + 4) below


def mills(t):
    x = CENTRE * (1 + t) / (1 - t)
    return erfc(x / sqrt(2)) * exp(x * x / 2) / 2 * (2 + mpf("2.5") * x)


# 2 Phi(-t) = e^(-t (BETA + ALPHA t)) (1 + y), where |y| stays below 0.07 up to GELU_END. ALPHA and BETA have few bits,
# so that the rounding error of t ALPHA + BETA is a float.
ALPHA, BETA, GELU_END, GELU_CENTRE = mpf("0.44140625"), mpf("0.6640625"), mpf(5), mpf("3.25")
ERF_BREAK, ERF_CENTRE, ERF_END = mpf("0.96875"), mpf("0.4375"), mpf(4)


def flattened_tail(t):
    return (erfc(t / sqrt(2)) * exp(t * (BETA + ALPHA * t)) - 1) / t


def mapped(x):
    return (mpf(x) - CENTRE) / (mpf(x) + CENTRE)


def alternating(z, denominator, terms):
    return sum((-1) ** k * z**k / denominator(k) for k in range(terms))


# name, formula, function, low end, high end (f32, f64), weight of the error, terms (f32, f64; 0: not used)
TABLES = [
    ("expTail", "(e^r - 1 - r - r^2/2) / r^3 in r, |r| <= ln(2)/2",
     lambda r: sum(r**k / factorial(k + 3) for k in range(40)), -R, (R, R), R**3, (5, 11)),
    ("logTail", "(2 atanh(s) - 2s - 2s^3/3) / s^5 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1)",
     lambda z: sum(2 * z**k / (2 * k + 5) for k in range(80)), mpf(0), (Z_LOG, Z_LOG), Z_LOG**2 / 2, (3, 9)),
    ("logDirect", "(log(1 + f) - f + f^2/2) / f^3 in f, sqrt(1/2) <= 1 + f <= sqrt(2)",
     lambda f: alternating(f, lambda k: mpf(k + 3), 400), F_LOW, (F_HIGH, F_HIGH), F_HIGH**2, (10, 0)),
    ("log2Direct", "(log2(1 + f) - f / ln(2)) / f^2 in f, sqrt(1/2) <= 1 + f <= sqrt(2)",
     lambda f: -alternating(f, lambda k: mpf(k + 2), 400) / log(2), F_LOW, (F_HIGH, F_HIGH), F_HIGH * log(2), (11, 0)),
    ("logWide", "(2 atanh(s) - 2s) / s^3 in z = s^2, |s| <= (sqrt(2)-1)/(sqrt(2)+1), for results in float",
     lambda z: sum(2 * z**k / (2 * k + 3) for k in range(80)), mpf(0), (Z_LOG, Z_LOG), Z_LOG / 2, (0, 5)),
    ("exp2Direct", "(2^r - 1) / r in r, |r| <= 1/2; in double for results in float",
     lambda r: sum(log(2) ** (k + 1) * r**k / factorial(k + 1) for k in range(40)), -HALF, (HALF, HALF), HALF, (7, 8)),
    ("sinTail", "(sin r - r) / r^3 in z = r^2, |r| <= pi/4",
     lambda z: -alternating(z, lambda k: factorial(2 * k + 3), 40), mpf(0), (Z_TRIG, Z_TRIG), Z_TRIG, (4, 7)),
    ("cosTail", "(cos r - 1 + r^2/2) / r^4 in z = r^2, |r| <= pi/4",
     lambda z: alternating(z, lambda k: factorial(2 * k + 4), 40), mpf(0), (Z_TRIG, Z_TRIG), Z_TRIG**2, (3, 7)),
    ("atanTail", "(atan a - a) / a^3 in z = a^2, |a| <= tan(pi/8)",
     lambda z: -alternating(z, lambda k: mpf(2 * k + 3), 160), mpf(0), (Z_ATAN, Z_ATAN), Z_ATAN, (7, 13)),
    ("mills",
     "Phi(-x) e^(x^2/2) (2 + 2.5x) in t = (x-4)/(x+4), Phi the normal distribution, 0 <= x <= 14.5 (f32), 39 (f64)",
     mills, mpf(-1), (mapped(14.5), mapped(39)), 1, (12, 26)),
    ("erfTail", "(erf(x)/x - 2/sqrt(pi)) / x^2 in z = x^2, |x| <= 1",
     lambda z: -2 / sqrt(pi) * alternating(z, lambda k: factorial(k + 1) * (2 * k + 3), 80), mpf(0), (1, 1), 1,
     (0, 13)),
    ("geluTail", "(2 Phi(-t) e^(t (0.6640625 + 0.44140625t)) - 1) / t in u = t - 3.25, 0 < t <= 5",
     lambda u: flattened_tail(u + GELU_CENTRE), -GELU_CENTRE, (GELU_END - GELU_CENTRE, 0), GELU_END, (14, 0)),
    ("erfCentre", "erf(x)/x - 1 in u = x^2 - 0.4375, |x| <= 0.96875",
     lambda u: erf(sqrt(u + ERF_CENTRE)) / sqrt(u + ERF_CENTRE) - 1, -ERF_CENTRE, (ERF_BREAK**2 - ERF_CENTRE, 0), 1,
     (7, 0)),
    ("erfcLog2", "log2(8 erfc(u + 0.96875)) in u, 0 <= u <= 3.03125; its error counts as that of erf",
     lambda u: log(8 * erfc(u + ERF_BREAK), 2), mpf(0), (ERF_END - ERF_BREAK, 0), erfc(ERF_BREAK) * log(2), (9, 0)),
]


# name, function, end of the range, terms above, terms below
QUOTIENTS = [("tanh", tanh, mpf(8), 5, 4), ("erf", erf, mpf("3.625"), 5, 4)]
NODES, ROUNDS = 120, 40


def fit_quotient(function, end, above, below):
    """f(x) = x P(x^2) / Q(x^2), Q(0) = 1, for 0 < x <= end, with the largest relative error about as small as can be:
    linear least squares whose weights follow the errors (Lawson) and the last denominator (Loeb)."""
    points = [(1 - cos(pi * (2 * i + 1) / (2 * NODES))) / 2 for i in range(NODES)]  # z / end^2
    values = [function(end * sqrt(u)) / (end * sqrt(u)) for u in points]
    weights, lower, best = [mpf(1)] * NODES, [mpf(1)] * NODES, None
    for _ in range(ROUNDS):
        rows, right = matrix(NODES, above + below - 1), matrix(NODES, 1)
        for i, (u, value) in enumerate(zip(points, values)):
            factor = sqrt(weights[i]) / (lower[i] * value)
            for k in range(above):
                rows[i, k] = factor * u**k
            for k in range(1, below):
                rows[i, above + k - 1] = -factor * value * u**k
            right[i] = factor * value
        found, _ = qr_solve(rows, right)
        p, q = list(found[:above]), [mpf(1), *found[above:]]
        lower = [sum(c * u**k for k, c in enumerate(q)) for u in points]
        errors = [abs(sum(c * u**k for k, c in enumerate(p)) / low / value - 1) for u, low,
                  value in zip(points, lower, values)]
        if best is None or max(errors) < best[0]:
            best = max(errors), [c / end ** (2 * k) for k,
                                 c in enumerate(p)], [c / end ** (2 * k) for k, c in enumerate(q)]
        mean = sum(w * e for w, e in zip(weights, errors)) / NODES
        weights = [w * e / mean for w, e in zip(weights, errors)]
    return best


def fit_unit_quotient(function, end, above, below):
    """f(x) = x (1 + z P(z)) / (1 + z Q(z)), z = x^2, for 0 < x <= end; weights as above."""
    points = [end**2 * (1 - cos(pi * (2 * i + 1) / (2 * NODES))) / 2 for i in range(NODES)]
    values = [function(sqrt(z)) / sqrt(z) for z in points]
    weights, lower, best = [mpf(1)] * NODES, [mpf(1)] * NODES, None
    for _ in range(ROUNDS):
        rows, right = matrix(NODES, above + below), matrix(NODES, 1)
        for i, (z, value) in enumerate(zip(points, values)):
            factor = sqrt(weights[i]) / (lower[i] * value)
            for k in range(above):
                rows[i, k] = factor * (z / end**2) ** (k + 1)
            for k in range(below):
                rows[i, above + k] = -factor * value * (z / end**2) ** (k + 1)
            right[i] = factor * (value - 1)
        found, _ = qr_solve(rows, right)
        p, q = ([c / end ** (2 * k + 2) for k, c in enumerate(side)] for side in (found[:above], found[above:]))
        upper, lower = ([1 + sum(c * z ** (k + 1) for k, c in enumerate(side)) for z in points] for side in (p, q))
        errors = [abs(up / low / value - 1) for up, low, value in zip(upper, lower, values)]
        if best is None or max(errors) < best[0]:
            best = max(errors), p, q
        mean = sum(w * e for w, e in zip(weights, errors)) / NODES
        weights = [w * e / mean for w, e in zip(weights, errors)]
    return best


def print_tanh():
    print("// tanh r = r (1 + z P(z)) / (1 + z Q(z)), z = r^2, |r| <= 0.1813")
    for name in ("Above", "Below"):
        print(f"template <class T> inline constexpr int tanh{name} = 0;")
    for wide, terms in ((False, 1), (True, 2)):
        kind = "double" if wide else "float"
        error, *parts = fit_unit_quotient(tanh, mpf("0.1813"), terms, terms)
        for name, part in zip(("Above", "Below"), parts):
            words = ", ".join(literal(c, wide) for c in part)
            print(f"template <> inline constexpr Table<{kind}, {terms}> tanh{name}<{kind}>{{{{{words}}}}};"
                  f" // error 2^{float(log(error, 2)):.1f}")
    print()


def print_quotients():
    print("// x P(x^2) / Q(x^2) for |x| up to the range, in place of the function")
    for name, function, end, above, below in QUOTIENTS:
        error, p, q = fit_quotient(function, end, above, below)
        print(f"inline constexpr float {name}Range = {literal(end, False)}; // error 2^{float(log(error, 2)):.1f}")
        for part, coefficients in (("Numerator", p), ("Denominator", q)):
            words = ", ".join(literal(c, False) for c in coefficients)
            print(f"inline constexpr Table<float, {len(coefficients)}> {name}{part}{{{{{words}}}}};")
    print()


def as_f32(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


def literal(value, wide):
    text = "%.17g" % float(value) if wide else "%.9g" % as_f32(value)
    text = text if any(c in text for c in ".e") else text + ".0"
    return text if wide else text + "f"


def table(name, function, low, high, weight, terms, wide):
    coefficients, error = chebyfit(function, [low, high], terms, error=True)
    rest = coefficients[-1] - (float(coefficients[-1]) if wide else as_f32(coefficients[-1]))
    words = ", ".join(literal(c, wide) for c in reversed(coefficients))
    kind = "double" if wide else "float"
    bits = float(log(error * weight, 2))
    return (f"template <> inline constexpr Table<{kind}, {terms}> {name}<{kind}>{{{{{words}}}}};"
            f" // error 2^{bits:.1f}\n"
            f"template <> inline constexpr {kind} {name}Rest<{kind}> = {literal(rest, wide)};\n")


def split(value, wide, bits):
    """`parts` of value: the first has at most `bits` significant bits, the second is the rounded rest."""
    exponent = int(mp.floor(log(abs(value), 2))) + 1
    first = ldexp(mp.nint(ldexp(value, bits - exponent)), exponent - bits)
    rest = value - first
    return literal(first, wide), literal(rest, wide)


def two_over_pi_words(count):
    """The binary fraction of 2/pi in 64-bit words, most significant first."""
    mp.prec = 64 * count + 64
    value = int(mp.floor(ldexp(2 / pi, 64 * count)))
    words = [(value >> (64 * (count - 1 - i))) & 0xFFFFFFFFFFFFFFFF for i in range(count)]
    mp.prec = 260
    return words


def main():
    print("""// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Coefficients and constants of the elementary functions, lowest power first.
// Generated by lib/Numerics/derive-coefficients.py: do not edit.
#ifndef ADJOINT_NUMERICS_MATH_COEFFICIENTS_H
#define ADJOINT_NUMERICS_MATH_COEFFICIENTS_H

#include <cstdint>

// clang-format off
namespace mlir::ad::numerics {

template <class T, int N> struct Table {
  T values[N];
  static constexpr int size = N;
};
""")
    for name, formula, function, low, highs, weight, terms in TABLES:
        print(f"// {formula}\ntemplate <class T> inline constexpr int {name} = 0;\n"
              f"template <class T> inline constexpr T {name}Rest = 0;")
        for wide in (wide for wide in (False, True) if terms[wide]):
            print(table(name, function, low, highs[wide], weight, terms[wide], wide), end="")
        print()
    print_tanh()
    print_quotients()
    constants = [
        # High parts are short: of ln 2, so that k * high is exact for every exponent k; of geluScale, so that sums
        # with it leave an exact rest.
        ("ln2", log(2), (15, 41)), ("invLn2", 1 / log(2), (24, 53)), ("halfPi", pi / 2, (24, 53)),
        ("pi", pi, (24, 53)), ("twoOverSqrtPi", 2 / sqrt(pi), (24, 53)), ("sqrt2", sqrt(mpf(2)), (24, 53)),
        ("geluScale", 2 * sqrt(2 / pi), (12, 53)),
        ("geluCubic", 2 * sqrt(2 / pi) * mpf("0.044715"), (24, 53)),
    ]
    print("// An irrational constant as an unevaluated sum.\ntemplate <class T> struct Split {\n  T high, low;\n};")
    for name, value, bits in constants:
        print(f"template <class T> inline constexpr int {name} = 0;")
        for wide in (False, True):
            kind = "double" if wide else "float"
            first, rest = split(value, wide, bits[wide])
            print(f"template <> inline constexpr Split<{kind}> {name}<{kind}>{{{first}, {rest}}};")
    rest, parts = pi / 2, []
    for bits in (24, 12, 24):
        parts.append(mpf(as_f32(split(rest, False, bits)[0].rstrip("f"))))
        rest -= parts[-1]
    words = ", ".join(literal(part, False) for part in parts)
    print("/// pi/2; the second part is so short that k times it is a float for k below 2^12.\n"
          f"inline constexpr Table<float, 3> halfPiParts{{{{{words}}}}};")
    third = pi / 2 - mpf(float(pi / 2)) - mpf(float(pi / 2 - mpf(float(pi / 2))))
    print(f"/// What both parts of halfPi<double> miss.\ninline constexpr double halfPiThird = {literal(third, True)};\n"
          f"inline constexpr double invHalfPi = {literal(2 / pi, True)};")
    words = two_over_pi_words(19)
    print("\n// The binary fraction of 2/pi, most significant word first.")
    print("inline constexpr uint64_t twoOverPiWords[19] = {")
    for start in range(0, 19, 4):
        print("    " + ", ".join("0x%016xull" % w for w in words[start:start + 4]) + ",")
    print("""};

} // namespace mlir::ad::numerics
// clang-format on

#endif // ADJOINT_NUMERICS_MATH_COEFFICIENTS_H""")


if __name__ == "__main__":
    main()
