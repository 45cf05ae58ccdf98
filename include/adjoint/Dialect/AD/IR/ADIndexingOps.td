// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that read or write elements at indices which tensors hold.

#ifndef ADJOINT_DIALECT_AD_IR_ADINDEXINGOPS
#define ADJOINT_DIALECT_AD_IR_ADINDEXINGOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Interfaces/LoopNestOpInterface.td"
include "adjoint/Interfaces/OrderedWriteOpInterface.td"

class AD_OutsideOr<string value>
    : DefaultValuedAttr<EnumAttr<AD_Dialect, AD_Outside, "outside">, "::mlir::ad::Outside::" # value>;
def AD_ScatterKindAttr : EnumAttr<AD_Dialect, AD_ScatterKind, "scatter_kind">;
def AD_AxisList : DefaultValuedAttr<DenseI64ArrayAttr, "{}">;

// Reads one element of its first operand for each element of its result.
class AD_LookupOp<string mnemonic> : AD_ComputeOp<mnemonic, [
    InferTypeOpAdaptor, DeclareOpInterfaceMethods<LoopNestOpInterface, ["getLoopSizes"]>]> {
  let results = (outs AD_Tensor:$result);
  // The functions are in lib/Dialect/AD/IR/Ops/ADIndexingOps.cpp.
  code declarations = [{
    /// Which axes the indices choose, and where the others are in the result.
    ::mlir::ad::IndexedAccess getIndexedAccess();
  }];
  let extraClassDeclaration = declarations;
  let extraClassDefinition = [{
    ::llvm::SmallVector<::mlir::utils::IteratorType> $cppClass::getLoops() {
      return ::llvm::SmallVector<::mlir::utils::IteratorType>(getType().getRank(), ::mlir::utils::IteratorType::parallel);
    }
    ::llvm::SmallVector<::mlir::ad::ElementAccess> $cppClass::getAccesses() {
      return ::mlir::ad::accessesOfLookup(getOperation(), getIndexedAccess(), getOutside(), getFill());
    }
    ::llvm::SmallVector<::mlir::AffineMap> $cppClass::getResultMaps() {
      return {::mlir::AffineMap::getMultiDimIdentityMap(getType().getRank(), getContext())};
    }
    ::llvm::SmallVector<::mlir::OpFoldResult> $cppClass::getLoopSizes(::mlir::OpBuilder &builder) {
      return ::mlir::ad::sizesOfLookup(getOperation(), getIndexedAccess(), builder);
    }
    ::llvm::SmallVector<::mlir::Value> $cppClass::emitElement(::mlir::OpBuilder &, ::mlir::Location,
                                                              ::mlir::ValueRange scalars, ::mlir::ValueRange) {
      return {scalars[0]};
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(::mlir::ad::sizesOfLookup(getOperation(), getIndexedAccess(), builder));
      return ::mlir::success();
    }
  }];
}

def AD_GatherOp : AD_LookupOp<"gather"> {
  let summary = "elements at indices that tensors hold";
  let description = [{
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
  }];
  let arguments = (ins AD_Tensor:$input, Variadic<AD_IndexTensor>:$indices, DenseI64ArrayAttr:$axes,
                       AD_AxisList:$batch, AD_AxisList:$indexBatch, AD_AxisList:$slices,
                       AD_OutsideOr<"error">:$outside, DefaultValuedAttr<F64Attr, "0.0">:$fill,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $input `[` $indices `]` `axes` $axes (`batch` $batch^ `x` $indexBatch)? (`slices` $slices^)?
    (`outside` custom<Outside>($outside)^)? (`value` $fill^)? attr-dict `:` type(operands)
  }];
}

def AD_TakeOp : AD_LookupOp<"take"> {
  let summary = "parts of a tensor at indices along an axis";
  let description = [{
    Semantics: the axis of the input is replaced by the axes of the indices:
    result[a…, i…, b…] = input[a…, indices[i…], b…]. `outside` is as in `ad.gather`.

    Constraints: (C1) the axis is one of the input's; (C2) `outside` is `error`, `clamp` or `fill`; only with
    `fill` there is a value.

    Adjoint: the cotangent added to zeros at the same indices (ad.scatter add); elements that were filled get none.

    Example:
    ```mlir
    %y = ad.take %x, %i axis 1 : tensor<4x10xf32>, tensor<2x3xi32>
    ```
  }];
  let arguments = (ins AD_Tensor:$input, AD_IndexTensor:$indices, I64Attr:$axis, AD_OutsideOr<"error">:$outside,
                       DefaultValuedAttr<F64Attr, "0.0">:$fill, OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $input `,` $indices `axis` $axis (`outside` custom<Outside>($outside)^)? (`value` $fill^)? attr-dict `:`
    type($input) `,` custom<LastType>(type($indices))
  }];
}

def AD_EmbeddingOp : AD_LookupOp<"embedding"> {
  let summary = "rows of a table";
  let description = [{
    Semantics: row `ids[i…]` of the table for each i: `ad.take` along axis 0. An index outside of the table is a run-time
    error. `padding` names a row that learns nothing: its gradient is 0.

    Constraints: (C1) the table has at least one axis; (C2) a padding row is one of the table's.

    Adjoint: the cotangent added to zeros at the same rows (ad.scatter add), without those of the padding row.

    Example:
    ```mlir
    %y = ad.embedding %table, %ids : tensor<100x8xf32>, tensor<2x3xi32>
    %z = ad.embedding %table, %ids padding 0 : tensor<100x8xf32>, tensor<2x3xi32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$table, AD_IndexTensor:$ids, OptionalAttr<I64Attr>:$padding,
                       OptionalAttr<AD_PermissionsAttr>:$allow);
  let assemblyFormat = [{
    $table `,` $ids (`padding` $padding^)? attr-dict `:` type($table) `,` custom<LastType>(type($ids))
  }];
  let extraClassDeclaration = declarations # [{
    ::mlir::ad::Outside getOutside() { return ::mlir::ad::Outside::error; }
    ::llvm::APFloat getFill() { return ::llvm::APFloat(0.0); }
  }];
}

def AD_ScatterOp : AD_ComputeOp<"scatter", [
    InferTypeOpAdaptor, AD_ShapeOfFirstOperand,
    DeclareOpInterfaceMethods<OrderedWriteOpInterface, ["emitStart", "emitResult"]>]> {
  let summary = "tensor with elements updated at indices that tensors hold";
  let description = [{
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
  }];
  let arguments = (ins AD_ScatterKindAttr:$kind, AD_Tensor:$input, Variadic<AD_IndexTensor>:$indices,
                       AD_Tensor:$update, DenseI64ArrayAttr:$axes, AD_AxisList:$batch, AD_AxisList:$indexBatch,
                       AD_AxisList:$slices, AD_OutsideOr<"error">:$outside, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{
    custom<ScatterKind>($kind) $input `[` $indices `]` `,` $update `axes` $axes (`batch` $batch^ `x` $indexBatch)? (`slices` $slices^)?
    (`outside` custom<Outside>($outside)^)? attr-dict `:` type(operands)
  }];
  let extraClassDeclaration = [{
    ::mlir::ad::IndexedAccess getIndexedAccess();
  }];
}

#endif // ADJOINT_DIALECT_AD_IR_ADINDEXINGOPS
