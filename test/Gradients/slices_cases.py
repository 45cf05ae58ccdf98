# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of slices in loops and branches, whose cotangents are added to a sum in place."""

from case import Argument, Case
from control_cases import BOUNDS

ROW = "%r{n} = ad.dynamic_slice %{of}[%{at}, %k0] : {{0}} -> tensor<{rows}x2xf64>\n"


def row(n, of, at, rows=1):
    return ROW.format(n=n, of=of, at=at, rows=rows)


def loop(name, body, result=None, arguments=None, op="ad.dynamic_slice", more=""):
    """A loop over %i from 0 to 3 that carries %h, a row that starts as %a1."""
    text = more + """%y = scf.for %i = %k0 to %k4 step %k1 iter_args(%h = %a1) -> {1} {{
""" + body + "}}"
    return Case(op, f"slices_{name}", arguments or [Argument("6x2"), Argument("1x2")], BOUNDS + text,
                result or Argument("1x2"))


def step(parts, carried="h"):
    """The next value: tanh of what is carried times the sine of each part."""
    lines, value = "", carried
    for n, part in enumerate(parts):
        lines += f"%q{n} = ad.sin %{part} : {{1}}\n%p{n} = ad.mul %{value}, %q{n} : {{1}}\n"
        value = f"p{n}"
    return lines + f"%t = ad.tanh %{value} : {{1}}\n"


YIELD = "scf.yield %t : {1}\n"
NEXT = "%j = arith.addi %i, %k1 : index\n"
CASES = [
    loop("one", row(0, "a0", "i") + step(["r0"]) + YIELD),
    loop("two", NEXT + row(0, "a0", "i") + row(1, "a0", "j") + step(["r0", "r1"]) + YIELD),
    loop("one_twice", row(0, "a0", "i") + row(1, "a0", "i") + step(["r0", "r1"]) + YIELD),
    # The windows of two iterations overlap.
    loop("overlapping", row(0, "a0", "i", 3) + "%s = ad.reduce_sum %r0 axes [0] keep_dims : tensor<3x2xf64> -> {1}\n"
         + step(["s"]) + YIELD),
    # The same elements in each iteration; of every second element.
    loop("static", "%r0 = ad.slice %a0 [1, 0] strides [1, 1] : {0} -> {1}\n" + step(["r0"]) + YIELD, op="ad.slice"),
    loop("strided", "%r0 = ad.slice %a0 [1, 0] strides [2, 2] : {0} -> tensor<2x1xf64>\n"
         "%s0 = ad.reshape %r0 : tensor<2x1xf64> -> {1}\n" + step(["s0"]) + YIELD,
         arguments=[Argument("9x2"), Argument("1x2")], op="ad.slice"),
    loop("strided_and_rows", "%r1 = ad.slice %a0 [1, 0] strides [2, 2] : {0} -> tensor<2x1xf64>\n"
         "%s0 = ad.reshape %r1 : tensor<2x1xf64> -> {1}\n" + row(0, "a0", "i") + step(["s0", "r0"]) + YIELD,
         arguments=[Argument("9x2"), Argument("1x2")], op="ad.slice"),
    # A part and all of it.
    loop("and_whole", row(0, "a0", "i") + "%s = ad.reduce_mean %a0 axes [0] keep_dims : {0} -> {1}\n"
         + step(["r0", "s"]) + YIELD),
    loop("dynamic", "%d = tensor.dim %a0, %k0 : {0}\n%l = arith.subi %d, %k4 : index\n"
         "%r = ad.dynamic_slice %a0[%i, %k0](%l) : {0} -> tensor<?x2xf64>\n"
         "%s = ad.reduce_sum %r axes [0] keep_dims : tensor<?x2xf64> -> {1}\n" + step(["s"]) + YIELD,
         arguments=[Argument("?x2", (6, 2)), Argument("1x2")]),
    # Rows of both loops' indices, and one of the outer loop's alone.
    loop("nested", row(1, "a0", "i") + """%t = scf.for %k = %k0 to %k3 step %k1 iter_args(%g = %h) -> {1} {{
%j = arith.addi %i, %k : index
""" + row(0, "a0", "j") + """%q = ad.mul %g, %r0 : {1}
%w = ad.sin %q : {1}
%u = ad.add %w, %r1 : {1}
scf.yield %u : {1}
}}
""" + YIELD),
    loop("branch", """%low = arith.cmpi ult, %i, %k2 : index
%t = scf.if %low -> {1} {{
""" + row(0, "a0", "i") + """%s = ad.mul %r0, %h : {1}
scf.yield %s : {1}
}} else {{
%c = ad.cos %h : {1}
scf.yield %c : {1}
}}
""" + YIELD),
    loop("branches", """%low = arith.cmpi ult, %i, %k2 : index
%b = scf.if %low -> {1} {{
%none = arith.cmpi eq, %i, %k0 : index
""" + row(0, "a0", "i") + """%s = scf.if %none -> {1} {{
scf.yield %h : {1}
}} else {{
""" + NEXT + row(1, "a0", "j") + """%u = ad.mul %r1, %r0 : {1}
scf.yield %u : {1}
}}
%p = ad.mul %s, %r0 : {1}
scf.yield %p : {1}
}} else {{
""" + row(2, "a0", "k1") + """%c = ad.cos %r2 : {1}
scf.yield %c : {1}
}}
""" + row(3, "a0", "i") + step(["b", "r3"]) + YIELD),
    # Weights of layers, one matrix per iteration.
    Case("ad.dynamic_slice", "slices_layers", [Argument("4x2x2"), Argument("3x2")], BOUNDS + """
%y = scf.for %i = %k0 to %k4 step %k1 iter_args(%h = %a1) -> {1} {{
%l = ad.dynamic_slice %a0[%i, %k0, %k0] : {0} -> tensor<1x2x2xf64>
%w = ad.reshape %l : tensor<1x2x2xf64> -> tensor<2x2xf64>
%d = ad.dot %h, %w contract [1] x [0] : ({1}, tensor<2x2xf64>) -> {1}
%t = ad.tanh %d : {1}
scf.yield %t : {1}
}}""", Argument("3x2")),
    # Rows of what is carried, replaced one after another.
    Case("ad.dynamic_update_slice", "slices_updates", [Argument("6x2"), Argument("1x2")], BOUNDS + """
%y = scf.for %i = %k0 to %k4 step %k1 iter_args(%x = %a0) -> {0} {{
%j = arith.addi %i, %k1 : index
""" + row(0, "x", "i") + row(1, "x", "j") + """%b = ad.mul %r0, %r1 : {1}
%t = ad.sin %b : {1}
%u = ad.dynamic_update_slice %x, %t[%j, %k0] : {0}, {1}
%r2 = ad.dynamic_slice %u[%i, %k0] : {0} -> {1}
%s = ad.mul %r2, %a1 : {1}
%v = ad.dynamic_update_slice %u, %s[%i, %k0] : {0}, {1}
scf.yield %v : {0}
}}""", Argument("6x2")),
    # What is carried is needed as a whole too.
    Case("ad.dynamic_update_slice", "slices_updates_and_whole", [Argument("4x2"), Argument("1x2")], BOUNDS + """
%y = scf.for %i = %k0 to %k3 step %k1 iter_args(%x = %a0) -> {0} {{
""" + row(0, "x", "i") + """%m = ad.mul %x, %x : {0}
%s = ad.reduce_mean %m axes [0] keep_dims : {0} -> {1}
%b = ad.mul %r0, %s : {1}
%u = ad.dynamic_update_slice %x, %b[%i, %k0] : {0}, {1}
scf.yield %u : {0}
}}""", Argument("4x2")),
    # One after another, and all that is left.
    Case("ad.dynamic_slice", "slices_straight", [Argument("6x2"), Argument("1x2")], BOUNDS
         + row(0, "a0", "k1", 2) + row(1, "a0", "k2", 2) + """%b = ad.mul %r0, %r1 : tensor<2x2xf64>
%w = ad.sin %a0 : {0}
%l = ad.slice %w [3, 0] strides [1, 1] : {0} -> tensor<2x2xf64>
%c = ad.mul %b, %l : tensor<2x2xf64>
""" + row(2, "a0", "k3", 2) + "%y = ad.mul %c, %r2 : {r}", Argument("2x2")),
]
