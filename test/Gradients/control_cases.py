# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of branches, loops and calls. The operation named is one inside."""

from case import Argument, Case

BOUNDS = """%k0 = arith.constant 0 : index
%k1 = arith.constant 1 : index
%k2 = arith.constant 2 : index
%k3 = arith.constant 3 : index
%k4 = arith.constant 4 : index
%k9 = arith.constant 9 : index
"""


def loop(name, body, result=None, arguments=None, **more):
    arguments = arguments or [Argument("3"), Argument("3", low=0.5, high=1.5)]
    return Case("ad.mul", f"for_{name}", arguments, BOUNDS + body, result or Argument("3"), **more)


STEP = """  %b = ad.mul %a, %a1 : {1}
  %c = ad.sin %b : {1}
"""
CASES = [
    loop("captured", """%y = scf.for %i = %k0 to %k4 step %k1 iter_args(%a = %a0) -> {0} {{
""" + STEP + """  scf.yield %c : {0}
}}"""),
    loop("offset_and_step", """%y = scf.for %i = %k1 to %k9 step %k3 iter_args(%a = %a0) -> {0} {{
""" + STEP + """  scf.yield %c : {0}
}}"""),
    loop("no_trip", """%z = scf.for %i = %k4 to %k4 step %k1 iter_args(%a = %a0) -> {0} {{
""" + STEP + """  scf.yield %c : {0}
}}
%y = ad.mul %z, %a1 : {0}"""),
    loop("one_trip_fresh_value", """%y = scf.for %i = %k0 to %k1 step %k1 iter_args(%a = %a0) -> {0} {{
  %c = ad.sin %a1 : {0}
  scf.yield %c : {0}
}}"""),
    loop("two_carries", """%p, %q = scf.for %i = %k0 to %k3 step %k1 iter_args(%a = %a0, %s = %a1) -> ({0}, {0}) {{
  %b = ad.mul %a, %s : {0}
  %c = ad.cos %b : {0}
  scf.yield %s, %c : {0}, {0}
}}
%y = ad.mul %p, %q : {0}"""),
    # The sum needs no tape, the constant carry none either.
    loop("sum", """%p, %q = scf.for %i = %k0 to %k3 step %k1 iter_args(%a = %a0, %w = %a1) -> ({0}, {0}) {{
  %e = ad.exp %w : {0}
  %c = ad.add %a, %e : {0}
  scf.yield %c, %w : {0}, {0}
}}
%y = ad.mul %p, %q : {0}"""),
    loop("by_index", """%y = scf.for %i = %k0 to %k3 step %k1 iter_args(%a = %a0) -> {0} {{
  %row = ad.dynamic_slice %a1[%i, %k0] : {1} -> tensor<1x3xf64>
  %w = ad.reshape %row : tensor<1x3xf64> -> {0}
  %b = ad.mul %a, %w : {0}
  %c = ad.tanh %b : {0}
  scf.yield %c : {0}
}}""", arguments=[Argument("3"), Argument("3x3")]),
    loop("carried_index", """%y, %last = scf.for %i = %k0 to %k3 step %k1 iter_args(%a = %a0, %j = %k2) -> ({0}, index) {{
  %row = ad.dynamic_slice %a1[%j, %k0] : {1} -> tensor<1x3xf64>
  %w = ad.reshape %row : tensor<1x3xf64> -> {0}
  %b = ad.mul %a, %w : {0}
  %next = arith.subi %k2, %i : index
  scf.yield %b, %next : {0}, index
}}""", arguments=[Argument("3"), Argument("3x3")]),
    loop("dynamic", """%y = scf.for %i = %k0 to %k4 step %k1 iter_args(%a = %a0) -> {0} {{
  %b = ad.mul %a, %a1 : {0}, {1}
  %c = ad.sin %b : {0}
  scf.yield %c : {0}
}}""", arguments=[Argument("?x2", (3, 2)), Argument("2")], result=Argument("?x2", (3, 2))),
    loop("nested", """%y = scf.for %i = %k0 to %k2 step %k1 iter_args(%a = %a0) -> {0} {{
  %in = scf.for %j = %k0 to %k3 step %k1 iter_args(%d = %a) -> {0} {{
    %b = ad.mul %d, %a1 : {0}
    %c = ad.sin %b : {0}
    scf.yield %c : {0}
  }}
  %e = ad.add %in, %a : {0}
  scf.yield %e : {0}
}}"""),
    loop("branch_inside", """%y = scf.for %i = %k0 to %k4 step %k1 iter_args(%a = %a0) -> {0} {{
  %even = arith.cmpi ult, %i, %k2 : index
  %in = scf.if %even -> {0} {{
    %b = ad.mul %a, %a1 : {0}
    %c = ad.sin %b : {0}
    scf.yield %c : {0}
  }} else {{
    %b = ad.mul %a, %a : {0}
    scf.yield %b : {0}
  }}
  scf.yield %in : {0}
}}"""),
    Case("ad.mul", "if_captured", [Argument("3"), Argument("3")], """%true = arith.constant true
%y = scf.if %true -> {0} {{
  %b = ad.mul %a0, %a1 : {0}
  %c = ad.sin %b : {0}
  scf.yield %c : {0}
}} else {{
  scf.yield %a1 : {0}
}}""", Argument("3")),
    Case("ad.mul", "if_by_data", [Argument("3"), Argument("3")], """%zero = ad.constant dense<0.0> : tensor<f64>
%s = ad.reduce_sum %a0 axes [0] : {0} -> tensor<f64>
%m = ad.compare lt %s, %zero : tensor<f64>
%p = tensor.extract %m[] : tensor<i1>
%y = scf.if %p -> {0} {{
  %b = ad.mul %a0, %a1 : {0}
  scf.yield %b : {0}
}} else {{
  %b = ad.exp %a0 : {0}
  scf.yield %b : {0}
}}""", Argument("3")),
    Case("ad.mul", "loop_in_if", [Argument("3"), Argument("3")], BOUNDS + """%true = arith.constant true
%y = scf.if %true -> {0} {{
  %z = scf.for %i = %k0 to %k3 step %k1 iter_args(%a = %a0) -> {0} {{
    %b = ad.mul %a, %a1 : {0}
    %c = ad.sin %b : {0}
    scf.yield %c : {0}
  }}
  scf.yield %z : {0}
}} else {{
  scf.yield %a1 : {0}
}}""", Argument("3")),
]
