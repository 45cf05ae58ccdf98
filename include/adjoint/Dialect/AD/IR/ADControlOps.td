// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers and the connection to the host.

#ifndef ADJOINT_DIALECT_AD_IR_ADCONTROLOPS
#define ADJOINT_DIALECT_AD_IR_ADCONTROLOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Dialect/AD/IR/ADBuffers.td"

// Not Pure: results that count as newly allocated keep CSE from merging barriers and code motion from moving them,
// while an unused barrier still dies.
def AD_BarrierOp : AD_Op<"barrier", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "identity that no rewrite sees through";
  let description = [{
    Semantics: returns its operands. Never folded, merged with another barrier or moved through; its results have no
    known value and no known relation to the operands.

    Constraints: (C1) there is at least one operand; (C2) the results have the types of the operands.

    Adjoint: a barrier of the cotangents.

    Example:
    ```mlir
    %y = ad.barrier %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AD_Tensor>:$inputs);
  let results = (outs Res<Variadic<AD_Tensor>, "", [MemAlloc]>:$results);
  let assemblyFormat = "$inputs attr-dict `:` custom<LastTypes>(type($inputs))";
  let hasVerifier = 1;
}

def AD_StopGradientOp : AD_Op<"stop_gradient", [Pure, SameOperandsAndResultType, AD_ShapeOfFirstOperand,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "identity with a zero derivative";
  let description = [{
    Semantics: returns its operand.

    Constraints: (C1) the result has the type of `input`.

    Adjoint: zero. The operation disappears with differentiation.

    Example:
    ```mlir
    %y = ad.stop_gradient %x : tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_Tensor:$input);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` custom<LastType>(type($result))";
}

def AD_FeedOp : AD_Op<"feed", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "next value of a stream of the host";
  let description = [{
    Semantics: the next tensor of the named stream, once per execution of the operation, in order per name. Dynamic
    sizes are index operands; the host must deliver exactly the resulting shape. After memory planning, `into` names
    the buffer that the tensor is written into.

    Constraints: (C1) `name` is not empty; (C2) there is one size per dynamic dimension of the result, in order.

    Adjoint: none: no operands.

    Example:
    ```mlir
    %x = ad.feed "images" : tensor<32x64xf32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Index>:$sizes, Optional<AD_Buffer>:$destination);
  let results = (outs AD_Tensor:$result);
  let assemblyFormat = [{
    $name (`(` $sizes^ `)`)? (`into` `(` $destination^ `)`)? attr-dict `:` custom<LastType>(type($result))
  }];
  let hasVerifier = 1;
}

def AD_ReceiveOp : AD_Op<"receive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "values passed to the host";
  let description = [{
    Semantics: passes the tensors to the named receiver of the host, once per execution, in order per name.

    Constraints: (C1) `name` is not empty; (C2) there is at least one operand.

    Adjoint: none: no results.

    Example:
    ```mlir
    ad.receive "loss"(%loss) : tensor<f32>
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<AD_Tensor>:$inputs);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

#endif // ADJOINT_DIALECT_AD_IR_ADCONTROLOPS
