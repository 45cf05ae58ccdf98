# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Written by scripts/generate_docs.py from include/adjoint/Dialect/AD/IR; do not edit.
"""The operations of the `ad` dialect as functions of traced tensors, one for each.

Operands are traced tensors, arrays or numbers; a number takes the element type of the tensors beside it. Where an
operation does not infer its results, `type` is the type of the result, e.g. adjoint.spec("4 ?", "f32"). `order` and
`allow` are the numerics contract as text (docs/numerics.md); nothing is the mode of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ._attributes import TypeLike
from ._emit import Operand, emit

if TYPE_CHECKING:
    from ._tensor import Tensor

__all__ = [
    "abs",
    "add",
    "and_",
    "arg_reduce_window",
    "argmax",
    "argmin",
    "argsort",
    "atan2",
    "attention",
    "attention_grad",
    "barrier",
    "batch_norm",
    "batch_norm_inference",
    "bitcast",
    "broadcast",
    "cast",
    "cast_stochastic",
    "ceil",
    "clamp",
    "compare",
    "concat",
    "constant",
    "conv",
    "cos",
    "cross_entropy",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "div",
    "dot",
    "dropout",
    "dynamic_slice",
    "dynamic_update_slice",
    "embedding",
    "erf",
    "exp",
    "exp2",
    "expm1",
    "feed",
    "floor",
    "fma",
    "full",
    "gather",
    "gelu",
    "gemm",
    "group_norm",
    "iota",
    "is_finite",
    "layer_norm",
    "log",
    "log1p",
    "log2",
    "log_softmax",
    "logsumexp",
    "max",
    "min",
    "mul",
    "neg",
    "not_",
    "one_hot",
    "or_",
    "pad",
    "pow",
    "receive",
    "recip",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduce_window",
    "relu",
    "rem",
    "reshape",
    "reverse",
    "rms_norm",
    "rng_bits",
    "rng_normal",
    "rng_uniform",
    "rotary_embedding",
    "round_even",
    "rsqrt",
    "scaled_dot",
    "scatter",
    "select",
    "shift_left",
    "shift_right",
    "shift_right_logical",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "slice",
    "softmax",
    "softplus",
    "sort",
    "spread_window",
    "sqrt",
    "stop_gradient",
    "sub",
    "sum_to_shape",
    "take",
    "tan",
    "tanh",
    "top_k",
    "transpose",
    "xor",
]


def abs(input: Operand, *, allow: str | None = None) -> Tensor:
    """Absolute value.

    Semantics: |x|; the sign bit is cleared, NaN stays NaN; of the smallest integer: itself.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * sign(x).

    Example:
    ```mlir
    %y = ad.abs %x : tensor<4xf32>
    ```
    """
    return emit("ad.abs", [(input,)], [("allow", "allow", allow)])[0]


def add(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Sum.

    Semantics: x + y; integers wrap.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g and g, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.add %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.add", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def and_(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Bitwise and.

    Semantics: each bit of x and y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.and %x, %y : tensor<4xi1>
    ```
    """
    return emit("ad.and", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def arg_reduce_window(
    input: Operand,
    *,
    kind: str,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    allow: str | None = None,
) -> Tensor:
    """Positions of the largest or smallest elements of moving windows.

    Semantics: for each place of the window, as in ad.reduce_window, the i64 position of its `max` or `min`: the number
    of the element in row-major order, elements outside of the input included. The first of equal elements wins, and
    the first NaN wins over all numbers; -0 < +0.

    Constraints: (C1) the kind is max or min; (C2) there is a number for each axis in the window, and in each list that
    is written; (C3) windows, strides and dilations are positive and paddings not negative, all below 2^31.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %p = ad.arg_reduce_window max %x window [2, 2] strides [2, 2] : tensor<4x6xf32>
    ```
    """
    return emit(
        "ad.arg_reduce_window",
        [(input,)],
        [
            ("kind", "string", kind),
            ("window", "axes", window),
            ("strides", "axes", strides),
            ("dilation", "axes", dilation),
            ("low", "axes", low),
            ("high", "axes", high),
            ("allow", "allow", allow),
        ],
    )[0]


def argmax(input: Operand, *, axis: int, allow: str | None = None) -> Tensor:
    """Index of the largest element.

    Semantics: the i64 index along the axis of the largest element; the first one wins, and the first NaN wins over all
    numbers; -0 < +0, and false < true. The axis may not be empty.

    Constraints: (C1) the axis is one of the input's; (C2) a static size along the axis is not 0; (C3) the
    result has elements of type i64 and the sizes of the input without the axis.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %y = ad.argmax %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit("ad.argmax", [(input,)], [("axis", "integer", axis), ("allow", "allow", allow)])[0]


def argmin(input: Operand, *, axis: int, allow: str | None = None) -> Tensor:
    """Index of the smallest element.

    Semantics: the i64 index along the axis of the smallest element; the first one wins, and the first NaN wins over all
    numbers; -0 < +0, and false < true. The axis may not be empty.

    Constraints: (C1) the axis is one of the input's; (C2) a static size along the axis is not 0; (C3) the
    result has elements of type i64 and the sizes of the input without the axis.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %y = ad.argmin %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit("ad.argmin", [(input,)], [("axis", "integer", axis), ("allow", "allow", allow)])[0]


def argsort(input: Operand, *, axis: int, descending: bool = False, allow: str | None = None) -> Tensor:
    """Positions of the elements in order.

    Semantics: the i64 positions along the axis of the elements in ascending order, or in descending order with
    `descending`. Equal elements keep their order in both, and -0 equals +0. NaNs come last in both, in their order.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: none: the result is an integer.

    Example:
    ```mlir
    %p = ad.argsort %x axis 1 : tensor<4x3xf32>
    %q = ad.argsort %x axis 1 descending : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.argsort",
        [(input,)],
        [("axis", "integer", axis), ("descending", "unit", descending), ("allow", "allow", allow)],
    )[0]


def atan2(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Angle of a point.

    Semantics: the angle of the point (y, x), with the special cases of C Annex F; the first operand is y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * x / (x^2 + y^2) and -g * y / (x^2 + y^2), without squares that overflow or underflow; NaN at (0, 0).

    Example:
    ```mlir
    %z = ad.atan2 %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.atan2", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def attention(
    query: Operand,
    key: Operand,
    value: Operand,
    mask: Operand | None = None,
    *,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    chunk: int | None = None,
    allow: str | None = None,
) -> tuple[Tensor, ...]:
    """Weighted means of values, with softmax of scores between queries and keys as weights.

    Semantics: for query i, with scores s[j] = softcap * tanh(scale * (q[i] . k[j]) / softcap), or scale * (q[i] . k[j])
    without softcap, plus mask[i, j]: the sum over keys j of softmax(s)[j] * v[j]. The scale is 1 / sqrt(depth) unless it
    is written. A key does not count where a boolean mask is false, with `causal` if j > i, with `window` w if
    i - j >= w or j - i >= w. A query for which no key counts has zeros. With fewer heads of keys and values, each
    serves as many adjacent heads of queries. The second result is log(sum(exp(s))), in the accumulator's type. The
    keys come in chunks, in an order that docs/spec/attention.md writes: no tensor has the scores of more than 256
    queries and a chunk.

    Constraints: (C1) query [batch, heads, queries, depth], key [batch, groups, keys, depth] and value [batch, groups,
    keys, width] have rank 4 and one element type; (C2) sizes of one name agree; (C3) heads, groups, depth and width are
    static and at least 1, and heads is a multiple of groups; (C4) the mask has rank 4, the elements i1 or those of the
    query, and sizes of 1 or of [batch, heads, queries, keys]; (C5) window and chunk are at least 1, scale is finite,
    softcap is finite and positive.

    Adjoint: ad.attention_grad, which computes the scores again.

    Example:
    ```mlir
    %y, %l = ad.attention %q, %k, %v causal : tensor<2x8x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>
    %z, %m = ad.attention %q, %k, %v mask %b scale 0.125 : tensor<2x8x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x1x1x64xi1>
    ```
    """
    return emit(
        "ad.attention",
        [(query,), (key,), (value,), () if mask is None else (mask,)],
        [
            ("causal", "unit", causal),
            ("window", "integer", window),
            ("scale", "number", scale),
            ("softcap", "number", softcap),
            ("chunk", "integer", chunk),
            ("allow", "allow", allow),
        ],
    )


def attention_grad(
    query: Operand,
    key: Operand,
    value: Operand,
    log_sum: Operand,
    delta: Operand,
    cotangent: Operand,
    mask: Operand | None = None,
    *,
    causal: bool = False,
    window: int | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    chunk: int | None = None,
    allow: str | None = None,
) -> tuple[Tensor, ...]:
    """Cotangents of the operands of ad.attention.

    Semantics: with the weights p[i, j] = exp(s[i, j] - logSum[i]) of ad.attention, for the cotangent g of its first
    result and d[i, j] = p[i, j] * (g[i] . v[j] - delta[i]): of the values, the sum over i of p[i, j] * g[i]; of the
    scores, d; of queries and keys those of s[i, j]; of a mask of floats, d summed to its sizes, as a fourth result.
    delta[i] is the sum of g[i] times the first result of the query, less the cotangent of logSum[i].

    Constraints: (C1) query, key, value, mask and attributes are those of ad.attention; (C2) the cotangent has the
    type of its first result; (C3) logSum and delta have the type of its second result.

    Adjoint: that of the decomposition, which needs static numbers of queries and keys.

    Example:
    ```mlir
    %dq, %dk, %dv = ad.attention_grad %q, %k, %v, %l, %d, %g causal : tensor<2x8x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x8x64xf32>, tensor<2x8x64xf32>, tensor<2x8x64x32xf32>
    ```
    """
    return emit(
        "ad.attention_grad",
        [(query,), (key,), (value,), (log_sum,), (delta,), (cotangent,), () if mask is None else (mask,)],
        [
            ("causal", "unit", causal),
            ("window", "integer", window),
            ("scale", "number", scale),
            ("softcap", "number", softcap),
            ("chunk", "integer", chunk),
            ("allow", "allow", allow),
        ],
    )


def barrier(inputs: Sequence[Operand]) -> tuple[Tensor, ...]:
    """Identity that no rewrite sees through.

    Semantics: returns its operands. Never folded, merged with another barrier or moved through; its results have no
    known value and no known relation to the operands.

    Constraints: (C1) there is at least one operand; (C2) the results have the types of the operands.

    Adjoint: a barrier of the cotangents.

    Example:
    ```mlir
    %y = ad.barrier %x : tensor<4xf32>
    ```
    """
    return emit("ad.barrier", [inputs], [])


def batch_norm(
    input: Operand, scale: Operand, bias: Operand, *, axis: int, epsilon: float, allow: str | None = None
) -> tuple[Tensor, ...]:
    """Normalization of channels by the statistics of a batch, which are results too.

    Semantics: with u the mean of x over all axes but `axis`, which has the channels, d = x - u, and v the mean of d * d:
    d * rsqrt(v + epsilon) * scale + bias. u and v are the second and the third result, in the type of the accumulator.
    16- and 8-bit types are computed in f32, and the first result rounds once at the end.

    Constraints: (C1) `axis` is an axis of the input; (C2) there is a static number of channels; (C3) scale and bias are
    vectors with the element type of the input and the number of channels; (C4) epsilon is finite and not negative.

    Adjoint: that of the decomposition.

    Example:
    ```mlir
    %y, %mean, %variance = ad.batch_norm %x, %scale, %bias axis 1 epsilon 1.0e-5 : tensor<2x8x4x4xf32>, tensor<8xf32>
    ```
    """
    return emit(
        "ad.batch_norm",
        [(input,), (scale,), (bias,)],
        [("axis", "integer", axis), ("epsilon", "number", epsilon), ("allow", "allow", allow)],
    )


def batch_norm_inference(
    input: Operand,
    scale: Operand,
    bias: Operand,
    mean: Operand,
    variance: Operand,
    *,
    axis: int,
    epsilon: float,
    allow: str | None = None,
) -> Tensor:
    """Normalization of channels by given statistics.

    Semantics: (x - mean) * rsqrt(variance + epsilon) * scale + bias, with the statistics of the element's channel, which
    is along `axis`. 16- and 8-bit types are computed in f32 and rounded once at the end.

    Constraints: (C1) `axis` is an axis of the input; (C2) there is a static number of channels; (C3) scale and bias are
    vectors with the element type of the input and the number of channels, mean and variance have that type, too, or
    that of the accumulator; (C4) epsilon is finite and not negative.

    Adjoint: that of the decomposition.

    Example:
    ```mlir
    %y = ad.batch_norm_inference %x, %scale, %bias, %mean, %variance axis 1 epsilon 1.0e-5 : tensor<2x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>
    ```
    """
    return emit(
        "ad.batch_norm_inference",
        [(input,), (scale,), (bias,), (mean,), (variance,)],
        [("axis", "integer", axis), ("epsilon", "number", epsilon), ("allow", "allow", allow)],
    )[0]


def bitcast(input: Operand, *, type: TypeLike, allow: str | None = None) -> Tensor:
    """The same bits as another element type.

    Semantics: each element's bits as an element of the other type. Sign and payload of a NaN are not in the contract
    (docs/numerics.md): every NaN has the bits of the positive quiet one without a payload.

    Constraints: (C1) the result has the shape of `input`; (C2) both element types have as many bits.

    Adjoint: none: bits are no numbers.

    Example:
    ```mlir
    %y = ad.bitcast %x : tensor<4xf32> -> tensor<4xi32>
    ```
    """
    return emit("ad.bitcast", [(input,)], [("allow", "allow", allow)], type=type)[0]


def broadcast(input: Operand, sizes: Sequence[Operand] = (), *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Repetition to a larger shape.

    Semantics: aligned from the right, each dimension of the input either has the size of the result or is 1 and
    repeats; new leading dimensions repeat. Whether a `?` is 1 is decided at run time; any other size is a run-time
    error.

    Constraints: (C1) the result has the element type of the input; (C2) there is one size operand for each
    dynamic dimension of the result; (C3) the rank of the input is at most that of the result; (C4) aligned from
    the right, a static size of the input is 1 or agrees with the static size of the result.

    Adjoint: the cotangent summed to the input's shape (ad.sum_to_shape).

    Example:
    ```mlir
    %y = ad.broadcast %x(%n) : tensor<1x3xf32> -> tensor<?x3xf32>
    ```
    """
    return emit("ad.broadcast", [(input,), sizes], [("allow", "allow", allow)], type=type, indices=1)[0]


def cast(input: Operand, *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Conversion to another element type.

    Semantics: each element converted. Float to float and integer to float round to nearest even, once; a finite value
    too large for an 8-bit float saturates; float to integer saturates and NaN gives 0; integers wrap or sign-extend; to
    i1 is x != 0.

    Constraints: (C1) the result has the shape of `input`.

    Adjoint: the cotangent cast back; none when either side is an integer.

    Example:
    ```mlir
    %y = ad.cast %x : tensor<4xf32> -> tensor<4xbf16>
    ```
    """
    return emit("ad.cast", [(input,)], [("allow", "allow", allow)], type=type)[0]


def cast_stochastic(
    input: Operand, key: Operand, counter: Operand, *, type: TypeLike, allow: str | None = None
) -> Tensor:
    """Conversion to a narrower float with stochastic rounding.

    Semantics: each element rounded to one of the two adjacent values that enclose it, to the upper one with the
    probability distance / ulp. For a magnitude that is d units above the value next below, the result is the value next
    above exactly if floor(d * 2^32) + R >= 2^32, where R is the i32 word of `ad.rng_bits` without sign. Values of the
    result's type are kept. A result that is too large, infinities and NaN are those of `ad.cast`.

    Constraints: (C1) the shapes of the operands broadcast; (C2) the result has the broadcast shape.

    Adjoint: the cotangent cast back, summed to the shape of `input`; none for `key` and `counter`.

    Example:
    ```mlir
    %y = ad.cast_stochastic %x, %key, %counter : tensor<4xf32>, tensor<i64>, tensor<4xi64> -> tensor<4xbf16>
    ```
    """
    return emit("ad.cast_stochastic", [(input,), (key,), (counter,)], [("allow", "allow", allow)], type=type)[0]


def ceil(input: Operand, *, allow: str | None = None) -> Tensor:
    """Smallest integer not below.

    Semantics: ceil x; keeps -0, infinities and NaN.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.ceil %x : tensor<4xf32>
    ```
    """
    return emit("ad.ceil", [(input,)], [("allow", "allow", allow)])[0]


def clamp(input: Operand, low: Operand, high: Operand, *, allow: str | None = None) -> Tensor:
    """Value limited to an interval.

    Semantics: min(max(x, low), high) with the IEEE functions: NaN in any operand gives NaN; where low > high the result
    is high.

    Constraints: (C1) all three have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g to x strictly inside the interval, to low where x < low, to high where x > high; at a limit to x; where
    low > high to high.

    Example:
    ```mlir
    %z = ad.clamp %x, %low, %high : tensor<4xf32>, tensor<f32>, tensor<f32>
    ```
    """
    return emit("ad.clamp", [(input,), (low,), (high,)], [("allow", "allow", allow)])[0]


def compare(
    lhs: Operand, rhs: Operand, *, predicate: Literal["eq", "ne", "lt", "le", "gt", "ge"], allow: str | None = None
) -> Tensor:
    """Comparison.

    Semantics: 1 where the predicate holds. Comparisons with NaN are false, `ne` is true. Integers are signed, i1 is 0
    or 1.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and element type i1.

    Adjoint: none: the result is boolean.

    Example:
    ```mlir
    %m = ad.compare lt %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit(
        "ad.compare", [(lhs,), (rhs,)], [("predicate", "enum:predicate", predicate), ("allow", "allow", allow)]
    )[0]


def concat(inputs: Sequence[Operand], *, axis: int, allow: str | None = None) -> Tensor:
    """Concatenation along an axis.

    Semantics: the inputs in order along the axis; other dimensions agree.

    Constraints: (C1) there is at least one input; (C2) the axis is one of the inputs'; (C3) inputs have one
    rank and one element type; (C4) static sizes agree outside the axis; (C5) a static size of the result is
    below 2^63.

    Adjoint: the slices of the cotangent.

    Example:
    ```mlir
    %y = ad.concat axis 1 %a, %b : tensor<2x3xf32>, tensor<2x5xf32>
    ```
    """
    return emit("ad.concat", [inputs], [("axis", "integer", axis), ("allow", "allow", allow)])[0]


def constant(*, value: object) -> Tensor:
    """Constant tensor.

    Semantics: the tensor that the attribute holds.

    Constraints: (C1) `value` is a ranked tensor of floats, i1, i8, i32 or i64; the result has its type; (C2) every
    element is written down, or is in a resource that exists and has the right length (booleans: one byte each).

    Adjoint: none: no operands.

    Example:
    ```mlir
    %c = ad.constant dense<1.0> : tensor<4xf32>
    ```
    """
    return emit("ad.constant", [], [("value", "elements", value)])[0]


def conv(
    input: Operand,
    filter: Operand,
    *,
    dims: str,
    strides: Sequence[int] | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    input_dilation: Sequence[int] | None = None,
    filter_dilation: Sequence[int] | None = None,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Convolution.

    Semantics: `dims` names the axes of input, filter and result by letters, as in "b01c,01co->b01o": digits are spatial
    axes, which all three have. The result is the sum over the filter's spatial axes, and over letters that the result
    does not have, of input times filter. Along a spatial axis, element i of the result and element k of the filter
    meet element i * stride + k * filter_dilation of the padded input. The padded input is the input with
    input_dilation - 1 zeros between neighbours, and `low` zeros before and `high` zeros after it; negative numbers take
    elements away. Letters that all three have are groups. Lists have a number for each spatial axis, in the order of
    the digits; strides and dilations are 1 and paddings 0 where they are not written. An empty filter axis counts as
    one element for the size of the result. Accumulates as ad.dot does, in the order of the filter's axes.

    Constraints: (C1) operands have one element type, and the result has it or the accumulator's; (C2) `dims` has the
    form INPUT,FILTER->RESULT of lower-case letters and of the digits from 0 on; no part has one twice, all three have
    the same digits, and each letter is in two parts at least; (C3) each part has a letter or digit for each axis; (C4)
    each list has a number for each spatial axis, strides and dilations are positive, and all are below 2^31; (C5)
    static sizes of axes with one letter agree; (C6) the result has the sizes of its letters, and along spatial axes
    those of the places where the filter is inside of the padded input.

    Adjoint: of the input: ad.conv of the cotangent with the reversed filter, strides and input dilations exchanged. Of
    the filter: ad.conv of the input with the cotangent as the filter, strides and filter dilations exchanged.

    Example:
    ```mlir
    %y = ad.conv %x, %w dims "b01c,01co->b01o" strides [2, 2] low [1, 1] high [1, 1]
        : (tensor<8x32x32x16xf32>, tensor<3x3x16x24xf32>) -> tensor<8x16x16x24xf32>
    ```
    """
    return emit(
        "ad.conv",
        [(input,), (filter,)],
        [
            ("dims", "string", dims),
            ("strides", "axes", strides),
            ("low", "axes", low),
            ("high", "axes", high),
            ("input_dilation", "axes", input_dilation),
            ("filter_dilation", "axes", filter_dilation),
            ("order", "order", order),
            ("allow", "allow", allow),
        ],
        type=type,
    )[0]


def cos(input: Operand, *, allow: str | None = None) -> Tensor:
    """Cosine.

    Semantics: cos x, in radians, for every finite input.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g * sin(x).

    Example:
    ```mlir
    %y = ad.cos %x : tensor<4xf32>
    ```
    """
    return emit("ad.cos", [(input,)], [("allow", "allow", allow)])[0]


def cross_entropy(
    logits: Operand,
    labels: Operand,
    *,
    ignored: int | None = None,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Negative log-likelihood of labels under softmax.

    Semantics: along the last axis, with l = log_softmax(logits): -sum(labels * l) for labels of the logits' type and
    shape (probabilities), or -l[label] for i32 or i64 class numbers of the shape without the last axis. A row is
    ignored, with a loss of 0, if its class number is negative, or, where `ignored` is written, if it is that number.
    Numbers of other rows are at least 0 and below the number of classes, or an error at run time. One loss per row, no
    mean. 16- and 8-bit types are computed in f32 and rounded once at the end.

    Constraints: (C1) the rank of the logits is at least 1; (C2) labels have the element type of the logits, or
    i32 or i64; (C3) labels have the shape of the logits, class numbers without the last axis; (C4) the result
    has the element type of the logits and their shape without the last axis; (C5) `ignored` is a number of the type of
    the labels, which are class numbers.

    Adjoint: of the logits: g * (softmax(logits) * sum(labels) - labels), one-hot for class numbers; of probabilities:
    -g * l.

    Example:
    ```mlir
    %loss = ad.cross_entropy %logits, %labels : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
    %padded = ad.cross_entropy %logits, %labels ignored 0 : tensor<32x10xf32>, tensor<32xi32> -> tensor<32xf32>
    ```
    """
    return emit(
        "ad.cross_entropy",
        [(logits,), (labels,)],
        [("ignored", "integer", ignored), ("order", "order", order), ("allow", "allow", allow)],
        type=type,
    )[0]


def cummax(input: Operand, *, axis: int, order: str | None = None, allow: str | None = None) -> Tensor:
    """Running maximum along an axis.

    Semantics: element i is the IEEE maximum of the elements 0 to i: NaN propagates, -0 < +0.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g(i) goes to the element that result i is, to the first of several equal ones.

    Example:
    ```mlir
    %y = ad.cummax %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.cummax", [(input,)], [("axis", "integer", axis), ("order", "order", order), ("allow", "allow", allow)]
    )[0]


def cummin(input: Operand, *, axis: int, order: str | None = None, allow: str | None = None) -> Tensor:
    """Running minimum along an axis.

    Semantics: element i is the IEEE minimum of the elements 0 to i: NaN propagates, -0 < +0.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g(i) goes to the element that result i is, to the first of several equal ones.

    Example:
    ```mlir
    %y = ad.cummin %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.cummin", [(input,)], [("axis", "integer", axis), ("order", "order", order), ("allow", "allow", allow)]
    )[0]


def cumprod(input: Operand, *, axis: int, order: str | None = None, allow: str | None = None) -> Tensor:
    """Running product along an axis.

    Semantics: element i is the product of the elements 0 to i in the written order, accumulated in f32 (f64 for f64;
    integers wrap); each result rounds once.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: at i, the product of the elements before i, times s(i) = g(i) + x(i + 1) * s(i + 1): without a division, so
    that zeros among the elements have the right one.

    Example:
    ```mlir
    %y = ad.cumprod %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.cumprod", [(input,)], [("axis", "integer", axis), ("order", "order", order), ("allow", "allow", allow)]
    )[0]


def cumsum(input: Operand, *, axis: int, order: str | None = None, allow: str | None = None) -> Tensor:
    """Running sum along an axis.

    Semantics: element i is the sum of the elements 0 to i in the written order, accumulated in f32 (f64 for f64;
    integers wrap); each result rounds once.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: the reversed running sum of the cotangent.

    Example:
    ```mlir
    %y = ad.cumsum %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.cumsum", [(input,)], [("axis", "integer", axis), ("order", "order", order), ("allow", "allow", allow)]
    )[0]


def div(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Quotient.

    Semantics: x / y; integers truncate toward zero, x / 0 is 0 and MIN / -1 is MIN.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g / y and -g * x / y^2, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.div %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.div", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def dot(
    lhs: Operand,
    rhs: Operand,
    *,
    lhs_batch: Sequence[int],
    rhs_batch: Sequence[int],
    lhs_contract: Sequence[int],
    rhs_contract: Sequence[int],
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Contraction of two tensors.

    Semantics: result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n] with any batch (b) and contracting (k) axes;
    the result's axes are the batch axes, then the free axes of lhs, then those of rhs. Without lists it is NumPy's
    matmul for ranks of at least one, with equal batch axes: batch axes lead, and the last axis of lhs is contracted
    with the last but one of rhs (the only one of a vector). Accumulates in f32 (f64 for f64; integers wrap) in the
    written order and rounds once; the result is of the operands' type or of the accumulator's. The operands have one
    element type, or two of the 8-bit float types.

    Constraints: (C1) operands have one element type, or each an 8-bit float type; the result has that of an
    operand or of the accumulator; (C2) there are as many batch axes of both operands, and as many contracting
    axes; (C3) axes are in range, and no axis is listed twice for its operand; (C4) static sizes of
    paired axes agree; (C5) the result has the sizes of the batch axes, then of the free axes of lhs, then of
    the free axes of rhs.

    Adjoint: ad.dot of the cotangent with the other operand, transposed to the operand's axes.

    Example:
    ```mlir
    %c = ad.dot %a, %b : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %d = ad.dot %a, %e batch [0] x [0] contract [2] x [2] : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
    ```
    """
    return emit(
        "ad.dot",
        [(lhs,), (rhs,)],
        [
            ("lhsBatch", "axes", lhs_batch),
            ("rhsBatch", "axes", rhs_batch),
            ("lhsContract", "axes", lhs_contract),
            ("rhsContract", "axes", rhs_contract),
            ("order", "order", order),
            ("allow", "allow", allow),
        ],
        type=type,
    )[0]


def dropout(input: Operand, key: Operand, counter: Operand, *, rate: float, allow: str | None = None) -> Tensor:
    """Elements that are zero at random.

    Semantics: element number e, in row-major order, is x / (1 - rate) where the uniform f32 number that
    `ad.rng_uniform` has for the key and `counter + e` is at least the rate, which is rounded to f32; else 0. 16- and
    8-bit types are computed in f32 and rounded once.

    Constraints: (C1) the rate is at least 0 and, rounded to f32, below 1.

    Adjoint: ad.dropout of the cotangent, with the same key and counter; nothing is saved. None for key and counter.

    Example:
    ```mlir
    %y = ad.dropout %x, %key, %counter rate 0.1 : tensor<4x3xf32>
    ```
    """
    return emit("ad.dropout", [(input,), (key,), (counter,)], [("rate", "number", rate), ("allow", "allow", allow)])[0]


def dynamic_slice(
    input: Operand,
    offsets: Sequence[Operand] = (),
    sizes: Sequence[Operand] = (),
    *,
    type: TypeLike,
    allow: str | None = None,
) -> Tensor:
    """Part of a tensor at computed offsets.

    Semantics: as ad.slice with stride 1 and one index operand per axis as offset. Reading outside the input is a
    run-time error; a part without elements along an axis may start anywhere there.

    Constraints: (C1) the result has the element type of the input; (C2) the result has the rank of the input;
    (C3) there is one offset for each axis; (C4) static sizes of the result are at most those of the input; (C5)
    there is one size operand for each dynamic dimension of the result.

    Adjoint: the cotangent written into a zero tensor at the same offsets.

    Example:
    ```mlir
    %y = ad.dynamic_slice %x[%i, %j] : tensor<4x10xf32> -> tensor<1x10xf32>
    ```
    """
    return emit(
        "ad.dynamic_slice",
        [(input,), offsets, sizes],
        [("allow", "allow", allow)],
        type=type,
        segmented=True,
        indices=2,
    )[0]


def dynamic_update_slice(
    input: Operand, update: Operand, offsets: Sequence[Operand] = (), *, allow: str | None = None
) -> Tensor:
    """Tensor with one part replaced.

    Semantics: the input, with the elements from the offsets on replaced by the update. Writing outside is a run-time
    error; an update without elements along an axis may start anywhere there.

    Constraints: (C1) the update has the element type of the input; (C2) the update has the rank of the input;
    (C3) there is one offset for each axis; (C4) static sizes of the update are at most those of the input.

    Adjoint: the cotangent with the part zeroed, to the input; the part of the cotangent, to the update.

    Example:
    ```mlir
    %y = ad.dynamic_update_slice %x, %u[%i, %j] : tensor<4x10xf32>, tensor<1x10xf32>
    ```
    """
    return emit("ad.dynamic_update_slice", [(input,), (update,), offsets], [("allow", "allow", allow)], indices=1)[0]


def embedding(table: Operand, ids: Operand, *, padding: int | None = None, allow: str | None = None) -> Tensor:
    """Rows of a table.

    Semantics: row `ids[i…]` of the table for each i: `ad.take` along axis 0. An index outside of the table is a run-time
    error. `padding` names a row that learns nothing: its gradient is 0.

    Constraints: (C1) the table has at least one axis; (C2) a padding row is one of the table's.

    Adjoint: the cotangent added to zeros at the same rows (ad.scatter add), without those of the padding row.

    Example:
    ```mlir
    %y = ad.embedding %table, %ids : tensor<100x8xf32>, tensor<2x3xi32>
    %z = ad.embedding %table, %ids padding 0 : tensor<100x8xf32>, tensor<2x3xi32>
    ```
    """
    return emit("ad.embedding", [(table,), (ids,)], [("padding", "integer", padding), ("allow", "allow", allow)])[0]


def erf(input: Operand, *, allow: str | None = None) -> Tensor:
    """Error function.

    Semantics: 2/sqrt(pi) times the integral of e^(-t^2) from 0 to x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * 2/sqrt(pi) * e^(-x^2).

    Example:
    ```mlir
    %y = ad.erf %x : tensor<4xf32>
    ```
    """
    return emit("ad.erf", [(input,)], [("allow", "allow", allow)])[0]


def exp(input: Operand, *, allow: str | None = None) -> Tensor:
    """Natural exponential.

    Semantics: e^x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * e^x.

    Example:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    ```
    """
    return emit("ad.exp", [(input,)], [("allow", "allow", allow)])[0]


def exp2(input: Operand, *, allow: str | None = None) -> Tensor:
    """Exponential of base two.

    Semantics: 2^x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * 2^x * ln 2.

    Example:
    ```mlir
    %y = ad.exp2 %x : tensor<4xf32>
    ```
    """
    return emit("ad.exp2", [(input,)], [("allow", "allow", allow)])[0]


def expm1(input: Operand, *, allow: str | None = None) -> Tensor:
    """Exponential minus one, exact near zero.

    Semantics: e^x - 1.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * e^x, as of `ad.exp`.

    Example:
    ```mlir
    %y = ad.expm1 %x : tensor<4xf32>
    ```
    """
    return emit("ad.expm1", [(input,)], [("allow", "allow", allow)])[0]


def feed(sizes: Sequence[Operand] = (), *, name: str, type: TypeLike) -> Tensor:
    """Next value of a stream of the host.

    Semantics: the next tensor of the named stream, once per execution of the operation, in order per name. Dynamic
    sizes are index operands; the host must deliver exactly the resulting shape. After memory planning, `into` names
    the buffer that the tensor is written into.

    Constraints: (C1) `name` is not empty; (C2) there is one size per dynamic dimension of the result, in order.

    Adjoint: none: no operands.

    Example:
    ```mlir
    %x = ad.feed "images" : tensor<32x64xf32>
    ```
    """
    return emit("ad.feed", [sizes, ()], [("name", "string", name)], type=type, segmented=True, indices=2)[0]


def floor(input: Operand, *, allow: str | None = None) -> Tensor:
    """Largest integer not above.

    Semantics: floor x; keeps -0, infinities and NaN.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.floor %x : tensor<4xf32>
    ```
    """
    return emit("ad.floor", [(input,)], [("allow", "allow", allow)])[0]


def fma(lhs: Operand, rhs: Operand, addend: Operand, *, allow: str | None = None) -> Tensor:
    """Fused multiply-add.

    Semantics: x * y + z rounded once (16- and 8-bit types: fused in f32, then rounded to the type).

    Constraints: (C1) all three have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * y, g * x and g, each summed to its operand's shape.

    Example:
    ```mlir
    %w = ad.fma %x, %y, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
    ```
    """
    return emit("ad.fma", [(lhs,), (rhs,), (addend,)], [("allow", "allow", allow)])[0]


def full(value: Operand, sizes: Sequence[Operand] = (), *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Tensor with one value everywhere.

    Semantics: every element is the scalar operand; dynamic sizes are index operands in the order of the `?`.

    Constraints: (C1) `value` has the element type of the result; (C2) there is one size per dynamic dimension of
    the result, in order.

    Adjoint: the sum of all elements of g, a scalar.

    Example:
    ```mlir
    %z = ad.full %scalar(%n) : f32 -> tensor<?x4xf32>
    ```
    """
    return emit("ad.full", [(value,), sizes], [("allow", "allow", allow)], type=type, indices=1)[0]


def gather(
    input: Operand,
    indices: Sequence[Operand],
    *,
    axes: Sequence[int],
    batch: Sequence[int] | None = None,
    index_batch: Sequence[int] | None = None,
    slices: Sequence[int] | None = None,
    outside: Literal["error", "clamp", "fill", "drop"] | None = None,
    fill: float | None = None,
    allow: str | None = None,
) -> Tensor:
    """Elements at indices that tensors hold.

    Semantics: `axes` lists an axis of the input for each tensor of indices; an element of the result is that of the input
    at the indices along these axes. The indices have one shape, whose axes are axes of the result. `slices` says which
    axes of the result, in ascending order, are the input's other axes. With `batch B x I`, axis B of the input and axis
    I of the indices are one axis of the result. An index outside of its axis is a run-time error that names it; with
    `outside clamp` the nearest index is read, with `outside fill` the element is the value that follows, 0 if none does,
    cast to the element type.

    Constraints: (C1) there is one tensor of indices for each listed axis, at least one; (C2) axes of the input are in
    range, ascending and unique, and none is in both lists; (C3) batch axes are as many of the indices as of the
    input, and those of the indices are in range and unique; (C4) static sizes of the indices, and of batch axes,
    agree; (C5) there is one slice for each other axis of the input, and they are axes of the result, ascending and
    unique; (C6) `outside` is `error`, `clamp` or `fill`; only with `fill`
    there is a value.

    Adjoint: the cotangent added to zeros at the same indices (ad.scatter add); elements that were filled get none.

    Example:
    ```mlir
    %y = ad.gather %x[%i] axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>
    %z = ad.gather %x[%i] axes [1] batch [0] x [0] outside clamp : tensor<5x4xf32>, tensor<5xi32>
    ```
    """
    return emit(
        "ad.gather",
        [(input,), indices],
        [
            ("axes", "axes", axes),
            ("batch", "axes", batch),
            ("indexBatch", "axes", index_batch),
            ("slices", "axes", slices),
            ("outside", "enum:outside", outside),
            ("fill", "number", fill),
            ("allow", "allow", allow),
        ],
    )[0]


def gelu(input: Operand, *, form: Literal["none", "tanh"] | None = None, allow: str | None = None) -> Tensor:
    """Gaussian error linear unit.

    Semantics: x * Phi(x) with the normal distribution Phi (`none`, the default), or the formula
    x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) (`tanh`).

    Constraints: (C1) the result has the type of `input`.

    Adjoint: g times the derivative of the chosen formula.

    Example:
    ```mlir
    %y = ad.gelu %x : tensor<4xf32>
    %z = ad.gelu %x form tanh : tensor<4xf32>
    ```
    """
    return emit("ad.gelu", [(input,)], [("form", "enum:gelu_form", form), ("allow", "allow", allow)])[0]


def gemm(
    lhs: Operand,
    rhs: Operand,
    bias: Operand | None = None,
    *,
    trans_a: bool = False,
    trans_b: bool = False,
    alpha: float | None = None,
    beta: float | None = None,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Matrix product with scaling, transposition and bias.

    Semantics: alpha * op(lhs) * op(rhs) + beta * bias, rounded once: the product accumulates as in ad.dot, is
    multiplied by alpha, and beta * bias is added, all in the accumulator's type. The bias broadcasts to the result.
    alpha and beta equal to 1 multiply nothing.

    Constraints: (C1) element types are as in C1 of `ad.dot`; the bias has that of lhs or of the result; (C2)
    operands and result have rank 2; (C3) static contracting sizes agree; (C4) the result has the rows of
    op(lhs) and the columns of op(rhs); (C5) the bias broadcasts to the result; (C6) without a bias, beta is 1.

    Adjoint: alpha * g * op(rhs)^T, alpha * op(lhs)^T * g (transposed as the operand is) and beta * g summed to the
    bias.

    Example:
    ```mlir
    %y = ad.gemm %x, %w, %b {transB} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
    ```
    """
    return emit(
        "ad.gemm",
        [(lhs,), (rhs,), () if bias is None else (bias,)],
        [
            ("transA", "unit", trans_a),
            ("transB", "unit", trans_b),
            ("alpha", "number", alpha),
            ("beta", "number", beta),
            ("order", "order", order),
            ("allow", "allow", allow),
        ],
        type=type,
    )[0]


def group_norm(
    input: Operand, scale: Operand, bias: Operand, *, groups: int, axis: int, epsilon: float, allow: str | None = None
) -> Tensor:
    """Normalization of groups of channels to mean 0 and variance 1, scaled and shifted.

    Semantics: axis 0 is the batch, and `axis` has the channels, which make `groups` groups of adjacent ones. A group of
    an example with all positions of the other axes is a row, channels first, of which `ad.layer_norm` computes mean and
    variance. Each element is then multiplied by the scale of its channel, and the bias is added. 16- and 8-bit types
    are computed in f32 and rounded once at the end.

    Constraints: (C1) `axis` is an axis of the input but the first; (C2) there is a static number of channels, a
    multiple of the groups, of which there is at least one; (C3) scale and bias are vectors with the element type of the
    input and the number of channels; (C4) epsilon is finite and not negative.

    Adjoint: that of the decomposition.

    Example:
    ```mlir
    %y = ad.group_norm %x, %scale, %bias groups 4 axis 1 epsilon 1.0e-5 : tensor<2x8x4x4xf32>, tensor<8xf32>
    ```
    """
    return emit(
        "ad.group_norm",
        [(input,), (scale,), (bias,)],
        [
            ("groups", "integer", groups),
            ("axis", "integer", axis),
            ("epsilon", "number", epsilon),
            ("allow", "allow", allow),
        ],
    )[0]


def iota(sizes: Sequence[Operand] = (), *, axis: int, type: TypeLike, allow: str | None = None) -> Tensor:
    """Ascending numbers along an axis.

    Semantics: each element is its index along the axis, converted to the element type.

    Constraints: (C1) 0 <= `axis` < rank of the result, whose elements are floats, i8, i32 or i64; (C2) there is one
    size per dynamic dimension of the result, in order.

    Adjoint: none: no operands.

    Example:
    ```mlir
    %z = ad.iota axis 0 (%n) : tensor<?xi32>
    ```
    """
    return emit("ad.iota", [sizes], [("axis", "integer", axis), ("allow", "allow", allow)], type=type, indices=1)[0]


def is_finite(input: Operand, *, allow: str | None = None, type: TypeLike | None = None) -> Tensor:
    """Whether a value is neither infinite nor NaN.

    Semantics: 1 where the input is finite, else 0.
    Constraints: (C1) the result has the shape of `input` and element type i1.
    Adjoint: none: the result is boolean.

    Example:
    ```mlir
    %y = ad.is_finite %x : tensor<4xf32> -> tensor<4xi1>
    ```
    """
    return emit("ad.is_finite", [(input,)], [("allow", "allow", allow)], type=type)[0]


def layer_norm(
    input: Operand, scale: Operand, bias: Operand, *, epsilon: float, order: str | None = None, allow: str | None = None
) -> Tensor:
    """Normalization of the last axis to mean 0 and variance 1, scaled and shifted.

    Semantics: with u the mean and d = x - u along the last axis, v the mean of d * d:
    d * rsqrt(v + epsilon) * scale + bias. 16- and 8-bit types are computed in f32 and rounded once at the end.

    Constraints: (C1) the rank of the input is at least 1; (C2) scale and bias are vectors with the element type
    of the input and the size of its last axis; (C3) epsilon is finite and not negative.

    Adjoint: of x: r * (h - mean(h) - n * mean(h * n)) with r = rsqrt(v + epsilon), n = d * r, h = g * scale; of scale:
    the sum of g * n over the other axes; of bias: the sum of g over the other axes.

    Example:
    ```mlir
    %y = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : tensor<4x8xf32>, tensor<8xf32>
    ```
    """
    return emit(
        "ad.layer_norm",
        [(input,), (scale,), (bias,)],
        [("epsilon", "number", epsilon), ("order", "order", order), ("allow", "allow", allow)],
    )[0]


def log(input: Operand, *, allow: str | None = None) -> Tensor:
    """Natural logarithm.

    Semantics: ln x; NaN below zero, -inf at zero.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / x.

    Example:
    ```mlir
    %y = ad.log %x : tensor<4xf32>
    ```
    """
    return emit("ad.log", [(input,)], [("allow", "allow", allow)])[0]


def log1p(input: Operand, *, allow: str | None = None) -> Tensor:
    """Logarithm of one plus the input, exact near zero.

    Semantics: ln(1 + x).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / (1 + x).

    Example:
    ```mlir
    %y = ad.log1p %x : tensor<4xf32>
    ```
    """
    return emit("ad.log1p", [(input,)], [("allow", "allow", allow)])[0]


def log2(input: Operand, *, allow: str | None = None) -> Tensor:
    """Logarithm of base two.

    Semantics: log2 x; NaN below zero, -inf at zero.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / (x * ln 2).

    Example:
    ```mlir
    %y = ad.log2 %x : tensor<4xf32>
    ```
    """
    return emit("ad.log2", [(input,)], [("allow", "allow", allow)])[0]


def log_softmax(input: Operand, *, axis: int, order: str | None = None, allow: str | None = None) -> Tensor:
    """Logarithm of softmax.

    Semantics: with m the maximum along the axis and s = x - m: s - log(sum(exp(s))). 16- and 8-bit types are computed
    in f32 and rounded once at the end.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g - exp(y) * sum(g) with y the result.

    Example:
    ```mlir
    %y = ad.log_softmax %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.log_softmax", [(input,)], [("axis", "integer", axis), ("order", "order", order), ("allow", "allow", allow)]
    )[0]


def logsumexp(input: Operand, *, axis: int, allow: str | None = None) -> Tensor:
    """Logarithm of the sum of exponentials along an axis.

    Semantics: with m the maximum along the axis, or 0 where that is not finite: log(sum(exp(x - m))) + m. 16- and 8-bit
    types are computed in f32 and rounded once at the end. Empty: -inf.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: g * softmax(x), computed again from x; 0 in rows whose result is -inf.

    Example:
    ```mlir
    %y = ad.logsumexp %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit("ad.logsumexp", [(input,)], [("axis", "integer", axis), ("allow", "allow", allow)])[0]


def max(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Larger of two values.

    Semantics: IEEE maximum: NaN propagates, -0 < +0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g to the larger operand, half to each where they are equal.

    Example:
    ```mlir
    %z = ad.max %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.max", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def min(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Smaller of two values.

    Semantics: IEEE minimum: NaN propagates, -0 < +0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g to the smaller operand, half to each where they are equal.

    Example:
    ```mlir
    %z = ad.min %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.min", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def mul(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Product.

    Semantics: x * y; integers wrap.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * y and g * x, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.mul %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.mul", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def neg(input: Operand, *, allow: str | None = None) -> Tensor:
    """Negation.

    Semantics: -x; flips the sign bit of floats, wraps for integers.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g.

    Example:
    ```mlir
    %y = ad.neg %x : tensor<4xf32>
    ```
    """
    return emit("ad.neg", [(input,)], [("allow", "allow", allow)])[0]


def not_(input: Operand, *, allow: str | None = None) -> Tensor:
    """Bitwise complement.

    Semantics: every bit flipped; logical complement for i1.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: none: integers.

    Example:
    ```mlir
    %y = ad.not %x : tensor<4xi1>
    ```
    """
    return emit("ad.not", [(input,)], [("allow", "allow", allow)])[0]


def one_hot(input: Operand, *, axis: int, type: TypeLike, allow: str | None = None) -> Tensor:
    """Ones at numbers along a new axis, zeros elsewhere.

    Semantics: the result has one axis more than the input. Along it, the element with the number that the input has is
    1, all others are 0. A number below 0, or not below the size of the axis, has zeros alone.

    Constraints: (C1) the axis is one of the result's, and the result has the sizes of the input along the others; (C2)
    its size is static.

    Adjoint: none: the operand is an integer.

    Example:
    ```mlir
    %y = ad.one_hot %labels axis 1 : tensor<4xi32> -> tensor<4x10xf32>
    ```
    """
    return emit("ad.one_hot", [(input,)], [("axis", "integer", axis), ("allow", "allow", allow)], type=type)[0]


def or_(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Bitwise or.

    Semantics: each bit of x or y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.or %x, %y : tensor<4xi1>
    ```
    """
    return emit("ad.or", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def pad(
    input: Operand,
    value: Operand,
    *,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int],
    allow: str | None = None,
) -> Tensor:
    """Surrounding and interleaving with a value.

    Semantics: axis by axis, low copies of the value (a rank-0 tensor) before, high after and interior ones between
    adjacent elements. No count is negative.

    Constraints: (C1) the value has rank 0 and the element type of the input; (C2) there are as many low, high and
    interior counts as axes; (C3) counts are not negative and below 2^31; (C4) a static size of the result is below
    2^63.

    Adjoint: the slice of the cotangent where the input is; the sum of all other elements to the value.

    Example:
    ```mlir
    %y = ad.pad %x, %v low [1, 0] high [0, 2] interior [0, 1] : tensor<4x3xf32>, tensor<f32>
    ```
    """
    return emit(
        "ad.pad",
        [(input,), (value,)],
        [("low", "axes", low), ("high", "axes", high), ("interior", "axes", interior), ("allow", "allow", allow)],
    )[0]


def pow(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Power.

    Semantics: x to the power y, with the special cases of C Annex F.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g * y * x^(y-1) and g * x^y * ln x (0 where x is 0).

    Example:
    ```mlir
    %z = ad.pow %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.pow", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def receive(inputs: Sequence[Operand], *, name: str) -> None:
    """Values passed to the host.

    Semantics: passes the tensors to the named receiver of the host, once per execution, in order per name.

    Constraints: (C1) `name` is not empty; (C2) there is at least one operand.

    Adjoint: none: no results.

    Example:
    ```mlir
    ad.receive "loss"(%loss) : tensor<f32>
    ```
    """
    emit("ad.receive", [inputs], [("name", "string", name)])


def recip(input: Operand, *, allow: str | None = None) -> Tensor:
    """Reciprocal.

    Semantics: 1 / x, correctly rounded.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g * recip(x)^2.

    Example:
    ```mlir
    %y = ad.recip %x : tensor<4xf32>
    ```
    """
    return emit("ad.recip", [(input,)], [("allow", "allow", allow)])[0]


def reduce_max(
    input: Operand,
    *,
    axes: Sequence[int],
    keep_dims: bool = False,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Maximum over axes.

    Semantics: the IEEE maximum over the listed axes: NaN propagates, -0 < +0; empty: the smallest value (-inf).

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the
    input; (C3) the result has the sizes of the input without the reduced axes, or with size 1 for them.

    Adjoint: g to one element, 0 to all others: to the one that `ad.argmax` finds along the reduced axes in row-major
    order, the first of several equal ones. Equal ones do not share g.

    Example:
    ```mlir
    %y = ad.reduce_max %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
    """
    return emit(
        "ad.reduce_max",
        [(input,)],
        [("axes", "axes", axes), ("keepDims", "unit", keep_dims), ("order", "order", order), ("allow", "allow", allow)],
        type=type,
    )[0]


def reduce_mean(
    input: Operand,
    *,
    axes: Sequence[int],
    keep_dims: bool = False,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Mean over axes.

    Semantics: the sum over the listed axes divided once, in the accumulator, by the number of elements; empty: NaN.

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the input
    or of the accumulator; (C3) the result has the sizes of the input without the reduced axes, or with size 1
    for them.

    Adjoint: g divided by the count, broadcast along the axes.

    Example:
    ```mlir
    %y = ad.reduce_mean %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
    """
    return emit(
        "ad.reduce_mean",
        [(input,)],
        [("axes", "axes", axes), ("keepDims", "unit", keep_dims), ("order", "order", order), ("allow", "allow", allow)],
        type=type,
    )[0]


def reduce_min(
    input: Operand,
    *,
    axes: Sequence[int],
    keep_dims: bool = False,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Minimum over axes.

    Semantics: the IEEE minimum over the listed axes: NaN propagates, -0 < +0; empty: the largest value (+inf).

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the
    input; (C3) the result has the sizes of the input without the reduced axes, or with size 1 for them.

    Adjoint: g to one element, 0 to all others: to the one that `ad.argmin` finds along the reduced axes in row-major
    order, the first of several equal ones. Equal ones do not share g.

    Example:
    ```mlir
    %y = ad.reduce_min %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
    """
    return emit(
        "ad.reduce_min",
        [(input,)],
        [("axes", "axes", axes), ("keepDims", "unit", keep_dims), ("order", "order", order), ("allow", "allow", allow)],
        type=type,
    )[0]


def reduce_prod(
    input: Operand,
    *,
    axes: Sequence[int],
    keep_dims: bool = False,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Product over axes.

    Semantics: the product over the listed axes, accumulated like a sum; empty: 1.

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the input
    or of the accumulator; (C3) the result has the sizes of the input without the reduced axes, or with size 1
    for them.

    Adjoint: g times the product of all other elements.

    Example:
    ```mlir
    %y = ad.reduce_prod %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
    """
    return emit(
        "ad.reduce_prod",
        [(input,)],
        [("axes", "axes", axes), ("keepDims", "unit", keep_dims), ("order", "order", order), ("allow", "allow", allow)],
        type=type,
    )[0]


def reduce_sum(
    input: Operand,
    *,
    axes: Sequence[int],
    keep_dims: bool = False,
    order: str | None = None,
    allow: str | None = None,
    type: TypeLike | None = None,
) -> Tensor:
    """Sum over axes.

    Semantics: the sum over the listed axes, from the last to the first, accumulated in f32 (f64 for f64; integers wrap)
    in the written order and rounded once; empty: 0. The result is of the operand's type or of the accumulator's.

    Constraints: (C1) axes are in range, ascending and unique; (C2) the result has the element type of the input
    or of the accumulator; (C3) the result has the sizes of the input without the reduced axes, or with size 1
    for them.

    Adjoint: g broadcast along the axes.

    Example:
    ```mlir
    %y = ad.reduce_sum %x axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
    ```
    """
    return emit(
        "ad.reduce_sum",
        [(input,)],
        [("axes", "axes", axes), ("keepDims", "unit", keep_dims), ("order", "order", order), ("allow", "allow", allow)],
        type=type,
    )[0]


def reduce_window(
    input: Operand,
    positions: Operand | None = None,
    *,
    kind: str,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    allow: str | None = None,
) -> Tensor:
    """Reduction of the elements of moving windows.

    Semantics: for each place of the window its `max`, `min`, `sum` or `mean`. `window` is its size along each axis;
    along an axis, place i begins at element i * stride - low, and elements of a window are `dilation` apart. The
    places are those where the window ends at most `high` elements after the input. Elements outside are 0 for sums and
    means, and below or above all others for `max` and `min`. A NaN is the largest and the smallest element, and
    -0 < +0. A mean is the sum divided once by the number of elements of the window, those outside included. The elements
    of a window are added in ascending row-major order, in f32 for narrower floats. With `positions` (of
    ad.arg_reduce_window) only the element at the position counts. Strides and dilations are 1 and paddings 0 where they
    are not written.

    Constraints: (C1) the kind is max, min, sum or mean; a mean has floats; (C2) there is a number for each axis in the
    window, and in each list that is written; (C3) windows, strides and dilations are positive and paddings not negative,
    all below 2^31; (C4) positions come with `sum`, and have the shape of the result.

    Adjoint: of a sum: ad.spread_window of the cotangent; of a mean the same, divided by the number of elements; of max
    and min: ad.spread_window at the positions of ad.arg_reduce_window.

    Example:
    ```mlir
    %y = ad.reduce_window max %x window [1, 2, 2, 1] strides [1, 2, 2, 1] : tensor<8x32x32x16xf32>
    ```
    """
    return emit(
        "ad.reduce_window",
        [(input,), () if positions is None else (positions,)],
        [
            ("kind", "string", kind),
            ("window", "axes", window),
            ("strides", "axes", strides),
            ("dilation", "axes", dilation),
            ("low", "axes", low),
            ("high", "axes", high),
            ("allow", "allow", allow),
        ],
    )[0]


def relu(input: Operand, *, allow: str | None = None) -> Tensor:
    """Rectifier.

    Semantics: select(x < 0, 0, x): keeps NaN and -0.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g where x > 0, else 0.

    Example:
    ```mlir
    %y = ad.relu %x : tensor<4xf32>
    ```
    """
    return emit("ad.relu", [(input,)], [("allow", "allow", allow)])[0]


def rem(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Remainder of the truncated quotient.

    Semantics: x - trunc(x / y) * y, exactly (C fmod); integers: x rem 0 is x, MIN rem -1 is 0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g and -g * trunc(x / y), each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.rem %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.rem", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def reshape(input: Operand, sizes: Sequence[Operand] = (), *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Same elements, other shape.

    Semantics: the elements in row-major order under the new shape; dynamic sizes of the result are index operands. A
    different element count is an error, at run time when sizes are dynamic.

    Constraints: (C1) the result has the element type of the input; (C2) there is one size operand for each
    dynamic dimension of the result; (C3) the numbers of elements agree where both shapes are static.

    Adjoint: the cotangent reshaped back.

    Example:
    ```mlir
    %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2x3xf32>
    ```
    """
    return emit("ad.reshape", [(input,), sizes], [("allow", "allow", allow)], type=type, indices=1)[0]


def reverse(input: Operand, *, axes: Sequence[int], allow: str | None = None) -> Tensor:
    """Reversed axes.

    Semantics: element i of a listed axis is element size - 1 - i of the input.

    Constraints: (C1) axes are in range, ascending and unique.

    Adjoint: the cotangent reversed along the same axes.

    Example:
    ```mlir
    %y = ad.reverse %x axes [0] : tensor<4x3xf32>
    ```
    """
    return emit("ad.reverse", [(input,)], [("axes", "axes", axes), ("allow", "allow", allow)])[0]


def rms_norm(
    input: Operand, scale: Operand, *, epsilon: float, order: str | None = None, allow: str | None = None
) -> Tensor:
    """Normalization of the last axis to mean square 1, scaled.

    Semantics: with q the mean of x * x along the last axis: x * rsqrt(q + epsilon) * scale. 16- and 8-bit types are
    computed in f32 and rounded once at the end.

    Constraints: (C1) the rank of the input is at least 1; (C2) scale is a vector with the element type of the
    input and the size of its last axis; (C3) epsilon is finite and not negative.

    Adjoint: of x: r * (h - n * mean(h * n)) with r = rsqrt(q + epsilon), n = x * r, h = g * scale; of scale: the sum of
    g * n over the other axes.

    Example:
    ```mlir
    %y = ad.rms_norm %x, %scale epsilon 1.0e-5 : tensor<4x8xf32>, tensor<8xf32>
    ```
    """
    return emit(
        "ad.rms_norm",
        [(input,), (scale,)],
        [("epsilon", "number", epsilon), ("order", "order", order), ("allow", "allow", allow)],
    )[0]


def rng_bits(key: Operand, counter: Operand, *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Random bits of a key and a counter.

    Semantics: each element is made of the words w0 to w3 that Philox4x32-10 gives for the 64-bit key and the counter
    (low half of `counter`, its high half, 0, 0): w0 as i32, or w0 * 2^32 + w1 as i64. Equal keys and counters give
    equal bits, on every target. `ad.iota` of i64 numbers the elements; bits of i64 at a scalar counter are a new key.

    Constraints: (C1) the shapes of `key` and `counter` broadcast; (C2) the result has the broadcast shape.

    Adjoint: none: integers.

    Example:
    ```mlir
    %y = ad.rng_bits %key, %counter : tensor<i64>, tensor<4xi64> -> tensor<4xi32>
    ```
    """
    return emit("ad.rng_bits", [(key,), (counter,)], [("allow", "allow", allow)], type=type)[0]


def rng_normal(key: Operand, counter: Operand, *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Normal random numbers of a key and a counter.

    Semantics: sqrt(-2 ln(1 - u)) * cos(2 pi v) in f64, rounded to f32 for f32. u and v are the uniform f64 numbers of
    the words w0, w1 and w2, w3 of `ad.rng_bits`. With the index of the element as counter these are the numbers of
    `normal:KEY` of ad-runner.

    Constraints: (C1) the shapes of `key` and `counter` broadcast; (C2) the result has the broadcast shape.

    Adjoint: none: the operands are integers.

    Example:
    ```mlir
    %y = ad.rng_normal %key, %counter : tensor<i64>, tensor<4xi64> -> tensor<4xf32>
    ```
    """
    return emit("ad.rng_normal", [(key,), (counter,)], [("allow", "allow", allow)], type=type)[0]


def rng_uniform(key: Operand, counter: Operand, *, type: TypeLike, allow: str | None = None) -> Tensor:
    """Uniform random numbers of a key and a counter.

    Semantics: a multiple of 2^-24 (f32) or 2^-53 (f64) in [0, 1), from the upper 24 bits of w0, or the upper 53 bits of
    w0 * 2^32 + w1, the words of `ad.rng_bits`. With the index of the element as counter these are the numbers of
    `uniform:KEY` of ad-runner.

    Constraints: (C1) the shapes of `key` and `counter` broadcast; (C2) the result has the broadcast shape.

    Adjoint: none: the operands are integers.

    Example:
    ```mlir
    %y = ad.rng_uniform %key, %counter : tensor<i64>, tensor<4xi64> -> tensor<4xf32>
    ```
    """
    return emit("ad.rng_uniform", [(key,), (counter,)], [("allow", "allow", allow)], type=type)[0]


def rotary_embedding(
    input: Operand, positions: Operand, *, base: float, interleaved: bool = False, allow: str | None = None
) -> Tensor:
    """Pairs of elements rotated by angles that grow with the position.

    Semantics: the last axis has pairs: elements i and i + n / 2 of n, or with `interleaved` elements 2 i and 2 i + 1.
    With a = position * base^(-2 i / n), pair (x, y) becomes (x * cos(a) - y * sin(a), y * cos(a) + x * sin(a)).
    Positions broadcast to the shape of the input without its last axis. The powers are computed in f64 and rounded to
    f32 (f64 for f64), in which everything else is computed; the result rounds once.

    Constraints: (C1) the last axis of the input has a static and even size; (C2) the shape of the positions broadcasts
    to that of the input without its last axis; (C3) base is finite and positive.

    Adjoint: of the input: the cotangent rotated back, that is by the negated positions; none for the positions.

    Example:
    ```mlir
    %y = ad.rotary_embedding %x, %positions base 1.0e4 : tensor<2x8x16x64xf32>, tensor<16xi32>
    %z = ad.rotary_embedding %x, %positions base 1.0e4 interleaved : tensor<2x8x16x64xf32>, tensor<16xi32>
    ```
    """
    return emit(
        "ad.rotary_embedding",
        [(input,), (positions,)],
        [("base", "number", base), ("interleaved", "unit", interleaved), ("allow", "allow", allow)],
    )[0]


def round_even(input: Operand, *, allow: str | None = None) -> Tensor:
    """Nearest integer, ties to even.

    Semantics: x rounded to an integer, ties to the even one.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.round_even %x : tensor<4xf32>
    ```
    """
    return emit("ad.round_even", [(input,)], [("allow", "allow", allow)])[0]


def rsqrt(input: Operand, *, allow: str | None = None) -> Tensor:
    """Reciprocal square root.

    Semantics: 1 / sqrt(x).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: -g * rsqrt(x)^3 / 2.

    Example:
    ```mlir
    %y = ad.rsqrt %x : tensor<4xf32>
    ```
    """
    return emit("ad.rsqrt", [(input,)], [("allow", "allow", allow)])[0]


def scaled_dot(
    lhs: Operand,
    rhs: Operand,
    scales: Sequence[Operand] = (),
    *,
    lhs_type: str,
    rhs_type: str,
    cotangent_type: str,
    lhs_batch: Sequence[int],
    rhs_batch: Sequence[int],
    lhs_contract: Sequence[int],
    rhs_contract: Sequence[int],
    type: TypeLike,
    order: str | None = None,
    allow: str | None = None,
) -> tuple[Tensor, ...]:
    """Contraction of two tensors that are scaled and rounded to 8 bits.

    Semantics: each operand times its scale is rounded to its 8-bit type; the contraction of both, as in ad.dot, is
    multiplied by (1 / lhs scale) * (1 / rhs scale). The second and third result are the largest magnitudes of the
    operands, from which later scales are computed. `scales` has none, two (of lhs and rhs) or three values; the third
    is the scale of the cotangent. A scale that is not given is the largest power of two with which the largest
    magnitude stays finite in the 8-bit type. `types` are those of lhs, rhs and cotangent: by default f8E4M3FN,
    f8E4M3FN and f8E5M2. `batch` and `contract` are those of ad.dot.

    Constraints: (C1) operands and result have elements of f32, f16 or bf16, not necessarily the same; (C2) there
    are no scales, two or three, of type tensor<f32>; (C3) types are f8E4M3FN or f8E5M2; (C4) axes and shape of the
    result are as in C2 to C5 of `ad.dot`.

    Adjoint: ad.scaled_dot of the cotangent, in its type and scale, with the other operand. The cotangent of a scale is
    no derivative: it is the largest magnitude of what the scale multiplies. That of the other results is ignored.

    Example:
    ```mlir
    %y, %largest_x, %largest_w = ad.scaled_dot %x, %w : (tensor<4x8xbf16>, tensor<8x2xf32>) -> tensor<4x2xbf16>
    %z, %largest_l, %largest_r = ad.scaled_dot %l, %r scales(%sl, %sr, %sg) types [f8E4M3FN, f8E5M2, f8E5M2]
        batch [0] x [0] contract [2] x [2] : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
    ```
    """
    return emit(
        "ad.scaled_dot",
        [(lhs,), (rhs,), scales],
        [
            ("lhsType", "type", lhs_type),
            ("rhsType", "type", rhs_type),
            ("cotangentType", "type", cotangent_type),
            ("lhsBatch", "axes", lhs_batch),
            ("rhsBatch", "axes", rhs_batch),
            ("lhsContract", "axes", lhs_contract),
            ("rhsContract", "axes", rhs_contract),
            ("order", "order", order),
            ("allow", "allow", allow),
        ],
        type=type,
    )


def scatter(
    input: Operand,
    indices: Sequence[Operand],
    update: Operand,
    *,
    kind: Literal["set", "add", "max", "min"],
    axes: Sequence[int],
    batch: Sequence[int] | None = None,
    index_batch: Sequence[int] | None = None,
    slices: Sequence[int] | None = None,
    outside: Literal["error", "clamp", "fill", "drop"] | None = None,
    allow: str | None = None,
) -> Tensor:
    """Tensor with elements updated at indices that tensors hold.

    Semantics: the input, with elements replaced (`set`), or combined with those of the update (`add`, `max`, `min`: as
    `ad.add`, `ad.max` and `ad.min` do). The update has the shape of an `ad.gather` with the same lists, and updates what
    that would read. Where an element is updated several times, updates are combined in ascending row-major order of
    their positions, from the input's element on; sums of 16- and 8-bit floats are accumulated in f32 and rounded once.
    An index outside of its axis is a run-time error that names it; with `outside clamp` the nearest index is updated,
    with `outside drop` none.

    Constraints: (C1) there is one tensor of indices for each listed axis, at least one; (C2) axes of the input are in
    range, ascending and unique, and none is in both lists; (C3) batch axes are as many of the indices as of the
    input, and those of the indices are in range and unique; (C4) static sizes of the indices, and of batch axes,
    agree; (C5) there is one slice for each other axis of the input, and they are axes of the update, ascending and
    unique; (C6) `outside` is `error`, `clamp` or `drop`; (C7) the update has the element type of the input, and the
    shape of what is updated; (C8) elements that are combined are numbers.

    Adjoint: of the update: the cotangent at the same indices (ad.gather), for `set` only where no later one replaced it,
    for `max` and `min` only for the first that has the result's value, if the input has another one. Of the input:
    the cotangent, for `set` with zeros where the input was replaced, for `max` and `min` only where it has the result's
    value.

    Example:
    ```mlir
    %y = ad.scatter add %x[%i], %u axes [0] slices [1] : tensor<5x4xf32>, tensor<7xi32>, tensor<7x4xf32>
    ```
    """
    return emit(
        "ad.scatter",
        [(input,), indices, (update,)],
        [
            ("kind", "enum:scatter_kind", kind),
            ("axes", "axes", axes),
            ("batch", "axes", batch),
            ("indexBatch", "axes", index_batch),
            ("slices", "axes", slices),
            ("outside", "enum:outside", outside),
            ("allow", "allow", allow),
        ],
    )[0]


def select(condition: Operand, on_true: Operand, on_false: Operand, *, allow: str | None = None) -> Tensor:
    """Choice by a condition.

    Semantics: the second operand where the condition holds, else the third.

    Constraints: (C1) `onTrue` and `onFalse` have one element type; (C2) the shapes of all three broadcast; (C3) the
    result has the broadcast shape and the element type of `onTrue`.

    Adjoint: g where the condition holds to the second operand, g elsewhere to the third, 0 otherwise.

    Example:
    ```mlir
    %z = ad.select %c, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
    ```
    """
    return emit("ad.select", [(condition,), (on_true,), (on_false,)], [("allow", "allow", allow)])[0]


def shift_left(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Shift to higher bits.

    Semantics: the bits of x moved y places up, zeros in those below: x · 2^y, which wraps. Every y outside of 0 to the
    number of bits moves all of them out: the result is 0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.shift_left %x, %y : tensor<4xi32>
    ```
    """
    return emit("ad.shift_left", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def shift_right(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Shift to lower bits.

    Semantics: the bits of x moved y places down, copies of the sign in those above: x / 2^y, rounded down. Every y
    outside of 0 to the number of bits leaves the sign alone: 0, or -1 for a negative x.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.shift_right %x, %y : tensor<4xi32>
    ```
    """
    return emit("ad.shift_right", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def shift_right_logical(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Shift of an unsigned number to lower bits.

    Semantics: the bits of x moved y places down, zeros in those above. Every y outside of 0 to the number of bits moves
    all of them out: the result is 0.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.shift_right_logical %x, %y : tensor<4xi32>
    ```
    """
    return emit("ad.shift_right_logical", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def sigmoid(input: Operand, *, allow: str | None = None) -> Tensor:
    """Logistic function.

    Semantics: 1 / (1 + e^(-x)).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * y * (1 - y) with y the result.

    Example:
    ```mlir
    %y = ad.sigmoid %x : tensor<4xf32>
    ```
    """
    return emit("ad.sigmoid", [(input,)], [("allow", "allow", allow)])[0]


def sign(input: Operand, *, allow: str | None = None) -> Tensor:
    """Sign.

    Semantics: -1, 0 or 1; keeps -0 and NaN.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: zero.

    Example:
    ```mlir
    %y = ad.sign %x : tensor<4xf32>
    ```
    """
    return emit("ad.sign", [(input,)], [("allow", "allow", allow)])[0]


def silu(input: Operand, *, allow: str | None = None) -> Tensor:
    """Sigmoid linear unit.

    Semantics: x * sigmoid(x).
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * s * (1 + x * (1 - s)) with s = sigmoid(x).

    Example:
    ```mlir
    %y = ad.silu %x : tensor<4xf32>
    ```
    """
    return emit("ad.silu", [(input,)], [("allow", "allow", allow)])[0]


def sin(input: Operand, *, allow: str | None = None) -> Tensor:
    """Sine.

    Semantics: sin x, in radians, for every finite input.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * cos(x).

    Example:
    ```mlir
    %y = ad.sin %x : tensor<4xf32>
    ```
    """
    return emit("ad.sin", [(input,)], [("allow", "allow", allow)])[0]


def slice(
    input: Operand,
    sizes: Sequence[Operand] = (),
    *,
    offsets: Sequence[int],
    strides: Sequence[int],
    type: TypeLike,
    allow: str | None = None,
) -> Tensor:
    """Regular part of a tensor.

    Semantics: element i of an axis is element offset + i * stride of the input; the sizes are the result's, dynamic
    ones are index operands. Reading outside the input is an error, at run time when sizes are dynamic; a part
    without elements along an axis may start anywhere there.

    Constraints: (C1) the result has the element type of the input; (C2) there is one size operand for each
    dynamic dimension of the result; (C3) the result has the rank of the input, and there are as many offsets
    and strides; (C4) offsets are not negative, strides are positive; (C5) where sizes are static, the last
    element of each axis is inside the input.

    Adjoint: the cotangent in a zero tensor of the input's shape (ad.pad).

    Example:
    ```mlir
    %y = ad.slice %x [0, 2] strides [1, 2] : tensor<4x10xf32> -> tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.slice",
        [(input,), sizes],
        [("offsets", "axes", offsets), ("strides", "axes", strides), ("allow", "allow", allow)],
        type=type,
        indices=1,
    )[0]


def softmax(input: Operand, *, axis: int, order: str | None = None, allow: str | None = None) -> Tensor:
    """Exponentials divided by their sum.

    Semantics: with m the maximum along the axis and e = exp(x - m): e / sum(e). 16- and 8-bit types are computed in f32
    and rounded once at the end.

    Constraints: (C1) the axis is one of the input's.

    Adjoint: y * (g - sum(g * y)) with y the result.

    Example:
    ```mlir
    %y = ad.softmax %x axis 1 : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.softmax", [(input,)], [("axis", "integer", axis), ("order", "order", order), ("allow", "allow", allow)]
    )[0]


def softplus(input: Operand, *, allow: str | None = None) -> Tensor:
    """Soft rectifier.

    Semantics: ln(1 + e^x), without overflow.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * sigmoid(x).

    Example:
    ```mlir
    %y = ad.softplus %x : tensor<4xf32>
    ```
    """
    return emit("ad.softplus", [(input,)], [("allow", "allow", allow)])[0]


def sort(
    inputs: Sequence[Operand], *, axis: int, descending: bool = False, allow: str | None = None
) -> tuple[Tensor, ...]:
    """Tensors in the order of the first.

    Semantics: along the axis, the elements of every operand in the order of `ad.argsort` of the first one, the key.

    Constraints: (C1) there is at least one operand; (C2) the axis is one of the key's; (C3) the operands have one
    shape; (C4) the elements of the key are numbers.

    Adjoint: of each operand: the cotangent of its result, at the positions that the elements came from.

    Example:
    ```mlir
    %y = ad.sort %x axis 1 : tensor<4x3xf32>
    %k, %v = ad.sort %x, %i axis 0 descending : tensor<4x3xf32>, tensor<4x3xi32>
    ```
    """
    return emit(
        "ad.sort", [inputs], [("axis", "integer", axis), ("descending", "unit", descending), ("allow", "allow", allow)]
    )


def spread_window(
    input: Operand,
    positions: Operand | None = None,
    sizes: Sequence[Operand] = (),
    *,
    window: Sequence[int],
    type: TypeLike,
    strides: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    low: Sequence[int] | None = None,
    high: Sequence[int] | None = None,
    allow: str | None = None,
) -> Tensor:
    """Elements added to all places of their windows.

    Semantics: each element of the result is the sum of the elements of the input whose windows, of an ad.reduce_window
    with the same lists, contain it; with `positions`, of those whose position it has. They are added in the order in
    which the window's elements meet it, in f32 for narrower floats. The dynamic sizes of the result are operands.

    Constraints: (C1) the result has the element type and the rank of the input, and there is one size operand for each
    of its dynamic dimensions; (C2) there is a number for each axis in the window, and in each list that is written;
    (C3) windows, strides and dilations are positive and paddings not negative, all below 2^31; (C4) positions have
    the shape of the input; (C5) static sizes of the input are the numbers of places that ad.reduce_window has in a
    tensor of the result's sizes.

    Adjoint: the sum of the cotangent over the windows (ad.reduce_window sum), at the positions if there are some.

    Example:
    ```mlir
    %y = ad.spread_window %g window [2, 2] strides [2, 2] : (tensor<2x3xf32>) -> tensor<4x6xf32>
    ```
    """
    return emit(
        "ad.spread_window",
        [(input,), () if positions is None else (positions,), sizes],
        [
            ("window", "axes", window),
            ("strides", "axes", strides),
            ("dilation", "axes", dilation),
            ("low", "axes", low),
            ("high", "axes", high),
            ("allow", "allow", allow),
        ],
        type=type,
        segmented=True,
        indices=1,
    )[0]


def sqrt(input: Operand, *, allow: str | None = None) -> Tensor:
    """Square root.

    Semantics: the correctly rounded root; NaN below zero, -0 stays.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g / (2 * sqrt(x)).

    Example:
    ```mlir
    %y = ad.sqrt %x : tensor<4xf32>
    ```
    """
    return emit("ad.sqrt", [(input,)], [("allow", "allow", allow)])[0]


def stop_gradient(input: Operand) -> Tensor:
    """Identity with a zero derivative.

    Semantics: returns its operand.

    Constraints: (C1) the result has the type of `input`.

    Adjoint: zero. The operation disappears with differentiation.

    Example:
    ```mlir
    %y = ad.stop_gradient %x : tensor<4xf32>
    ```
    """
    return emit("ad.stop_gradient", [(input,)], [])[0]


def sub(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Difference.

    Semantics: x - y; integers wrap.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: g and -g, each summed to its operand's shape.

    Example:
    ```mlir
    %z = ad.sub %x, %y : tensor<4x3xf32>, tensor<3xf32>
    ```
    """
    return emit("ad.sub", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]


def sum_to_shape(
    input: Operand, sizes: Sequence[Operand] = (), *, type: TypeLike, order: str | None = None, allow: str | None = None
) -> Tensor:
    """Sum over the dimensions that a broadcast repeated.

    Semantics: the adjoint of ad.broadcast: aligned from the right, leading dimensions that the result lacks and
    dimensions where the result has size 1 are summed, from the last to the first; decided at run time where sizes are
    dynamic. Accumulates as ad.reduce_sum does.

    Constraints: (C1) the result has the element type of the input; (C2) there is one size operand for each
    dynamic dimension of the result; (C3) the rank of the result is at most that of the input; (C4) aligned from
    the right, a static size of the result is 1 or agrees with the static size of the input.

    Adjoint: the cotangent broadcast to the input's shape.

    Example:
    ```mlir
    %y = ad.sum_to_shape %x : tensor<4x3xf32> -> tensor<1x3xf32>
    ```
    """
    return emit(
        "ad.sum_to_shape",
        [(input,), sizes],
        [("order", "order", order), ("allow", "allow", allow)],
        type=type,
        indices=1,
    )[0]


def take(
    input: Operand,
    indices: Operand,
    *,
    axis: int,
    outside: Literal["error", "clamp", "fill", "drop"] | None = None,
    fill: float | None = None,
    allow: str | None = None,
) -> Tensor:
    """Parts of a tensor at indices along an axis.

    Semantics: the axis of the input is replaced by the axes of the indices:
    result[a…, i…, b…] = input[a…, indices[i…], b…]. `outside` is as in `ad.gather`.

    Constraints: (C1) the axis is one of the input's; (C2) `outside` is `error`, `clamp` or `fill`; only with
    `fill` there is a value.

    Adjoint: the cotangent added to zeros at the same indices (ad.scatter add); elements that were filled get none.

    Example:
    ```mlir
    %y = ad.take %x, %i axis 1 : tensor<4x10xf32>, tensor<2x3xi32>
    ```
    """
    return emit(
        "ad.take",
        [(input,), (indices,)],
        [
            ("axis", "integer", axis),
            ("outside", "enum:outside", outside),
            ("fill", "number", fill),
            ("allow", "allow", allow),
        ],
    )[0]


def tan(input: Operand, *, allow: str | None = None) -> Tensor:
    """Tangent.

    Semantics: tan x, in radians, for every finite input.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * (1 + tan(x)^2).

    Example:
    ```mlir
    %y = ad.tan %x : tensor<4xf32>
    ```
    """
    return emit("ad.tan", [(input,)], [("allow", "allow", allow)])[0]


def tanh(input: Operand, *, allow: str | None = None) -> Tensor:
    """Hyperbolic tangent.

    Semantics: tanh x.
    Constraints: (C1) the result has the type of `input`.
    Adjoint: g * (1 - tanh(x)^2).

    Example:
    ```mlir
    %y = ad.tanh %x : tensor<4xf32>
    ```
    """
    return emit("ad.tanh", [(input,)], [("allow", "allow", allow)])[0]


def top_k(input: Operand, *, axis: int, k: int, smallest: bool = False, allow: str | None = None) -> tuple[Tensor, ...]:
    """Largest elements along an axis.

    Semantics: the first k elements along the axis in descending order, or in ascending order with `smallest`, and their
    i64 positions: those that `ad.argsort` puts first. Of equal elements the first ones are taken; NaNs come last.

    Constraints: (C1) the axis is one of the input's; (C2) k is not negative, and at most the size of the axis.

    Adjoint: the cotangent of the values at their positions, zeros elsewhere.

    Example:
    ```mlir
    %v, %p = ad.top_k %x axis 1 k 2 : tensor<4x3xf32>
    %w, %q = ad.top_k %x axis 1 k 2 smallest : tensor<4x3xf32>
    ```
    """
    return emit(
        "ad.top_k",
        [(input,)],
        [("axis", "integer", axis), ("k", "integer", k), ("smallest", "unit", smallest), ("allow", "allow", allow)],
    )


def transpose(input: Operand, *, permutation: Sequence[int], allow: str | None = None) -> Tensor:
    """Permutation of the axes.

    Semantics: axis i of the result is axis permutation[i] of the input.

    Constraints: (C1) the list is a permutation of the axes.

    Adjoint: the cotangent transposed by the inverse permutation.

    Example:
    ```mlir
    %y = ad.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
    ```
    """
    return emit("ad.transpose", [(input,)], [("permutation", "axes", permutation), ("allow", "allow", allow)])[0]


def xor(lhs: Operand, rhs: Operand, *, allow: str | None = None) -> Tensor:
    """Bitwise exclusive or.

    Semantics: each bit of x exclusive or y.

    Constraints: (C1) `lhs` and `rhs` have one element type; (C2) their shapes broadcast; (C3) the result has the
    broadcast shape and that element type.

    Adjoint: none: integers.

    Example:
    ```mlir
    %z = ad.xor %x, %y : tensor<4xi1>
    ```
    """
    return emit("ad.xor", [(lhs,), (rhs,)], [("allow", "allow", allow)])[0]
