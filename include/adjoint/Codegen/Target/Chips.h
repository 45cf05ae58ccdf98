// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The GPU chips that code is generated for, with the PTX version and the shared memory of each: one table.

#ifndef ADJOINT_CODEGEN_TARGET_CHIPS_H
#define ADJOINT_CODEGEN_TARGET_CHIPS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::ad {

/// A chip and the oldest PTX version that supports it.
struct Chip {
  StringLiteral name, ptx;
  int64_t sharedBytes; ///< the most of a block on every GPU that can run the code
};
/// The chip of that name, and all names in a sentence for diagnostics.
std::optional<Chip> findChip(StringRef name);
std::string chipNames();

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_TARGET_CHIPS_H
