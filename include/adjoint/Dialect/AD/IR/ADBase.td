// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Base classes of all operations of the `ad` dialect.

#ifndef ADJOINT_DIALECT_AD_IR_ADBASE
#define ADJOINT_DIALECT_AD_IR_ADBASE

include "adjoint/Dialect/AD/IR/ADAttributes.td"
include "adjoint/Dialect/AD/IR/ADDialect.td"
include "adjoint/Dialect/AD/IR/ADTypes.td"
include "adjoint/Dialect/AD/IR/NumericsOpInterface.td"
include "adjoint/Interfaces/ElementwiseOpInterface.td"
include "adjoint/Interfaces/FusableOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Refuses attributes that the operation does not have, unless they have the prefix of a dialect: without this check a
// misspelt option would silently have no effect.
def AD_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::mlir::ad";
}

// The first result has the shape of the first operand, which analyses of sizes follow.
def AD_ShapeOfFirstOperand : NativeOpTrait<"ShapeOfFirstOperand"> {
  let cppNamespace = "::mlir::ad";
}

// Every partial result of the reduction is an element of the result, as in a running sum.
def AD_RunningReduction : NativeOpTrait<"RunningReduction"> {
  let cppNamespace = "::mlir::ad";
}

class AD_Op<string mnemonic, list<Trait> traits = []>
    : Op<AD_Dialect, mnemonic, !listconcat([AD_KnownAttributes], traits)>;

// An operation that computes tensors. It is pure, its sizes are known from its operands, a fusion may contain it, and
// its permissions are an inherent attribute.
class AD_ComputeOp<string mnemonic, list<Trait> traits = []>
    : AD_Op<mnemonic, !listconcat(traits, [
        Pure,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>,
        NumericsOpInterface, FusableOpInterface])>;

#endif // ADJOINT_DIALECT_AD_IR_ADBASE
