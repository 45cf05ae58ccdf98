// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which modes and permissions go together, used by the parser of the attribute and by the options of passes.

#ifndef ADJOINT_DIALECT_AD_IR_NUMERICSCONTRACT_H
#define ADJOINT_DIALECT_AD_IR_NUMERICSCONTRACT_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"

namespace mlir::ad {

/// Why a mode refuses additional permissions; empty if it does not.
std::string checkContract(NumericsMode mode, Permissions extra);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_NUMERICSCONTRACT_H
