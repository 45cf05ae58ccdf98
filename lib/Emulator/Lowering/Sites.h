// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The sites of instructions, which messages name. A kernel has thousands of sites, so they become two plain
// arrays in the compiled module: texts and offsets.
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
  /// The number of a new site with the location and the name of `op`. Each instruction has its own site, even
  /// if the location is the same: memory requests of a warp are counted per instruction.
  int64_t add(Operation *op);
  size_t size() const { return offsets.size() / 2; }
  /// The two arrays. The first call creates them; the table must be complete.
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
