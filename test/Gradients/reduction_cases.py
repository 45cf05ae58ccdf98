# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of reductions and of the operations of neural networks."""

from case import Argument, Case, integers

CASES = []


def reduce(op, name, argument, axes, result, keep="", **more):
    CASES.append(Case(f"ad.{op}", f"{op}_{name}", [argument],
                      f"%y = ad.{op} %a0 axes {axes} {keep} : {{0}} -> {{r}}", result, **more))


for op in ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"]:
    reduce(op, "last", Argument("2x5"), "[1]", Argument("2"))
    reduce(op, "first", Argument("5x2"), "[0]", Argument("1x2"), "keep_dims")
    reduce(op, "outer_and_inner", Argument("3x2x4"), "[0, 2]", Argument("2"))
    reduce(op, "all", Argument("2x3"), "[0, 1]", Argument(""))
    reduce(op, "dynamic", Argument("?x3", (4, 3)), "[0]", Argument("3"))
    reduce(op, "dynamic_kept", Argument("?x3", (4, 3)), "[1]", Argument("?", (4,)))
    reduce(op, "dynamic_outer", Argument("?x3x?x2", (2, 3, 2, 2)), "[1, 3]", Argument("?x?", (2, 2)))
    reduce(op, "dynamic_all", Argument("?x3x?", (2, 3, 2)), "[1, 2]", Argument("?x1x1", (2, 1, 1)), "keep_dims")

# Zeros: one alone gets the product of all others, two make every derivative zero.
ZEROS = """%zero = ad.constant dense<0.0> : tensor<f64>
           %c = ad.constant dense<[[true, false, true, true], [true, false, true, false]]> : tensor<2x4xi1>
           %d = ad.constant dense<[[0.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]> : tensor<2x4xf64>
           %e = ad.mul %a1, %d : {1}
           %x = ad.select %c, %a0, %e : tensor<2x4xi1>, {0}, {1}
           %y = ad.reduce_prod %x axes [1] : {0} -> {r}"""
CASES.append(Case("ad.reduce_prod", "reduce_prod_zeros", [Argument("2x4"), Argument("2x4", low=0.0, high=0.0)], ZEROS,
                  Argument("2")))

# Products of dynamic size go by blocks of 16 and blocks of blocks: sizes around their ends.
for size in (1, 16, 17, 257, 4099):
    CASES.append(Case("ad.reduce_prod", f"reduce_prod_blocks_{size}", [Argument("?", (size,), 0.99, 1.01)],
                      "%y = ad.reduce_prod %a0 axes [0] : {0} -> {r}", Argument(""), second_order=size < 100,
                      value=lambda x: x.prod(), factors=size))
CASES.append(Case("ad.reduce_prod", "reduce_prod_blocks_zero", [Argument("?", (20,), 0.9, 1.1),
                                                                Argument("1", low=0.0, high=0.0)],
                  """%x = ad.concat axis 0 %a0, %a1 : {0}, {1}
                     %y = ad.reduce_prod %x axes [0] : tensor<?xf64> -> {r}""", Argument("")))
CASES.append(Case("ad.reduce_prod", "reduce_prod_blocks_rows", [Argument("2x?x3", (2, 11, 3), 0.9, 1.1)],
                  "%y = ad.reduce_prod %a0 axes [1, 2] : {0} -> {r}", Argument("2"), factors=33))

CASES += [
    Case("ad.cumsum", "cumsum", [Argument("2x5")], "%y = ad.cumsum %a0 axis 1 : {0}", Argument("2x5")),
    Case("ad.cumsum", "cumsum_dynamic", [Argument("?x2", (4, 2))], "%y = ad.cumsum %a0 axis 0 : {0}",
         Argument("?x2", (4, 2))),
]
# The recurrence of products goes by blocks of 16 and blocks of blocks: sizes around their ends.
for size in (1, 15, 16, 17, 33, 257):
    CASES += [
        Case("ad.cumprod", f"cumprod_{size}", [Argument(f"2x{size}", low=0.9, high=1.1)],
             "%y = ad.cumprod %a0 axis 1 : {0}", Argument(f"2x{size}"), second_order=size < 20, factors=size),
        Case("ad.cumprod", f"cumprod_dynamic_{size}", [Argument("?x2", (size, 2), 0.9, 1.1)],
             "%y = ad.cumprod %a0 axis 0 : {0}", Argument("?x2", (size, 2)), second_order=size < 20, factors=size),
    ]
CASES.append(Case("ad.cumprod", "cumprod_zeros", [Argument("2x4"), Argument("2x4", low=0.0, high=0.0)],
                  ZEROS.replace("ad.reduce_prod %x axes [1] : {0} -> {r}", "ad.cumprod %x axis 1 : {0}"),
                  Argument("2x4")))
for op in ["cummax", "cummin"]:
    CASES += [
        Case(f"ad.{op}", op, [Argument("2x5")], f"%y = ad.{op} %a0 axis 1 : {{0}}", Argument("2x5")),
        Case(f"ad.{op}", f"{op}_dynamic", [Argument("?x2", (4, 2))], f"%y = ad.{op} %a0 axis 0 : {{0}}",
             Argument("?x2", (4, 2))),
        # The first of several equal ones.
        Case(f"ad.{op}", f"{op}_equal", [Argument("3x2")],
             f"""%x = ad.concat axis 1 %a0, %a0 : {{0}}, {{0}}
                 %y = ad.{op} %x axis 1 : tensor<3x4xf64>""", Argument("3x4")),
    ]
for op in ["argmax", "argmin"]:
    CASES.append(Case(f"ad.{op}", op, [Argument("2x4")],
                      f"""%i = ad.{op} %a0 axis 1 : {{0}}
                          %f = ad.cast %i : tensor<2xi64> -> {{r}}
                          %s = ad.reduce_sum %a0 axes [1] : {{0}} -> {{r}}
                          %y = ad.mul %f, %s : {{r}}""", Argument("2")))

for op in ["softmax", "log_softmax"]:
    CASES += [
        Case(f"ad.{op}", f"{op}_last", [Argument("2x4")], f"%y = ad.{op} %a0 axis 1 : {{0}}", Argument("2x4")),
        Case(f"ad.{op}", f"{op}_first", [Argument("?x2x2", (3, 2, 2))], f"%y = ad.{op} %a0 axis 0 : {{0}}",
             Argument("?x2x2", (3, 2, 2))),
    ]

CASES += [
    Case("ad.layer_norm", "layer_norm", [Argument("3x5"), Argument("5"), Argument("5")],
         "%y = ad.layer_norm %a0, %a1, %a2 epsilon 1.0e-3 : {0}, {1}", Argument("3x5")),
    Case("ad.layer_norm", "layer_norm_dynamic", [Argument("?x2x5", (2, 2, 5)), Argument("5"), Argument("5")],
         "%y = ad.layer_norm %a0, %a1, %a2 epsilon 1.0e-3 : {0}, {1}", Argument("?x2x5", (2, 2, 5))),
    Case("ad.rms_norm", "rms_norm", [Argument("3x5"), Argument("5")],
         "%y = ad.rms_norm %a0, %a1 epsilon 1.0e-3 : {0}, {1}", Argument("3x5")),
    Case("ad.rms_norm", "rms_norm_dynamic", [Argument("?x5", (2, 5)), Argument("5")],
         "%y = ad.rms_norm %a0, %a1 epsilon 1.0e-3 : {0}, {1}", Argument("?x5", (2, 5))),
    Case("ad.cross_entropy", "cross_entropy_classes", [Argument("4x3"), integers("4", [0, 2, -1, -100])],
         "%y = ad.cross_entropy %a0, %a1 : {0}, {1} -> {r}", Argument("4")),
    Case("ad.cross_entropy", "cross_entropy_ignored", [Argument("4x3"), integers("4", [0, 2, 1, 2])],
         "%y = ad.cross_entropy %a0, %a1 ignored 2 : {0}, {1} -> {r}", Argument("4")),
    Case("ad.cross_entropy", "cross_entropy_ignored_negative", [Argument("4x3"), integers("4", [0, 2, -100, 0])],
         "%y = ad.cross_entropy %a0, %a1 ignored -100 : {0}, {1} -> {r}", Argument("4")),
    Case("ad.cross_entropy", "cross_entropy_dynamic",
         [Argument("?x?", (3, 4)), integers("?", [1, -7, 3], element="i32", shape=(3,))],
         "%y = ad.cross_entropy %a0, %a1 : {0}, {1} -> {r}", Argument("?", (3,))),
    Case("ad.cross_entropy", "cross_entropy_probabilities", [Argument("2x3"), Argument("2x3", low=0.0)],
         "%y = ad.cross_entropy %a0, %a1 : {0}, {1} -> {r}", Argument("2")),
]
