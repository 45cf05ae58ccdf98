// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Where loops over large operands begin, so that their vectors do not cross cache lines.
//
// The memory of the host has any alignment: arrays of NumPy begin 16 bytes after a multiple of 64. A vector
// that crosses a cache line reads two. Loops that read a few vectors of each of many rows then read every
// line twice, because rows that are pages apart map to one set of the first-level cache. Such loops begin
// with a partial vector, after which vectors begin at cache lines. The order of a sum does not depend on
// where its vectors begin.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_LINEALIGNMENT_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_LINEALIGNMENT_H

#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class LineAlignment : public CPUComponent {
public:
  LineAlignment(CPUContext &context, MemoryAccess &memoryAccess)
      : CPUComponent(context), memoryAccess(memoryAccess) {}

  /// Whether the argument comes from beyond the first-level cache, and all of its rows have the alignment of
  /// the first one.
  bool isWorthAligning(Value tensor) const;
  /// The number of elements from the position, whose last axis is contiguous, to the next cache line; at most
  /// `limit`.
  Value elementsToLine(const Buffer &buffer, const Position &position, Value limit);
  /// The same for a loop from `lower` to `upper` along the last axis of the results; null if the kernel has
  /// no operand or result to align.
  Value elementsToLine(const CPUNest &nest, Value lower, Value upper);

private:
  /// The largest argument whose last axis the lanes of the results index, else the largest result.
  std::optional<Buffer> bufferAlongLanes();

  MemoryAccess &memoryAccess;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_LINEALIGNMENT_H
