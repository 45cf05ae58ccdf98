// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions, and reductions of the elements of moving windows.

#ifndef ADJOINT_DIALECT_AD_IR_ADWINDOWOPS_H
#define ADJOINT_DIALECT_AD_IR_ADWINDOWOPS_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/WindowAxis.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"

namespace mlir::ad {
/// Of an operation that verifies its lists and shapes itself, before other traits rely on them.
template <typename ConcreteType>
class SpreadsWindows : public OpTrait::TraitBase<ConcreteType, SpreadsWindows> {
public:
  static LogicalResult verifyTrait(Operation *op) { return cast<ConcreteType>(op).verifyWindows(); }
};
} // namespace mlir::ad

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADWindowOps.h.inc"

#endif // ADJOINT_DIALECT_AD_IR_ADWINDOWOPS_H
