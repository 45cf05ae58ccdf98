// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan for readers.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_REPORT_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_REPORT_H

#include "OffsetAssignment.h"

namespace mlir::ad {

/// A planned function.
struct PlannedFunction {
  std::string name;
  SmallVector<PlannedBuffer> buffers;
  SmallVector<PoolSummary> pools;
  SmallVector<std::string> peaks;      ///< for each pool, the operation at its largest live set
  std::vector<std::string> operations; ///< by number: the name, or that of the launched kernel
  int64_t end = 0;                     ///< number after the last operation
};

/// Bytes of each pool, the bytes that reuse saves, and the distance from the lower bound.
void printReport(ArrayRef<PlannedFunction> functions, raw_ostream &os);

/// An SVG with a rectangle for each buffer of a pool: offset against lifetime, axes with sizes and names.
void drawPicture(ArrayRef<PlannedFunction> functions, raw_ostream &os);

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_REPORT_H
