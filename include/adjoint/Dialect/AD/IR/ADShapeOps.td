// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that move data.

#ifndef ADJOINT_DIALECT_AD_IR_ADSHAPEOPS
#define ADJOINT_DIALECT_AD_IR_ADSHAPEOPS

include "adjoint/Dialect/AD/IR/ADBase.td"


// Moves data, computes nothing.
class AD_ShapeOp<string mnemonic, list<Trait> traits = []> : AD_ComputeOp<mnemonic, traits> {
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::movement; }
  }];
}

// Reads one element of its input for each element of its result. A kernel can read the input in place of the result.
class AD_ViewOp<string mnemonic, string view, list<Trait> traits = []> : AD_ShapeOp<mnemonic, traits> {
  code viewDeclarations = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::movement; }
    ::mlir::ad::ViewKind getViewKind() { return ::mlir::ad::ViewKind::}] # view # [{; }
    bool isFreeView();
  }];
  let extraClassDeclaration = viewDeclarations;
}

// A view whose element is an affine function of the indices, if sizes are known.
class AD_AffineViewOp<string mnemonic, string view, list<Trait> traits = []> : AD_ViewOp<mnemonic, view, traits> {
  let extraClassDeclaration = viewDeclarations # [{
    ::llvm::SmallVector<::mlir::utils::IteratorType> getIteratorTypes();
    ::llvm::SmallVector<::mlir::AffineMap> getAccessMaps();
  }];
}

def AD_ReshapeOp : AD_AffineViewOp<"reshape", "reshape"> {
  let summary = "same elements, other shape";
  let description = [{
    Semantics: the elements in row-major order under the new shape; dynamic sizes of the result are index operands. A
    different element count is an error, at run time when sizes are dynamic.

    Constraints: (C1) the result has the element type of the input; (C2) there is one size operand for each
    dynamic dimension of the result; (C3) the numbers of elements agree where both shapes are static.

    Adjoint: the cotangent reshaped back.

    Example:
    ```mlir
    %y = ad.reshape %x(%n) : tensor<?x6xf32> -> tensor<?x2x3xf32>
    ```
  }];
  let arguments = (ins AD_Tensor:$input, Variadic<Index>:$sizes, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{ $input (`(` $sizes^ `)`)? attr-dict `:` type($input) `->` type($result) }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def AD_BroadcastOp : AD_AffineViewOp<"broadcast", "broadcast"> {
  let summary = "repetition to a larger shape";
  let description = [{
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
  }];
  let arguments = (ins AD_Tensor:$input, Variadic<Index>:$sizes, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{ $input (`(` $sizes^ `)`)? attr-dict `:` type($input) `->` type($result) }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def AD_SumToShapeOp : AD_ShapeOp<"sum_to_shape"> {
  let summary = "sum over the dimensions that a broadcast repeated";
  let description = [{
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
  }];
  let arguments = (ins AD_NumberTensor:$input, Variadic<Index>:$sizes, OptionalAttr<AD_OrderAttr>:$order,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_NumberTensor:$result);
  let assemblyFormat = [{ $input (`(` $sizes^ `)`)? attr-dict `:` type($input) `->` type($result) }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::reduce; }
    ::mlir::ad::OrderAttr getCanonicalOrder();
    ::mlir::ad::OrderAttr getSummationOrder() { return getOrderAttr(); }
  }];
}

def AD_TransposeOp : AD_AffineViewOp<"transpose", "transpose", [InferTypeOpAdaptor]> {
  let summary = "permutation of the axes";
  let description = [{
    Semantics: axis i of the result is axis permutation[i] of the input.

    Constraints: (C1) the list is a permutation of the axes.

    Adjoint: the cotangent transposed by the inverse permutation.

    Example:
    ```mlir
    %y = ad.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins AD_Tensor:$input, DenseI64ArrayAttr:$permutation, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{ $input $permutation attr-dict `:` custom<LastType>(type($input)) }];
  let hasFolder = 1;
}

def AD_SliceOp : AD_ViewOp<"slice", "slice"> {
  let summary = "regular part of a tensor";
  let description = [{
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
  }];
  let arguments = (ins AD_Tensor:$input, DenseI64ArrayAttr:$offsets, DenseI64ArrayAttr:$strides, Variadic<Index>:$sizes,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{
    $input $offsets `strides` $strides (`(` $sizes^ `)`)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def AD_DynamicSliceOp : AD_ViewOp<"dynamic_slice", "dynamicSlice", [AttrSizedOperandSegments]> {
  let summary = "part of a tensor at computed offsets";
  let description = [{
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
  }];
  let arguments = (ins AD_Tensor:$input, Variadic<Index>:$offsets, Variadic<Index>:$sizes,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{ $input `[` $offsets `]` (`(` $sizes^ `)`)? attr-dict `:` type($input) `->` type($result) }];
  let hasVerifier = 1;
}

def AD_DynamicUpdateSliceOp : AD_ShapeOp<"dynamic_update_slice", [InferTypeOpAdaptor, AD_ShapeOfFirstOperand]> {
  let summary = "tensor with one part replaced";
  let description = [{
    Semantics: the input, with the elements from the offsets on replaced by the update. Writing outside is a run-time
    error; an update without elements along an axis may start anywhere there.

    Constraints: (C1) the update has the element type of the input; (C2) the update has the rank of the input;
    (C3) there is one offset for each axis; (C4) static sizes of the update are at most those of the input.

    Adjoint: the cotangent with the part zeroed, to the input; the part of the cotangent, to the update.

    Example:
    ```mlir
    %y = ad.dynamic_update_slice %x, %u[%i, %j] : tensor<4x10xf32>, tensor<1x10xf32>
    ```
  }];
  let extraClassDeclaration = [{
    ::mlir::ad::FusionKind getFusionKind() { return ::mlir::ad::FusionKind::movement; }
    ::mlir::ad::PartialUpdate getPartialUpdate() { return {getInput(), getUpdate()}; }
  }];
  let arguments = (ins AD_Tensor:$input, AD_Tensor:$update, Variadic<Index>:$offsets,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $update `[` $offsets `]` attr-dict `:` type($input) `,` custom<LastType>(type($update))
  }];
}

def AD_PadOp : AD_ShapeOp<"pad", [InferTypeOpAdaptor]> {
  let summary = "surrounding and interleaving with a value";
  let description = [{
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
  }];
  let arguments = (ins AD_Tensor:$input, AD_Tensor:$value, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$interior, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{
    $input `,` $value `low` $low `high` $high `interior` $interior attr-dict `:` type($input) `,`
    custom<LastType>(type($value))
  }];
  let hasFolder = 1;
}

def AD_ConcatOp : AD_ShapeOp<"concat", [InferTypeOpAdaptor]> {
  let summary = "concatenation along an axis";
  let description = [{
    Semantics: the inputs in order along the axis; other dimensions agree.

    Constraints: (C1) there is at least one input; (C2) the axis is one of the inputs'; (C3) inputs have one
    rank and one element type; (C4) static sizes agree outside the axis; (C5) a static size of the result is
    below 2^63.

    Adjoint: the slices of the cotangent.

    Example:
    ```mlir
    %y = ad.concat axis 1 %a, %b : tensor<2x3xf32>, tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Variadic<AD_Tensor>:$inputs, I64Attr:$axis, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{ `axis` $axis $inputs attr-dict `:` custom<LastTypes>(type($inputs)) }];
  let hasFolder = 1;
}

def AD_ReverseOp : AD_ShapeOp<"reverse", [SameOperandsAndResultType, AD_ShapeOfFirstOperand]> {
  let summary = "reversed axes";
  let description = [{
    Semantics: element i of a listed axis is element size - 1 - i of the input.

    Constraints: (C1) axes are in range, ascending and unique.

    Adjoint: the cotangent reversed along the same axes.

    Example:
    ```mlir
    %y = ad.reverse %x axes [0] : tensor<4x3xf32>
    ```
  }];
  let arguments = (ins AD_Tensor:$input, DenseI64ArrayAttr:$axes, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{ $input `axes` $axes attr-dict `:` custom<LastType>(type($input)) }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // ADJOINT_DIALECT_AD_IR_ADSHAPEOPS
