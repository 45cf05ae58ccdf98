#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Derivative rules of operations that no program runs, or whose rounding differences see: math, casts, transfers. The
derivative is made with the operation; then the text names an operation of the same function that runs, and the
gradient is compared with differences of the function by NumPy."""

import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import activity
import checks
import runner

UNARY = {"math.exp": "exp", "math.exp2": "exp2", "math.expm1": "expm1", "math.sin": "sin", "math.cos": "cos",
         "math.tan": "tan", "math.tanh": "tanh", "math.erf": "erf", "math.log": "log", "math.log2": "log2",
         "math.log1p": "log1p", "math.sqrt": "sqrt", "math.rsqrt": "rsqrt"}
BINARY = {"math.powf": ("pow", np.power), "math.atan2": ("atan2", np.arctan2)}
# Their derivative is zero. What replaces them has one that is not.
ROUNDING = ["math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"]
POINTS = [(0.7, 1.3), (1.9, 0.4)]


def cases():
    """(operation, lines from the scalars %a and %b to %r, what replaces lines, the function)"""
    functions = activity.ELEMENTARY | activity.POSITIVE
    for op, name in UNARY.items():
        yield op, f"%r = {op} %a : f64", (re.escape(op), f"ad.elementary {name}"), lambda a, b, f=functions[name]: f(a)
    for op, (name, f) in BINARY.items():
        yield op, f"%r = {op} %a, %b : f64", (re.escape(op), f"ad.elementary {name}"), f
    for op in ROUNDING:
        yield (op, f"%q = {op} %a : f64\n%r = arith.mulf %q, %b : f64", (re.escape(op), "arith.negf"),
               lambda a, b: -a * b)
    yield "math.absf", "%n = arith.negf %a : f64\n%r = math.absf %n : f64", ("math.absf", "arith.negf"), lambda a, b: a
    yield ("math.fma", "%r = math.fma %a, %b, %a : f64", (r"math\.fma (%\w+), (%\w+), %\w+", r"arith.addf \1, \2"),
           lambda a, b: a * b + a)
    yield "arith.maxnumf", "%r = arith.maxnumf %a, %b : f64", ("maxnumf", "maximumf"), np.maximum
    yield "arith.minnumf", "%r = arith.minnumf %a, %b : f64", ("minnumf", "minimumf"), np.minimum
    for op in ("arith.fptosi", "arith.fptoui"):
        yield (op, f"%i = {op} %a : f64 to i32\n%f = arith.sitofp %i : i32 to f64\n%r = arith.mulf %f, %b : f64",
               ("fptoui", "fptosi"), lambda a, b: np.trunc(a) * b)
    for wide, narrow in (("arith.extf", "arith.truncf"), ("ad.convert", "ad.convert")):
        yield (f"{narrow} and {wide}", f"%n = {narrow} %a : f64 to f32\n%r = {wide} %n : f32 to f64", ("", ""),
               lambda a, b: a)
    yield ("tensor.splat", "%t = tensor.splat %a : tensor<3xf64>\n"
           "%s = ad.reduce_sum %t axes [0] : tensor<3xf64> -> tensor<f64>\n"
           "%r = tensor.extract %s[] : tensor<f64>", (r"tensor\.splat (%\w+) :", r"ad.full \1 : f64 ->"),
           lambda a, b: 3 * a)
    yield ("arith.select by elements", "%one = ad.constant dense<1.0> : tensor<2xf64>\n"
           "%large = ad.compare gt %x, %one : tensor<2xf64>\n%w = ad.mul %x, %x : tensor<2xf64>\n"
           "%z = arith.select %large, %w, %x : tensor<2xi1>, tensor<2xf64>\n"
           "%s = ad.reduce_sum %z axes [0] : tensor<2xf64> -> tensor<f64>\n%r = tensor.extract %s[] : tensor<f64>",
           (r"arith\.select (.*) : tensor<2xi1>, (.*)", r"ad.select \1 : tensor<2xi1>, \2, \2"),
           lambda a, b: sum(x * x if x > 1 else x for x in (a, b)))
    yield ("ad.feed and ad.receive", 'ad.receive "seen"(%x) : tensor<2xf64>\n%f = ad.feed "fed" : tensor<f64>\n'
           "%e = tensor.extract %f[] : tensor<f64>\n%r = arith.mulf %a, %e : f64", ("", ""), lambda a, b: 2 * a)


def program(lines):
    body = "\n  ".join(lines.splitlines())
    return f"""func.func private @f(%x: tensor<2xf64>) -> tensor<f64> {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %a = tensor.extract %x[%i0] : tensor<2xf64>
  %b = tensor.extract %x[%i1] : tensor<2xf64>
  {body}
  %y = ad.full %r : f64 -> tensor<f64>
  return %y : tensor<f64>
}}
func.func @main(%x: tensor<2xf64> {{ad.name = "x"}}) -> (tensor<2xf64> {{ad.name = "g"}}) {{
  %v, %g = ad.value_and_grad @f(%x) wrt [0] : (tensor<2xf64>) -> (tensor<f64>, tensor<2xf64>)
  return %g : tensor<2xf64>
}}
"""


def slope(f, point, step=1e-4):
    a, b = point
    return np.array([(f(a + step, b) - f(a - step, b)) / (2 * step), (f(a, b + step) - f(a, b - step)) / (2 * step)])


def check(lines, replacement, f, folder):
    (folder / "program.mlir").write_text(program(lines))
    made = subprocess.run([runner.binary("ad-opt"), folder / "program.mlir", "--ad-differentiate"], check=True,
                          capture_output=True, text=True).stdout
    text = re.sub(*replacement, made) if replacement[0] else made
    np.save(folder / "fed.npy", np.array([2.0]))
    for point in POINTS:
        np.save(folder / "x.npy", np.array(point))
        options = ["--target=reference", *([f"--feed=fed={folder / 'fed.npy'},cycle"] if "ad.feed" in lines else [])]
        got = runner.run(text, [f"--arg=x={folder / 'x.npy'}"], [("g", "f64")], options)["g"]
        # Where the operation rounds, the derivative of its product with %b is that of a constant.
        expected = slope(f, point)
        if any(op in lines for op in ROUNDING):
            expected[0] = 0
        if not np.abs(got - expected).max() <= 1e-5 * (1 + np.abs(expected).max()):
            yield f"gradient {got} at {point}, expected {expected}\n{made}"


def main():
    return checks.run_checks("foreign-rules", [
        (op, lambda folder, case=case: check(*case, folder)) for op, *case in cases()])


if __name__ == "__main__":
    sys.exit(main())
