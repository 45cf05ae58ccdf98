// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan for readers.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_REPORT_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_REPORT_H

#include "Placement.h"

namespace mlir::ad {

/// A planned function.
struct PlannedFunction {
  std::string name;
  SmallVector<PlannedBuffer> buffers;
  SmallVector<PoolSummary> pools;
  SmallVector<std::string> peaks;      ///< for each pool, where most is live
  std::vector<std::string> operations; ///< by number: the name, of a launch that of its kernel
  int64_t end = 0;                     ///< number behind the last operation
};

/// What each pool needs, how much that saves, and how far it is from the least.
void printReport(ArrayRef<PlannedFunction> functions, raw_ostream &os);

/// An SVG with a rectangle for each buffer of a pool: offset against lifetime, axes with sizes and names.
void drawPicture(ArrayRef<PlannedFunction> functions, raw_ostream &os);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_REPORT_H
