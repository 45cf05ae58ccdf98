// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which values of one traced run are which of another. Names come first: they are those of the program.
// Values without counterpart are matched by what they are.
#ifndef ADJOINT_DIFF_RUNMATCHING_H
#define ADJOINT_DIFF_RUNMATCHING_H

#include "adjoint/Diff/Record.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::ad::diff {

enum class ValueMatch {
  Name,      ///< kind, operation, type, name and run are the same
  LastNamed, ///< the last values of one name and run: an operation and what it became
  Value      ///< the hashes, or without them the fingerprints, are the same; in the order of both runs
};

struct MatchedValues {
  size_t left, right; ///< numbers of records
  ValueMatch by;
  /// The values may have nothing to do with each other: those of other operations or types, one chosen from
  /// several, constants of the compiler.
  bool isGuess = false;
};

struct RunMatching {
  std::vector<MatchedValues> pairs; ///< in the order of the left records
  std::vector<size_t> onlyLeft, onlyRight;
};

RunMatching matchRuns(llvm::ArrayRef<Record> left, llvm::ArrayRef<Record> right);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_RUNMATCHING_H
