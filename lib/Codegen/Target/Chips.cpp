// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Target/Chips.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad;

// The oldest version of PTX with the chip and the instructions of our kernels, so that old drivers accept it.
// PTX also runs on later chips, some of which have less shared memory: kMinSharedBytes is what all of them
// have. Only sm_90a code stays on its chip.
static constexpr int64_t kMinSharedBytes = 99 * 1024;
static constexpr Chip chips[] = {{"sm_80", "ptx74", kMinSharedBytes}, {"sm_86", "ptx74", kMinSharedBytes},
                                 {"sm_89", "ptx78", kMinSharedBytes}, {"sm_90", "ptx80", kMinSharedBytes},
                                 {"sm_90a", "ptx80", 227 * 1024},     {"sm_100", "ptx86", kMinSharedBytes}};

std::optional<Chip> ad::findChip(StringRef name) {
  const auto *found = llvm::find_if(chips, [&](const Chip &chip) { return chip.name == name; });
  return found == std::end(chips) ? std::nullopt : std::optional<Chip>(*found);
}

std::string ad::chipNames() {
  SmallVector<StringRef> names =
      llvm::map_to_vector(chips, [](const Chip &chip) -> StringRef { return chip.name; });
  StringRef last = names.pop_back_val();
  return llvm::join(names, ", ") + " or " + last.str();
}
