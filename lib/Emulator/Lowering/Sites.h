// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The instructions that messages can name. A kernel has thousands of them, so they become two plain arrays of
// the compiled module: texts and offsets.
#ifndef ADJOINT_LIB_EMULATOR_LOWERING_SITES_H
#define ADJOINT_LIB_EMULATOR_LOWERING_SITES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <string>
#include <vector>

namespace mlir::LLVM {
class GlobalOp;
} // namespace mlir::LLVM

namespace mlir::ad::emulator {

class SiteTable {
public:
  /// A number that stands for the place of `op` and its name. Instructions of one place have numbers of their
  /// own: what the lanes of a warp ask of memory belongs together by instruction.
  int64_t add(Operation *op);
  size_t size() const { return offsets.size() / 2; }
  /// The two arrays, made at the first call. The table must be complete.
  std::pair<LLVM::GlobalOp, LLVM::GlobalOp> emit(ModuleOp module);

private:
  int32_t addText(llvm::StringRef text);
  Operation *emittedTexts = nullptr, *emittedOffsets = nullptr;
  std::string texts;
  std::vector<int32_t> offsets;
  llvm::StringMap<int32_t> textOffsets;
};

} // namespace mlir::ad::emulator

#endif // ADJOINT_LIB_EMULATOR_LOWERING_SITES_H
