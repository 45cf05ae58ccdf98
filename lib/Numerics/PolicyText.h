// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the text of a policy says beyond its values.

#ifndef ADJOINT_LIB_NUMERICS_POLICYTEXT_H
#define ADJOINT_LIB_NUMERICS_POLICYTEXT_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::ad::numerics {

struct PolicyText {
  llvm::StringMap<std::string> places; ///< LINE:COLUMN of each element of a list, the first of equal ones
  std::string problem;                 ///< what YAML allows and a policy does not, with its place, or empty
};

/// Text that is not YAML has no problem here: the reader of the values says what is wrong.
PolicyText examinePolicy(llvm::StringRef text);

} // namespace mlir::ad::numerics

#endif // ADJOINT_LIB_NUMERICS_POLICYTEXT_H
