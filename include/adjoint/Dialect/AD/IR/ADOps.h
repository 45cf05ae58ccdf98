// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The operations of the `ad` dialect and the helpers that build them.

#ifndef ADJOINT_DIALECT_AD_IR_ADOPS_H
#define ADJOINT_DIALECT_AD_IR_ADOPS_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/IR/NumericsOpInterface.h"
#include "adjoint/Interfaces/DifferentiableOpInterface.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Interfaces/ReductionOpInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::ad {
/// On a contraction, and on its linalg.generic: the instruction that every kernel with it has to use, a
/// InstructionAttr.
inline constexpr llvm::StringLiteral kInstructionAttr = "ad.instruction";

/// On a linalg.generic: the permissions of the operation that it computes, a PermissionsAttr. (Its kernel has
/// only the permissions that all of its operations share.)
inline constexpr llvm::StringLiteral kLinalgAllowAttr = "ad.allow";

/// Fails, after a diagnostic, for an attribute without a dialect's prefix that is not one of the operation's.
LogicalResult verifyKnownAttributes(Operation *op);

/// The trait of all operations of the dialect that checks this.
template <typename ConcreteType>
class KnownAttributes : public OpTrait::TraitBase<ConcreteType, KnownAttributes> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyKnownAttributes(op); }
};

/// The trait of operations whose first result has the shape of their first operand.
template <typename ConcreteType>
class ShapeOfFirstOperand : public OpTrait::TraitBase<ConcreteType, ShapeOfFirstOperand> {};

/// The trait of reductions whose every partial result is an element of the result.
template <typename ConcreteType>
class RunningReduction : public OpTrait::TraitBase<ConcreteType, RunningReduction> {};
} // namespace mlir::ad

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADCreationOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADShapeOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADContractionOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADReductionOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADNNOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADControlOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADDifferentiationOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADKernelOps.h.inc"
#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADMemoryOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADOPS_H
