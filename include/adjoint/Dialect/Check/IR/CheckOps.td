// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `check` dialect: expectations that a program states about its own values.

#ifndef ADJOINT_DIALECT_CHECK_IR_CHECKOPS
#define ADJOINT_DIALECT_CHECK_IR_CHECKOPS

include "adjoint/Dialect/AD/IR/ADTypes.td"
include "adjoint/Interfaces/DifferentiableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::mlir::ad::check";
  let summary = "expectations about values, for tests that run on every target";
  let description = [{
    Each operation compares when it is executed. A failed expectation names the location, the first index that fails,
    both values and the largest difference; the runner then ends with exit code 3. Pass inputs through `ad.barrier`,
    so that no folder computes the test.
  }];
}

// Expectations have an effect, so that nothing removes, merges or reorders them. They are no part of a derivative.
class Check_Op<string mnemonic, list<Trait> traits = []>
    : Op<Check_Dialect, mnemonic,
         !listconcat(traits, [MemoryEffects<[MemRead, MemWrite]>, DifferentiableOpInterface])> {
  let extraClassDeclaration = [{
    bool isDifferentiable(unsigned) { return false; }
    ::llvm::LogicalResult vjp(::mlir::OpBuilder &, ::mlir::ValueRange, ::llvm::ArrayRef<bool>,
                              ::llvm::SmallVectorImpl<::mlir::Value> &operandCotangents) {
      operandCotangents.append(getOperation()->getNumOperands(), ::mlir::Value());
      return ::mlir::success();
    }
  }];
}

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "expects two tensors to be equal bit for bit";
  let description = [{
    Semantics: succeeds if both have the same shape and each pair of elements has the same bits or is NaN on both sides,
    whose sign and payload do not matter. -0 and +0 differ.

    Adjoint: none: it has no result.

    Example:
    ```mlir
    check.expect_eq(%actual, %expected) : tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_Tensor:$actual, AD_Tensor:$expected);
  let assemblyFormat = "`(` $actual `,` $expected `)` attr-dict `:` type($actual)";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "expects two tensors to be equal within a tolerance";
  let description = [{
    Semantics: succeeds if both have the same shape and for each pair of elements |actual - expected| <= tolerance, with
    `relative` <= tolerance * |expected|, computed in f64. Equal bits always pass, and so does NaN on both sides; an
    infinite expected element passes in no other way.

    Constraints: (C1) the tolerance is finite and not negative.

    Adjoint: none: it has no result.

    Example:
    ```mlir
    check.expect_almost_eq(%actual, %expected) {relative, tolerance = 1.0e-4 : f64} : tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$actual, AD_FloatTensor:$expected,
                       DefaultValuedAttr<F64Attr, "1.0e-6">:$tolerance, UnitAttr:$relative);
  let assemblyFormat = "`(` $actual `,` $expected `)` attr-dict `:` type($actual)";
  let hasVerifier = 1;
}

def Check_ExpectFiniteOp : Check_Op<"expect_finite"> {
  let summary = "expects all elements to be finite";
  let description = [{
    Semantics: succeeds if no element is infinite or NaN.

    Adjoint: none: it has no result.

    Example:
    ```mlir
    check.expect_finite(%x) : tensor<4xf32>
    ```
  }];
  let arguments = (ins AD_FloatTensor:$actual);
  let assemblyFormat = "`(` $actual `)` attr-dict `:` type($actual)";
}

#endif // ADJOINT_DIALECT_CHECK_IR_CHECKOPS
