// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of the memory plan of a host program.

#ifndef ADJOINT_DIALECT_AD_IR_ADMEMORYOPS
#define ADJOINT_DIALECT_AD_IR_ADMEMORYOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Dialect/AD/IR/ADBuffers.td"
include "mlir/IR/OpAsmInterface.td"

def AD_BufferOp : AD_Op<"buffer", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "allocation of the memory plan";
  let description = [{
    Semantics: names memory that operations of the host program write tensors into. The memory exists as long as the
    call.

    Constraints: (C1) the parent is a `func.func`; (C2) an argument or result that the allocation names is one of the
    function's, is a tensor, and has as many bytes as the buffer, per element of its dynamic sizes.

    Adjoint: none: memory is planned after differentiation.

    Example:
    ```mlir
    %arena = ad.buffer <arena, offset = 4096, bytes = 1024>
    ```
  }];
  let arguments = (ins AD_BufferAttr:$allocation);
  let results = (outs AD_Buffer:$result);
  let assemblyFormat = "$allocation attr-dict";
  let hasVerifier = 1;
}

def AD_CopyOp : AD_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["source", "result"]>]> {
  let summary = "tensor in another buffer";
  let description = [{
    Semantics: the source, in the buffer `into`. The memory plan writes out each copy that it needs: of a tensor that a
    loop starts with, that a loop or branch yields, or that `arith.select` chooses.

    Constraints: (C1) the result has the type of the source.

    Adjoint: none: memory is planned after differentiation.

    Example:
    ```mlir
    %y = ad.copy %x into(%arena) : tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_Tensor:$source, AD_Buffer:$destination);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "$source `into` `(` $destination `)` attr-dict `:` type($source)";
}

#endif // ADJOINT_DIALECT_AD_IR_ADMEMORYOPS
