# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of convolutions and of reductions of moving windows: letters, strides, paddings, dilations, and sizes
that types leave open."""

from case import Argument, Case


def conv(name, x, w, rest, result):
    # The second derivative is one by a filter that has the sizes of the result: they must be static.
    return Case("ad.conv", name, [x, w], f"%y = ad.conv %a0, %a1 dims {rest} : ({{0}}, {{1}}) -> {{r}}", result,
                second_order=not result.is_dynamic())


CASES = [
    conv("conv", Argument("2x5x4x3"), Argument("3x2x3x2"), '"b01c,01co->b01o"', Argument("2x3x3x2")),
    conv("conv_padded", Argument("2x4x4x2"), Argument("3x3x2x3"), '"b01c,01co->b01o" low [1, 2] high [1, 0]',
         Argument("2x4x4x3")),
    # The last elements of the input are in no window.
    conv("conv_strided", Argument("1x2x8x7"), Argument("3x2x3x2"), '"bc01,oc01->bo01" strides [2, 3]',
         Argument("1x3x3x2")),
    conv("conv_dilated", Argument("7x2"), Argument("3x2x2"), '"0c,0co->0o" low [1] filter_dilation [2]', Argument("4x2")),
    # A transposed convolution.
    conv("conv_of_zeros", Argument("4x2"), Argument("3x2x2"), '"0c,0co->0o" low [2] high [1] input_dilation [2]',
         Argument("8x2")),
    conv("conv_cropped", Argument("6x2"), Argument("2x2"), '"0c,0c->0" strides [2] low [-1] high [-2] input_dilation [2]',
         Argument("4")),
    conv("conv_all", Argument("9x2"), Argument("3x2x2"),
         '"0c,0co->o0" strides [3] low [2] high [-1] input_dilation [2] filter_dilation [2]', Argument("2x5")),
    conv("conv_grouped", Argument("5x2x3"), Argument("2x2x3x2"), '"0gc,g0co->0go"', Argument("4x2x2")),
    conv("conv_depthwise", Argument("2x5x4x3"), Argument("2x2x3x2"), '"b01c,01cm->b01cm" strides [2, 1]',
         Argument("2x2x3x3x2")),
    conv("conv_pointwise", Argument("2x3x2x4"), Argument("1x1x4x3"), '"b01c,01co->bo01"', Argument("2x3x3x2")),
    conv("conv_three", Argument("3x4x3x2"), Argument("2x2x3x2x2"), '"012c,201co->012o"', Argument("2x2x2x2")),
    conv("conv_open", Argument("?x?x?x2", (2, 6, 5, 2)), Argument("3x2x2x?", (3, 2, 2, 3)),
         '"b01c,01co->b01o" strides [2, 1] low [1, 0] high [0, 1]', Argument("?x?x?x?", (2, 3, 5, 3))),
    # Windows that are longer than the input: there are none, and derivatives are zero. Then a filter without elements.
    conv("conv_no_window", Argument("2x?", (2, 1)), Argument("3x3x?", (3, 3, 2)),
         '"c0,o0c->o0" strides [2] high [3] input_dilation [9] filter_dilation [3]', Argument("3x?", (3, 0))),
    conv("conv_short", Argument("?x2", (2, 2)), Argument("4x2"), '"0c,0c->0" low [1]', Argument("?", (0,))),
    conv("conv_no_filter", Argument("3x?", (3, 4)), Argument("?x0", (2, 0)), '"a0,b0->ab0" high [2] input_dilation [2]',
         Argument("3x?x?", (3, 2, 9))),
    Case("ad.reduce_window", "reduce_window_max", [Argument("4x6")],
         "%y = ad.reduce_window max %a0 window [2, 3] strides [2, 3] : {0}", Argument("2x2")),
    Case("ad.reduce_window", "reduce_window_min", [Argument("?x?", (5, 6))],
         "%y = ad.reduce_window min %a0 window [3, 2] strides [1, 2] low [1, 0] high [0, 1] : {0}", Argument("?x?", (4, 3))),
    Case("ad.reduce_window", "reduce_window_sum", [Argument("5x7")],
         "%y = ad.reduce_window sum %a0 window [2, 3] strides [1, 2] dilation [2, 1] high [0, 2] : {0}", Argument("3x4")),
    Case("ad.reduce_window", "reduce_window_mean", [Argument("?x6", (5, 6))],
         "%y = ad.reduce_window mean %a0 window [3, 2] strides [2, 2] low [1, 0] high [1, 0] : {0}", Argument("?x3", (3, 3))),
    Case("ad.reduce_window", "reduce_window_at", [Argument("4x6")],
         """%p = ad.arg_reduce_window max %a0 window [2, 2] strides [1, 2] : {0}
            %s = ad.mul %a0, %a0 : {0}, {0}
            %y = ad.reduce_window sum %s at %p window [2, 2] strides [1, 2] : {0}, tensor<3x3xi64>""", Argument("3x3")),
    # Positions are integers, which carry no gradient.
    Case("ad.arg_reduce_window", "arg_reduce_window", [Argument("4x6")],
         """%p = ad.arg_reduce_window max %a0 window [1, 2] strides [1, 2] : {0}
            %f = ad.cast %p : tensor<4x3xi64> -> {r}
            %m = ad.reduce_window max %a0 window [1, 2] strides [1, 2] : {0}
            %y = ad.mul %m, %f : {r}, {r}""", Argument("4x3")),
    Case("ad.spread_window", "spread_window", [Argument("2x3")],
         "%y = ad.spread_window %a0 window [2, 2] strides [3, 2] high [1, 0] : ({0}) -> {r}", Argument("5x7")),
    Case("ad.spread_window", "spread_window_at", [Argument("3x3")],
         """%p = ad.constant dense<[[0, 1, 2], [3, 4, -1], [1, 1, 0]]> : tensor<3x3xi64>
            %y = ad.spread_window %a0 at %p window [2, 2] strides [1, 2] : ({0}, tensor<3x3xi64>) -> {r}""",
         Argument("4x6")),
]
