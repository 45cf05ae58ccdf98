// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One line about a difference or a value, letter by letter as `string_diff` and `string_type` of the package
// onnx-diagnostic write it.
#ifndef ADJOINT_DIFF_STRINGFORMS_H
#define ADJOINT_DIFF_STRINGFORMS_H

#include "adjoint/Diff/Value.h"

namespace mlir::ad::diff {

/// `abs=1000.0, rel=111.09876680370562, n=12.0/#8>0.0-#1>100.0,amax=2,1`. The counts, the place and the
/// devices are there if the difference has them.
std::string stringDiff(const MaxDiff &diff);

/// The same as an object of JSON, as Python's json.dumps writes it. `ratios` adds the share of elements above
/// each threshold and the mean, if there are thresholds.
std::string stringDiffJSON(const MaxDiff &diff, bool ratios = false);

/// The key of a threshold: `>0.0001`.
std::string thresholdKey(double threshold);

struct StringTypeOptions {
  bool shape = false;  ///< `A1s3x4` instead of `A1r2`
  bool minMax = false; ///< `[min,max:Amean]`, and the values of scalars
  bool device = false; ///< `C` or `G` before the class
  size_t limit = 20;   ///< longer containers show their first item alone
};

/// `#1[CT1s2x4[0.0,1.0:A0.5]]`. The numbers are the element types of ONNX.
std::string stringType(const Value &value, const StringTypeOptions &options = {});

/// The number that ONNX gives an element type.
int onnxType(adrt_type type);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_STRINGFORMS_H
