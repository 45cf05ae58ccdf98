// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The proof of memory plans of traced runs. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PLANCHECK_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PLANCHECK_H

#include "StageSearch.h"

namespace mlir::ad::diff {

/// What is wrong. Places are in the source, without the folder of the file.
struct WrongPlan {
  std::string message; ///< of ad-verify-memory-plan
  std::string place;
  /// The first operation writes over the value of the second one, which the third one reads later. Empty if
  /// something else is wrong.
  std::string writer, overwritten, reader;

  bool operator==(const WrongPlan &other) const {
    return std::tie(message, place, writer, overwritten, reader) ==
           std::tie(other.message, other.place, other.writer, other.overwritten, other.reader);
  }
};

/// Reads the plan of the run from its stages, and proves it as `ad-verify-memory-plan` does, whatever the
/// build that made the plan has proved. None if it is right, or if the run has no plan that this build can
/// read.
std::optional<WrongPlan> findWrongPlan(llvm::ArrayRef<TracedStage> stages);

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_PLANCHECK_H
