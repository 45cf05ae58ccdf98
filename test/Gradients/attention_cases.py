# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of attention: masks of both kinds, causal, windows, softcap, shared heads, chunks, open sizes, both
results."""

from case import Argument, Case

QUERY, KEY, VALUE, RESULT = Argument("2x4x3x5"), Argument("2x2x6x5"), Argument("2x2x6x2"), Argument("2x4x3x2")

MASK = str([[[[True, False, True, True, False, True]], [[False] * 6], [[False] * 4 + [True] * 2],
             [[True] * 6]]]).lower()


def case(name, text, arguments=(), types="", operands=(QUERY, KEY, VALUE), result=RESULT, before="", **options):
    """Attention of the operands with `text` after them, and of the types of what it names."""
    body = f"{before}\n%y, %l = ad.attention %a0, %a1, %a2 {text} : {{0}}, {{1}}, {{2}}{types}"
    return Case("ad.attention", name, [*operands, *arguments], body, result, **options)


CASES = [
    case("attention", ""),
    case("attention_causal_chunks", "causal chunk 2"),
    case("attention_window", "window 2 scale 0.7 chunk 1"),
    case("attention_causal_window", "causal window 2 chunk 4"),
    case("attention_softcap", "softcap 0.5 chunk 4"),
    # Of one head no key counts, of another one none of the first chunk.
    case("attention_mask", "mask %m chunk 4", [], ", tensor<1x4x1x6xi1>", before=f"%m = ad.constant dense<{MASK}> : "
         "tensor<1x4x1x6xi1>"),
    case("attention_bias", "mask %a3 chunk 4", [Argument("2x1x3x6")], ", {3}"),
    case("attention_bias_of_heads", "mask %a3 causal softcap 2.0", [Argument("1x4x1x6")], ", {3}"),
    case("attention_open", "causal", (), "",
         (Argument("?x4x?x5", (2, 4, 3, 5)), Argument("?x2x?x5", (2, 2, 6, 5)), Argument("2x2x?x2", (2, 2, 6, 2))),
         Argument("?x4x?x2", (2, 4, 3, 2)), second_order=False),
    # Both results.
    Case("ad.attention", "attention_log_sum", [QUERY, KEY, VALUE],
         """%z, %l = ad.attention %a0, %a1, %a2 chunk 4 : {0}, {1}, {2}
            %c = ad.reshape %l : tensor<2x4x3xf64> -> tensor<2x4x3x1xf64>
            %y = ad.mul %z, %c : {r}, tensor<2x4x3x1xf64>""", RESULT),
    Case("ad.attention", "attention_log_sum_alone", [QUERY, KEY, VALUE],
         "%z, %y = ad.attention %a0, %a1, %a2 causal : {0}, {1}, {2}", Argument("2x4x3")),
]
