// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads the option of ad-insert-precision-free-casts: the kernels that a target does not have.
#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_MISSINGKERNELS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_MISSINGKERNELS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

#include <set>

namespace mlir::ad {

/// Names of operations with a type of their operands, such as {"ad.dot", "f16"}.
using MissingKernels = std::set<std::pair<std::string, std::string>>;

/// Reads OP:TYPE,…; an empty text names none. The dialect has to be loaded.
llvm::Expected<MissingKernels> parseMissingKernels(MLIRContext *context, llvm::StringRef text);

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_MISSINGKERNELS_H
