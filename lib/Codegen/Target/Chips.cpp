// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Target/Chips.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ad;

// The oldest version of PTX that has the chip and what our kernels use, so that old drivers take it.
// Later chips run it too, and some have less shared memory; only code with instructions of one chip stays
// there.
static constexpr int64_t kLeastShared = 99 * 1024;
static constexpr Chip chips[] = {{"sm_80", "ptx74", kLeastShared}, {"sm_86", "ptx74", kLeastShared},
                                 {"sm_89", "ptx78", kLeastShared}, {"sm_90", "ptx80", kLeastShared},
                                 {"sm_90a", "ptx80", 227 * 1024},  {"sm_100", "ptx86", kLeastShared}};

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
