// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The proof of memory plans. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PLANCHECK_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PLANCHECK_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mlir::ad::diff {

/// What is wrong. Places are in the source, without the folder of the file.
struct WrongPlan {
  std::string message; ///< of ad-verify-memory-plan
  std::string place;
  /// The first operation writes over the value of the second one, which the third one reads later. Empty if
  /// something else is wrong.
  std::string writer, overwritten, reader;
};

/// Proves the plan of a program that `ad-runner --dump-plan` has written, as `ad-verify-memory-plan` does,
/// whatever the build that made the plan has proved. None if it is right, or if this build cannot read it.
std::optional<WrongPlan> findWrongPlan(llvm::StringRef planned);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PLANCHECK_H
