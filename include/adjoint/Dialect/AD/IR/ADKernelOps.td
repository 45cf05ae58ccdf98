// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Fusions, kernels and the scalar operations inside them.

#ifndef ADJOINT_DIALECT_AD_IR_ADKERNELOPS
#define ADJOINT_DIALECT_AD_IR_ADKERNELOPS

include "adjoint/Dialect/AD/IR/ADBase.td"
include "adjoint/Dialect/AD/IR/ADBuffers.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def AD_YieldOp : AD_Op<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["FusionOp", "KernelOp"]>]> {
  let summary = "results of a fusion or kernel";
  let description = [{
    Semantics: ends the region and returns the operands as the results of the parent operation.

    Constraints: (C1) the parent is an `ad.fusion` or `ad.kernel`.

    Adjoint: none: fusions come after differentiation.

    Example:
    ```mlir
    ad.yield %y : tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ /* yields nothing */ }]>];
}

def AD_FusionOp : AD_Op<"fusion", [IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "cluster of operations that becomes one kernel";
  let description = [{
    Semantics: that of the operations in the region, whose arguments are the operands. `allow` is the intersection of
    the permissions of these operations, `order` the one summation order that they share.

    Constraints: (C1) the arguments of the region have the types of the inputs; (C2) the region ends with
    `ad.yield`; (C3) the results have the types of the yielded values.

    Adjoint: none: fusions come after differentiation.

    Example:
    ```mlir
    %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
      %0 = ad.exp %a : tensor<4xf32>
      ad.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins EnumAttr<AD_Dialect, AD_FusionKind, "fusion_kind">:$kind, Variadic<AnyType>:$inputs,
                       OptionalAttr<StrAttr>:$kernel,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let results = (outs Variadic<AD_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def AD_KernelOp : AD_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, SingleBlock, Symbol]> {
  let summary = "function-like code of one kernel";
  let description = [{
    Semantics: a fusion that was outlined from the host program. Arguments are the fusion's operands, results its
    results, the body is linalg on tensors. Class, order and permissions are those of the fusion. Code generators emit
    a function that runs a range of units of work.

    Constraints: (C1) the block has the arguments of the function type; (C2) the body ends with `ad.yield`; (C3)
    the results have the types of the yielded values.

    Adjoint: none: kernels come after differentiation.

    Example:
    ```mlir
    ad.kernel @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
      ad.yield %a : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility, OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       StrAttr:$kernel_class,
                       OptionalAttr<AD_OrderAttr>:$order, OptionalAttr<AD_PermissionsAttr>:$allow);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def AD_LaunchOp : AD_Op<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one execution of a kernel";
  let description = [{
    Semantics: runs the kernel on the inputs. The dynamic sizes of the results are index operands. After memory
    planning, `into` names for each result the buffer that the kernel writes it into. `tied` names for each result the
    input whose content that buffer must hold before the kernel runs, or -1.

    Constraints: (C1) the symbol names an `ad.kernel` (a function once code has been emitted); (C2) inputs agree
    with the arguments of the kernel; (C3) results agree with the results of the kernel; (C4) there are no destinations,
    or one for each result; (C5) there is one size for each dynamic dimension of the results; (C6) `tied` has an entry
    for each result, which is -1 or the number of an input.

    Adjoint: none: launches come after differentiation.

    Example:
    ```mlir
    %y = ad.launch @k(%x) sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
    %z = ad.launch @k(%x) sizes(%n) into(%buffer) : (tensor<?xf32>) -> tensor<?xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, Variadic<Index>:$sizes,
                       Variadic<AD_Buffer>:$destinations, OptionalAttr<DenseI64ArrayAttr>:$tied);
  let results = (outs Variadic<AD_Tensor>:$results);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` (`sizes` `(` $sizes^ `)`)? (`into` `(` $destinations^ `)`)?
    attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

def AD_ElementaryOp : AD_Op<"elementary", [Pure, SameOperandsAndResultType]> {
  let summary = "elementary function of scalars or vectors";
  let description = [{
    Semantics: the function of lib/Numerics/Math on f32 or f64, elementwise on vectors. The form of elementary functions
    inside kernels; expanded into arith operations last. `approximate` selects the shorter form that the permission
    `approx` allows, whose error docs/numerics-functions.md bounds.

    Constraints: (C1) there are two operands for `pow` and `atan2`, else one; (C2) `approximate` needs f32 and one of
    `tanh`, `erf`, `sigmoid`, `silu`, `gelu` or `gelu_tanh`.

    Adjoint: that of the operation of `ad` with the same function, as scalar code.

    Example:
    ```mlir
    %y = ad.elementary exp %x : f32
    %z = ad.elementary pow %x, %y : vector<16xf32>
    %t = ad.elementary approximate tanh %x : f32
    ```
  }];
  let arguments = (ins AD_ElementaryFunctionAttr:$function, UnitAttr:$approximate,
                       Variadic<AnyTypeOf<[F32, F64, VectorOfAnyRankOf<[F32, F64]>]>>:$inputs);
  let results = (outs AnyTypeOf<[F32, F64, VectorOfAnyRankOf<[F32, F64]>]>:$result);
  let assemblyFormat = "(`approximate` $approximate^)? $function $inputs attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def AD_ConvertOp : AD_Op<"convert", [Pure]> {
  let summary = "conversion of scalars or vectors between element types";
  let description = [{
    Semantics: the conversion of `ad.cast` on one scalar or vector. The form of casts inside kernels; expanded into
    integer operations last, since upstream's casts call symbols or flush subnormals.

    Constraints: (C1) both types are element types of tensors or vectors of them; (C2) both sides are scalars or
    vectors of one shape.

    Adjoint: g, converted back; zero if one side is an integer.

    Example:
    ```mlir
    %y = ad.convert %x : f32 to bf16
    ```
  }];
  let arguments = (ins AnyType:$input);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def AD_RequireOp : AD_Op<"require", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "run-time condition";
  let description = [{
    Semantics: does nothing when the condition holds; otherwise the program fails with a located run-time error. `kind`
    is one of adrt_failure (include/adjoint/Runtime/adrt.h), `values` are the numbers that its message names,
    `requiredBy` is the name of the operation that needs the condition.

    Adjoint: none: no results.

    Example:
    ```mlir
    ad.require 1 %ok(%dimension, %expected, %actual) "ad.dot"
    ```
  }];
  let arguments = (ins I32Attr:$kind, I1:$condition, Variadic<Index>:$values, StrAttr:$requiredBy);
  let assemblyFormat = "$kind $condition `(` $values `)` $requiredBy attr-dict";
  let extraClassDeclaration = [{
    /// Whether the operation is a condition, or a branch without results that has one: what comes after it runs only
    /// if the condition holds.
    static bool isOneOrHasOne(::mlir::Operation *op);
  }];
}

def AD_GuardOp : AD_Op<"guard", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "return from the entry unless a runtime service succeeded";
  let description = [{
    Semantics: continues when the status is 0; otherwise the enclosing entry returns it. Appears only in lowered host
    programs, where it becomes a branch once structured control flow is gone.

    Adjoint: none: no results.

    Example:
    ```mlir
    ad.guard %status
    ```
  }];
  let arguments = (ins I32:$status);
  let assemblyFormat = "$status attr-dict";
}

#endif // ADJOINT_DIALECT_AD_IR_ADKERNELOPS
