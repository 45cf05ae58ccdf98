// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations on windows that move over a tensor: convolutions, and reductions of the elements of a window.

#ifndef ADJOINT_DIALECT_AD_IR_ADWINDOWOPS
#define ADJOINT_DIALECT_AD_IR_ADWINDOWOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Interfaces/LoopNestOpInterface.td"

// One number for each axis; an empty list is that of the operation's default.
def AD_NumberPerAxis : DefaultValuedAttr<DenseI64ArrayAttr, "{}">;

def AD_ConvOp : AD_ComputeOp<"conv", [InferTypeOpAdaptorWithIsCompatible]> {
  let summary = "convolution";
  let description = [{
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
  }];
  let arguments = (ins AD_NumberTensor:$input, AD_NumberTensor:$filter, StrAttr:$dims, AD_NumberPerAxis:$strides,
                       AD_NumberPerAxis:$low, AD_NumberPerAxis:$high, AD_NumberPerAxis:$input_dilation,
                       AD_NumberPerAxis:$filter_dilation, OptionalAttr<AD_OrderAttr>:$order,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  let assemblyFormat = [{
    $input `,` $filter `dims` $dims (`strides` $strides^)? (`low` $low^)? (`high` $high^)?
    (`input_dilation` $input_dilation^)? (`filter_dilation` $filter_dilation^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::dot; }
    ::mlir::ad::OrderAttr getCanonicalOrder();
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
    ::llvm::SmallVector<::mlir::utils::IteratorType> getIteratorTypes();
    ::llvm::SmallVector<::mlir::AffineMap> getAccessMaps();
    /// Where the filter is along each spatial axis, in the order of the digits.
    ::llvm::SmallVector<::mlir::ad::WindowAxis> getWindowAxes();
    /// Whether the filter reads the input as it is, without padding and zeros between its elements.
    bool isUnpadded();
  }];
}

// Reads the elements of a window for each element of its result.
class AD_WindowOp<string mnemonic, list<Trait> traits = []> : AD_ComputeOp<mnemonic, !listconcat(traits, [
    DeclareOpInterfaceMethods<LoopNestOpInterface,
                              ["getLoopSizes", "emitNeutral", "emitCombine", "emitResults"]>])> {
  // In lib/Dialect/AD/IR/Ops: ADWindowOps.cpp has types and sizes, ADWindowLoops.cpp loops and scalar code.
  code declarations = [{
    /// The window along each axis.
    ::llvm::SmallVector<::mlir::ad::WindowAxis> getWindowAxes();
  }];
  let extraClassDeclaration = declarations;
}

def AD_ReduceWindowOp : AD_WindowOp<"reduce_window", [InferTypeOpAdaptor]> {
  let summary = "reduction of the elements of moving windows";
  let description = [{
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
  }];
  let arguments = (ins StrAttr:$kind, AD_NumberTensor:$input, Optional<AD_IndexTensor>:$positions,
                       DenseI64ArrayAttr:$window, AD_NumberPerAxis:$strides, AD_NumberPerAxis:$dilation,
                       AD_NumberPerAxis:$low, AD_NumberPerAxis:$high, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  let assemblyFormat = [{
    custom<Keyword>($kind) $input (`at` $positions^)? `window` $window (`strides` $strides^)?
    (`dilation` $dilation^)? (`low` $low^)? (`high` $high^)? attr-dict `:` type(operands)
  }];
}

def AD_ArgReduceWindowOp : AD_WindowOp<"arg_reduce_window", [InferTypeOpAdaptor]> {
  let summary = "positions of the largest or smallest elements of moving windows";
  let description = [{
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
  }];
  let arguments = (ins StrAttr:$kind, AD_NumberTensor:$input, DenseI64ArrayAttr:$window, AD_NumberPerAxis:$strides,
                       AD_NumberPerAxis:$dilation, AD_NumberPerAxis:$low, AD_NumberPerAxis:$high,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_IndexTensor:$result);
  let assemblyFormat = [{
    custom<Keyword>($kind) $input `window` $window (`strides` $strides^)? (`dilation` $dilation^)? (`low` $low^)?
    (`high` $high^)? attr-dict `:` custom<LastType>(type($input))
  }];
}

// Verifies lists and shapes before other traits rely on them.
def AD_SpreadsWindows : NativeOpTrait<"SpreadsWindows"> {
  let cppNamespace = "::mlir::ad";
}

def AD_SpreadWindowOp : AD_WindowOp<"spread_window", [AttrSizedOperandSegments, AD_SpreadsWindows]> {
  let summary = "elements added to all places of their windows";
  let description = [{
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
  }];
  let arguments = (ins AD_NumberTensor:$input, Optional<AD_IndexTensor>:$positions, DenseI64ArrayAttr:$window,
                       AD_NumberPerAxis:$strides, AD_NumberPerAxis:$dilation, AD_NumberPerAxis:$low,
                       AD_NumberPerAxis:$high, Variadic<Index>:$sizes, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  let assemblyFormat = [{
    $input (`at` $positions^)? `window` $window (`strides` $strides^)? (`dilation` $dilation^)? (`low` $low^)?
    (`high` $high^)? (`(` $sizes^ `)`)? attr-dict `:` `(` type($input) (`,` type($positions)^)? `)` `->` type($result)
  }];
  let extraClassDeclaration = declarations # [{
    ::mlir::LogicalResult verifyWindows();
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADWINDOWOPS
