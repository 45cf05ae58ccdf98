# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of operations that order elements: directions, axes, static and dynamic sizes, several operands."""

from case import Argument, Case


CASES = [
    # Positions are integers, which carry no gradient.
    Case("ad.argsort", "argsort", [Argument("4x5")],
         """%i = ad.argsort %a0 axis 1 descending : {0}
            %f = ad.cast %i : tensor<4x5xi64> -> {r}
            %y = ad.mul %a0, %f : {0}, {r}""", Argument("4x5")),
    Case("ad.sort", "sort", [Argument("4x5")], "%y = ad.sort %a0 axis 1 : {0}", Argument("4x5")),
    Case("ad.sort", "sort_descending", [Argument("?x?", (5, 3))], "%y = ad.sort %a0 axis 0 descending : {0}",
         Argument("?x?", (5, 3))),
    # The key and what follows it both depend on the arguments.
    Case("ad.sort", "sort_several", [Argument("3x4"), Argument("3x4"), Argument("?x4", (3, 4))],
         """%z:3 = ad.sort %a0, %a1, %a2 axis 1 : {0}, {1}, {2}
            %p = ad.mul %z#0, %z#1 : {r}, {r}
            %y = ad.mul %p, %z#2 : {r}, {2}""", Argument("3x4")),
    Case("ad.top_k", "top_k", [Argument("4x5")], "%y, %p = ad.top_k %a0 axis 1 k 2 : {0}", Argument("4x2")),
    Case("ad.top_k", "top_k_smallest", [Argument("?x?", (5, 3))], "%y, %p = ad.top_k %a0 axis 0 k 3 smallest : {0}",
         Argument("3x?", (3, 3))),
]
