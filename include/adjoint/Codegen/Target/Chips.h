// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The GPUs that code is generated for.

#ifndef ADJOINT_CODEGEN_TARGET_CHIPS_H
#define ADJOINT_CODEGEN_TARGET_CHIPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::ad {

/// A chip and the version of PTX that knows it.
struct Chip {
  StringLiteral name, ptx;
  int64_t sharedBytes; ///< that a block may have on every GPU that runs the code
};
/// The chips that code is generated for, and their names in a sentence.
std::optional<Chip> findChip(StringRef name);
std::string chipNames();

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_TARGET_CHIPS_H
