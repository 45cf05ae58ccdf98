# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of operations at indices that tensors hold: equal indices, indices outside, batch axes, static and
dynamic sizes, elements that later updates replace, and those that lose to others."""

from case import Argument, Case, integers


def index(values, shape, type=None):
    return integers(type or "x".join(map(str, shape)), values, shape=shape)


def case(op, name, arguments, body, result, **more):
    return Case(op, name, arguments, f"%y = {body}", result, **more)


ROWS = index([3, 0, 3, 1], (4,))
OPEN_ROWS = index([3, 0, 3, 1], (4,), "?")
OUTSIDE = index([3, -1, 7, 3], (4,))
PAIRS = [index([0, 2, 0, 1], (2, 2)), index([3, 1, 3, 0], (2, 2))]

CASES = [
    case("ad.gather", "gather_rows", [Argument("4x3"), ROWS], "ad.gather %a0[%a1] axes [0] slices [1] : {0}, {1}",
         Argument("4x3")),
    case("ad.gather", "gather_dynamic", [Argument("?x?", (4, 3)), OPEN_ROWS],
         "ad.gather %a0[%a1] axes [0] slices [0] : {0}, {1}", Argument("?x?", (3, 4))),
    case("ad.gather", "gather_pairs", [Argument("3x2x4"), *PAIRS],
         "ad.gather %a0[%a1, %a2] axes [0, 2] slices [1] : {0}, {1}, {2}", Argument("2x2x2")),
    case("ad.gather", "gather_batch", [Argument("4x5"), index([4, 0, 4, 2], (4,))],
         "ad.gather %a0[%a1] axes [1] batch [0] x [0] : {0}, {1}", Argument("4")),
    case("ad.gather", "gather_clamp", [Argument("4x3"), OUTSIDE],
         "ad.gather %a0[%a1] axes [0] slices [1] outside clamp : {0}, {1}", Argument("4x3")),
    case("ad.gather", "gather_fill", [Argument("4x3"), OUTSIDE],
         "ad.gather %a0[%a1] axes [0] slices [1] outside fill value 2.0 : {0}, {1}", Argument("4x3")),
    case("ad.take", "take", [Argument("2x4x3"), index([3, 0, 3, 3, 1, 2], (2, 3))],
         "ad.take %a0, %a1 axis 1 : {0}, {1}", Argument("2x2x3x3")),
    case("ad.take", "take_dynamic", [Argument("?x4", (3, 4)), OPEN_ROWS], "ad.take %a0, %a1 axis 1 : {0}, {1}",
         Argument("?x?", (3, 4))),
    case("ad.take", "take_fill", [Argument("4"), OUTSIDE], "ad.take %a0, %a1 axis 0 outside fill : {0}, {1}",
         Argument("4")),
    case("ad.embedding", "embedding", [Argument("4x3"), index([1, 1, 1, 1, 0, 2], (2, 3))],
         "ad.embedding %a0, %a1 : {0}, {1}", Argument("2x3x3")),
    # The row of the padding does not depend on anything, though the result depends on it.
    Case("ad.embedding", "embedding_padding", [Argument("4x3"), index([1, 3, 1, 0], (4,))],
         """%z = ad.embedding %a0, %a1 padding 3 : {0}, {1}
            %k = arith.constant 3 : i64
            %t = ad.full %k : i64 -> tensor<4xi64>
            %m = ad.compare ne %a1, %t : tensor<4xi64>, tensor<4xi64>
            %c = ad.reshape %m : tensor<4xi1> -> tensor<4x1xi1>
            %o = ad.constant dense<0.0> : tensor<f64>
            %y = ad.select %c, %z, %o : tensor<4x1xi1>, {r}, tensor<f64>""", Argument("4x3")),
]

for kind in ("set", "add", "max", "min"):
    CASES += [
        case("ad.scatter", f"scatter_{kind}_rows", [Argument("4x3"), ROWS, Argument("4x3")],
             f"ad.scatter {kind} %a0[%a1], %a2 axes [0] slices [1] : {{0}}, {{1}}, {{2}}", Argument("4x3")),
        case("ad.scatter", f"scatter_{kind}_dynamic", [Argument("?x?", (4, 3)), OPEN_ROWS, Argument("?x?", (3, 4))],
             f"ad.scatter {kind} %a0[%a1], %a2 axes [0] slices [0] : {{0}}, {{1}}, {{2}}", Argument("?x?", (4, 3))),
        case("ad.scatter", f"scatter_{kind}_pairs", [Argument("3x2x4"), *PAIRS, Argument("2x2x2")],
             f"ad.scatter {kind} %a0[%a1, %a2], %a3 axes [0, 2] slices [1] : {{0}}, {{1}}, {{2}}, {{3}}",
             Argument("3x2x4")),
        case("ad.scatter", f"scatter_{kind}_batch", [Argument("2x5"), index([4, 0, 4, 2], (2, 2)), Argument("2x2")],
             f"ad.scatter {kind} %a0[%a1], %a2 axes [1] batch [0] x [0] : {{0}}, {{1}}, {{2}}", Argument("2x5")),
        case("ad.scatter", f"scatter_{kind}_clamp", [Argument("4x3"), OUTSIDE, Argument("4x3")],
             f"ad.scatter {kind} %a0[%a1], %a2 axes [0] slices [1] outside clamp : {{0}}, {{1}}, {{2}}",
             Argument("4x3")),
        case("ad.scatter", f"scatter_{kind}_drop", [Argument("4x3"), OUTSIDE, Argument("4x3")],
             f"ad.scatter {kind} %a0[%a1], %a2 axes [0] slices [1] outside drop : {{0}}, {{1}}, {{2}}",
             Argument("4x3")),
        case("ad.scatter", f"scatter_{kind}_elements", [Argument("5"), index([1, 1, 4, 1], (4,)), Argument("4")],
             f"ad.scatter {kind} %a0[%a1], %a2 axes [0] : {{0}}, {{1}}, {{2}}", Argument("5")),
    ]
