// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pairs the inputs of two runs. They are matched by name, then by fingerprint, then by order with a warning:
// runs that read exchanged inputs would differ for that reason alone.
#ifndef ADJOINT_DIFF_FEEDMATCHING_H
#define ADJOINT_DIFF_FEEDMATCHING_H

#include "adjoint/Diff/Record.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::ad::diff {

enum class MatchedBy { Name, Fingerprint, Shape, Order };

struct FeedMatch {
  size_t left, right; ///< numbers of records
  MatchedBy by;
};

struct FeedMatching {
  std::vector<FeedMatch> matches; ///< in the order of the left records
  /// Inputs that are ambiguous, that are missing in a run, or whose values differ.
  std::vector<std::string> warnings;
};

FeedMatching matchFeeds(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_FEEDMATCHING_H
