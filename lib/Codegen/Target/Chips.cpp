// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Target/Chips.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad;

// An old PTX version is accepted by old drivers. PTX also runs on later chips, some of which have less shared
// memory: kMinSharedBytes is what all of them have. Only sm_90a code stays on its chip, and only that chip
// has wgmma.
static constexpr int64_t kMinSharedBytes = 99 * 1024;
// {name, ptx, sharedBytes, hasWgmma, clusterBlocks, ptxOfByteFloats}
static constexpr Chip kChips[] = {
    {"sm_80", "ptx74", kMinSharedBytes, false, 1, ""},
    {"sm_86", "ptx74", kMinSharedBytes, false, 1, ""},
    {"sm_89", "ptx78", kMinSharedBytes, false, 1, "ptx84"},
    {"sm_90", "ptx80", kMinSharedBytes, false, 8, "ptx84"},
    {"sm_90a", "ptx80", 227 * 1024, true, 8, "ptx84"},
    {"sm_100", "ptx86", kMinSharedBytes, false, 8, "ptx86"},
};

ArrayRef<Chip> ad::chips() { return kChips; }

std::optional<Chip> ad::findChip(StringRef name) {
  const auto *found = llvm::find_if(kChips, [&](const Chip &chip) { return chip.name == name; });
  return found == std::end(kChips) ? std::nullopt : std::optional<Chip>(*found);
}

std::string ad::chipNames() {
  SmallVector<StringRef> names =
      llvm::map_to_vector(kChips, [](const Chip &chip) -> StringRef { return chip.name; });
  StringRef last = names.pop_back_val();
  return llvm::join(names, ", ") + " or " + last.str();
}
