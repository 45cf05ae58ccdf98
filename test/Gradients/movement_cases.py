# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of data movement and contractions."""

from case import Argument, Case

SIZE = "%axis = arith.constant {axis} : index\n%n = tensor.dim %a0, %axis : {{0}}\n"


def one(op, name, argument, body, result, **more):
    arguments = argument if isinstance(argument, list) else [argument]
    return Case(op, name, arguments, body, result, **more)


CASES = [
    one("ad.reshape", "reshape", Argument("2x6"), "%y = ad.reshape %a0 : {0} -> {r}", Argument("3x4")),
    one("ad.reshape", "reshape_dynamic", Argument("?x6", (2, 6)),
        SIZE.format(axis=0) + "%y = ad.reshape %a0(%n) : {0} -> {r}", Argument("?x2x3", (2, 2, 3))),
    one("ad.broadcast", "broadcast", Argument("1x3"), "%y = ad.broadcast %a0 : {0} -> {r}", Argument("4x2x3")),
    one("ad.broadcast", "broadcast_dynamic", [Argument("?x3", (1, 3)), Argument("?", (4,))],
        """%zero = arith.constant 0 : index
           %n = tensor.dim %a1, %zero : {1}
           %y = ad.broadcast %a0(%n) : {0} -> {r}""", Argument("?x3", (4, 3))),
    one("ad.sum_to_shape", "sum_to_shape", Argument("4x2x3"), "%y = ad.sum_to_shape %a0 : {0} -> {r}", Argument("2x1")),
    one("ad.sum_to_shape", "sum_to_shape_dynamic", [Argument("?x3", (4, 3)), Argument("?", (1,))],
        """%zero = arith.constant 0 : index
           %n = tensor.dim %a1, %zero : {1}
           %y = ad.sum_to_shape %a0(%n) : {0} -> {r}""", Argument("?x3", (1, 3))),
    one("ad.transpose", "transpose_cycle", Argument("2x3x4"), "%y = ad.transpose %a0 [1, 2, 0] : {0}",
        Argument("3x4x2")),
    one("ad.transpose", "transpose_dynamic", Argument("?x3", (2, 3)), "%y = ad.transpose %a0 [1, 0] : {0}",
        Argument("3x?", (3, 2))),
    one("ad.slice", "slice", Argument("5x7"), "%y = ad.slice %a0 [1, 1] strides [1, 2] : {0} -> {r}", Argument("3x3")),
    one("ad.slice", "slice_dynamic_input", Argument("?x7", (5, 7)),
        "%y = ad.slice %a0 [1, 1] strides [2, 2] : {0} -> {r}", Argument("2x3")),
    one("ad.slice", "slice_dynamic", [Argument("?x4", (5, 4)), Argument("?", (2,))],
        """%zero = arith.constant 0 : index
           %n = tensor.dim %a1, %zero : {1}
           %y = ad.slice %a0 [2, 1] strides [1, 1](%n) : {0} -> {r}""", Argument("?x3", (2, 3))),
    one("ad.dynamic_slice", "dynamic_slice", Argument("4x5"),
        """%i = arith.constant 1 : index
           %j = arith.constant 2 : index
           %y = ad.dynamic_slice %a0[%i, %j] : {0} -> {r}""", Argument("2x3")),
    one("ad.dynamic_slice", "dynamic_slice_dynamic", [Argument("?x5", (4, 5)), Argument("?", (2,))],
        """%i = arith.constant 1 : index
           %zero = arith.constant 0 : index
           %n = tensor.dim %a1, %zero : {1}
           %y = ad.dynamic_slice %a0[%i, %zero](%n) : {0} -> {r}""", Argument("?x3", (2, 3))),
    one("ad.dynamic_update_slice", "dynamic_update_slice", [Argument("4x5"), Argument("2x3")],
        """%i = arith.constant 1 : index
           %j = arith.constant 2 : index
           %y = ad.dynamic_update_slice %a0, %a1[%i, %j] : {0}, {1}""", Argument("4x5")),
    one("ad.dynamic_update_slice", "dynamic_update_slice_dynamic", [Argument("?x5", (4, 5)), Argument("?x3", (2, 3))],
        """%i = arith.constant 1 : index
           %j = arith.constant 2 : index
           %y = ad.dynamic_update_slice %a0, %a1[%i, %j] : {0}, {1}""", Argument("?x5", (4, 5))),
    one("ad.pad", "pad", [Argument("3x4"), Argument("")],
        "%y = ad.pad %a0, %a1 low [1, 0] high [0, 2] interior [0, 1] : {0}, {1}", Argument("4x9")),
    one("ad.pad", "pad_dynamic", [Argument("?x4", (3, 4)), Argument("")],
        "%y = ad.pad %a0, %a1 low [1, 0] high [2, 1] interior [1, 0] : {0}, {1}", Argument("?x5", (8, 5))),
    one("ad.concat", "concat", [Argument("2x3"), Argument("2x1"), Argument("2x2")],
        "%y = ad.concat axis 1 %a0, %a1, %a2 : {0}, {1}, {2}", Argument("2x6")),
    one("ad.concat", "concat_dynamic", [Argument("?x3", (2, 3)), Argument("1x3"), Argument("?x3", (3, 3))],
        "%y = ad.concat axis 0 %a0, %a1, %a2 : {0}, {1}, {2}", Argument("?x3", (6, 3))),
    one("ad.reverse", "reverse", Argument("2x3x2"), "%y = ad.reverse %a0 axes [0, 2] : {0}", Argument("2x3x2")),
]


def dot(name, lhs, rhs, result, axes=""):
    return one("ad.dot", f"dot_{name}", [lhs, rhs], f"%y = ad.dot %a0, %a1 {axes} : ({{0}}, {{1}}) -> {{r}}", result)


CASES += [
    dot("matrix", Argument("2x3"), Argument("3x4"), Argument("2x4")),
    dot("dynamic", Argument("?x3", (2, 3)), Argument("3x?", (3, 4)), Argument("?x?", (2, 4))),
    dot("half_known", Argument("2x?", (2, 3)), Argument("3x4"), Argument("2x4")),
    dot("inner", Argument("5"), Argument("5"), Argument("")),
    dot("vector_matrix", Argument("3"), Argument("3x4"), Argument("4")),
    dot("matrix_vector", Argument("2x3"), Argument("3"), Argument("2")),
    dot("matmul_batch", Argument("2x3x4"), Argument("2x4x5"), Argument("2x3x5")),
    dot("outer", Argument("2"), Argument("3"), Argument("2x3"), "contract [] x []"),
    dot("transposed", Argument("2x3"), Argument("4x3"), Argument("2x4"), "contract [1] x [1]"),
    dot("inner_batch", Argument("3x2x4"), Argument("4x5x2"), Argument("2x3x5"), "batch [1] x [2] contract [2] x [0]"),
    dot("two_axes", Argument("2x3x4"), Argument("4x5x3"), Argument("2x5"), "contract [1, 2] x [2, 0]"),
    dot("two_batches", Argument("2x3x4x5"), Argument("3x5x2x6"), Argument("2x3x4x6"),
        "batch [0, 1] x [2, 0] contract [3] x [1]"),
    dot("crossed", Argument("4x2x3"), Argument("3x4x5"), Argument("2x5"), "contract [2, 0] x [0, 1]"),
]


def gemm(name, lhs, rhs, attributes, bias=None):
    arguments = [Argument(lhs), Argument(rhs)] + ([Argument(bias)] if bias is not None else [])
    operands = ", ".join(f"%a{index}" for index in range(len(arguments)))
    types = ", ".join(f"{{{index}}}" for index in range(len(arguments)))
    return one("ad.gemm", f"gemm_{name}", arguments, f"%y = ad.gemm {operands} {attributes} : ({types}) -> {{r}}",
               Argument("2x4"))


CASES += [
    gemm("plain", "2x3", "3x4", ""),
    gemm("bias", "2x3", "4x3", "{{transB}}", "4"),
    gemm("trans_a", "3x2", "3x4", "{{transA, alpha = 0.5 : f64}}"),
    gemm("trans_both", "3x2", "4x3", "{{transA, transB, alpha = -2.0 : f64, beta = 3.0 : f64}}", "2x1"),
    gemm("beta", "2x3", "3x4", "{{beta = 0.5 : f64}}", "2x4"),
    gemm("scalar_bias", "2x3", "3x4", "{{alpha = 2.0 : f64}}", ""),
]
