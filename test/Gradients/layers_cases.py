# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of the operations of layers."""

from case import Argument, Case, integers


CASES = [
    Case("ad.one_hot", "one_hot", [Argument("4x3"), integers("4", [0, 2, -1, 5])],
         """%h = ad.one_hot %a1 axis 1 : {1} -> {0}
            %y = ad.mul %a0, %h : {0}""", Argument("4x3")),
    Case("ad.logsumexp", "logsumexp_last", [Argument("2x5")], "%y = ad.logsumexp %a0 axis 1 : {0}", Argument("2")),
    Case("ad.logsumexp", "logsumexp_first", [Argument("?x3x2", (4, 3, 2))], "%y = ad.logsumexp %a0 axis 0 : {0}",
         Argument("3x2")),
    Case("ad.logsumexp", "logsumexp_dynamic", [Argument("?x?", (2, 3))], "%y = ad.logsumexp %a0 axis 1 : {0}",
         Argument("?", (2,))),
    Case("ad.logsumexp", "logsumexp_large", [Argument("3x4", low=800.0, high=801.0)],
         "%y = ad.logsumexp %a0 axis 1 : {0}", Argument("3")),
]

for name, word in (("halves", ""), ("interleaved", "interleaved")):
    CASES += [
        Case("ad.rotary_embedding", f"rotary_embedding_{name}", [Argument("2x3x6"), integers("3", [0, 1, 50])],
             f"%y = ad.rotary_embedding %a0, %a1 base 1.0e4 {word} : {{0}}, {{1}}", Argument("2x3x6")),
        Case("ad.rotary_embedding", f"rotary_embedding_{name}_dynamic",
             [Argument("?x?x4", (2, 3, 4)), integers("2x1", [5, -3])],
             f"%y = ad.rotary_embedding %a0, %a1 base 10.0 {word} : {{0}}, {{1}}", Argument("?x?x4", (2, 3, 4))),
    ]

CASES += [
    Case("ad.dropout", "dropout", [Argument("4x5")],
         """%k = ad.constant dense<7> : tensor<i64>
            %y = ad.dropout %a0, %k, %k rate 0.4 : {0}""", Argument("4x5")),
    Case("ad.dropout", "dropout_dynamic", [Argument("?x5", (4, 5))],
         """%k = ad.constant dense<3> : tensor<i64>
            %y = ad.dropout %a0, %k, %k rate 0.4 : {0}""", Argument("?x5", (4, 5))),
]

# Their derivatives are those of the steps.
NORMS = [
    ("group_norm", "groups 2 axis 1 epsilon 1.0e-2", "3x4x2", (), "3x4x2", "4"),
    ("group_norm", "groups 1 axis 2 epsilon 1.0e-2", "2x?x3", (2, 2, 3), "2x?x3", "3"),
    ("group_norm", "groups 4 axis 1 epsilon 1.0e-2", "?x4x?", (2, 4, 3), "?x4x?", "4"),
    ("batch_norm", "axis 1 epsilon 1.0e-2", "4x3x2", (), "4x3x2", "3"),
    ("batch_norm", "axis 1 epsilon 1.0e-2", "?x3", (4, 3), "?x3", "3"),
]
for number, (op, words, kind, shape, result, channels) in enumerate(NORMS):
    several = ":3" if op == "batch_norm" else ""
    CASES.append(Case(f"ad.{op}", f"{op}_{number}", [Argument(kind, shape), Argument(channels), Argument(channels)],
                      f"%z{several} = ad.{op} %a0, %a1, %a2 {words} : {{0}}, {{1}}\n"
                      f"%y = ad.mul %z{'#0' if several else ''}, %z{'#0' if several else ''} : {{0}}",
                      Argument(result, shape)))
CASES += [
    Case("ad.batch_norm", "batch_norm_statistics", [Argument("4x3x2"), Argument("3"), Argument("3")],
         """%z, %m, %v = ad.batch_norm %a0, %a1, %a2 axis 1 epsilon 1.0e-2 : {0}, {1}
            %y = ad.mul %m, %v : {r}""", Argument("3")),
    Case("ad.batch_norm_inference", "batch_norm_inference",
         [Argument("4x3x2"), Argument("3"), Argument("3"), Argument("3"), Argument("3", low=0.3)],
         "%y = ad.batch_norm_inference %a0, %a1, %a2, %a3, %a4 axis 1 epsilon 1.0e-2 : {0}, {1}, {3}",
         Argument("4x3x2")),
]
