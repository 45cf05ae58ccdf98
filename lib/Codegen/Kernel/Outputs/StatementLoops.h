// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops over the statement of a result, as a target has them.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_STATEMENTLOOPS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_STATEMENTLOOPS_H

#include "../KernelTypes.h"

namespace mlir::ad::codegen {

class StatementLoops {
public:
  /// Emits loops over the nest, and `store` at its positions.
  virtual LogicalResult emitStatement(const StatementNest &nest, Store store) = 0;

protected:
  ~StatementLoops() = default;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_STATEMENTLOOPS_H
