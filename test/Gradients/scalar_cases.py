# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of scalars: arithmetic and elementary functions on elements of a tensor, tensors made of scalars,
branches and loops that give scalars."""

from case import Argument, Case

READ = """%k0 = arith.constant 0 : index
%k1 = arith.constant 1 : index
%p = tensor.extract %a0[%k0] : {0}
%q = tensor.extract %a0[%k1] : {0}
"""


def scalar(op, name, body, low=-1.0, high=1.0, result="", **more):
    """%s, a function of the elements %p and %q, is the result."""
    write = "" if result else "\n%y = ad.full %s : f64 -> tensor<f64>"
    return Case(op, f"scalar_{name}", [Argument("2", low=low, high=high)], READ + body + write, Argument(result),
                tolerance=1e-6, **more)


def binary(op, low=-1.0, high=1.0, dialect="arith"):
    return scalar(f"{dialect}.{op}", op, f"%s = {dialect}.{op} %p, %q : f64", low, high)


def elementary(function, low=-1.0, high=1.0):
    operands = "%p, %q" if function in ("pow", "atan2") else "%p"
    return scalar("ad.elementary", function, f"%s = ad.elementary {function} {operands} : f64", low, high)


CASES = [
    binary("addf"), binary("subf"), binary("mulf"), binary("divf", 0.5, 2.0), binary("remf", 0.5, 2.0),
    binary("maximumf"), binary("minimumf"),
    scalar("arith.negf", "negf", "%s = arith.negf %p : f64"),
    *(elementary(function) for function in ("exp", "exp2", "expm1", "sin", "cos", "tan", "tanh", "erf", "sigmoid",
                                            "silu", "gelu", "gelu_tanh", "softplus", "atan2")),
    *(elementary(function, 0.5, 2.0) for function in ("log", "log2", "log1p", "sqrt", "rsqrt", "recip", "pow")),
    scalar("tensor.extract", "extract_twice", "%s = arith.mulf %p, %p : f64"),
    scalar("tensor.from_elements", "from_elements", """%z = arith.mulf %p, %q : f64
%y = tensor.from_elements %p, %q, %z, %p, %z, %q : tensor<2x3xf64>""", result="2x3"),
    scalar("ad.full", "full", """%z = arith.mulf %p, %q : f64
%y = ad.full %z : f64 -> tensor<2x3xf64>""", result="2x3"),
    scalar("arith.select", "select_by_data", """%c = arith.cmpf ogt, %p, %q : f64
%z = arith.mulf %p, %q : f64
%s = arith.select %c, %z, %q : f64"""),
    scalar("arith.select", "if", """%c = arith.cmpf ogt, %p, %q : f64
%s = scf.if %c -> f64 {{
  %z = arith.mulf %p, %q : f64
  scf.yield %z : f64
}} else {{
  scf.yield %q : f64
}}"""),
    scalar("arith.mulf", "loop", """%k4 = arith.constant 4 : index
%s, %last = scf.for %i = %k0 to %k4 step %k1 iter_args(%c = %p, %d = %q) -> (f64, f64) {{
  %z = arith.mulf %c, %d : f64
  %w = ad.elementary sin %z : f64
  %v = arith.addf %c, %q : f64
  scf.yield %w, %v : f64, f64
}}"""),
    # The loop reads another element of a carried tensor in each iteration.
    scalar("tensor.extract", "carried_tensor", """%k2 = arith.constant 2 : index
%y = scf.for %i = %k0 to %k2 step %k1 iter_args(%t = %a0) -> tensor<2xf64> {{
  %e = tensor.extract %t[%i] : tensor<2xf64>
  %z = arith.mulf %e, %p : f64
  %f = ad.full %z : f64 -> tensor<f64>
  %n = ad.mul %t, %f : tensor<2xf64>, tensor<f64>
  scf.yield %n : tensor<2xf64>
}}""", result="2"),
    Case("tensor.extract", "scalar_of_dynamic", [Argument("?", (3,))], """%k1 = arith.constant 1 : index
%p = tensor.extract %a0[%k1] : {0}
%z = arith.mulf %p, %p : f64
%f = ad.full %z : f64 -> tensor<f64>
%y = ad.mul %a0, %f : {0}, tensor<f64>""", Argument("?", (3,))),
    Case("ad.full", "scalar_to_dynamic", [Argument("?", (3,))], """%k0 = arith.constant 0 : index
%p = tensor.extract %a0[%k0] : {0}
%n = tensor.dim %a0, %k0 : {0}
%f = ad.full %p(%n) : f64 -> {0}
%y = ad.mul %a0, %f : {0}""", Argument("?", (3,))),
]
