// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The implementations that users choose by name: one table for the pass, the command line and its list.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELS_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace mlir::ad {
/// The name and the contract of one implementation.
struct NamedKernel {
  llvm::StringLiteral op;   ///< without `ad.`; empty: each operation that sums
  llvm::StringLiteral name; ///< unique among those of an operation
  llvm::StringLiteral order;
  llvm::StringLiteral accumulator;
  /// What a rewrite that nobody names would need. A named kernel needs none.
  llvm::StringLiteral permissions;
  llvm::StringLiteral bound; ///< of the error; u is the unit roundoff of the accumulator
};

/// OP=NAME.
struct KernelChoice {
  std::string op, name;
};

/// Reads OP=NAME[,OP=NAME...]. An error names what was expected, with all choices, and what was found.
/// `context` has the `ad` dialect loaded.
llvm::Expected<std::vector<KernelChoice>> parseKernelChoices(MLIRContext *context, llvm::StringRef text);

/// The table that `ad-runner --list-kernels` prints.
void printNamedKernels(MLIRContext *context, llvm::raw_ostream &os);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_NAMEDKERNELS_H
