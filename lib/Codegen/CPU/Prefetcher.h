// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Software prefetch of operands and results that come from beyond the caches.

#ifndef ADJOINT_LIB_CODEGEN_CPU_PREFETCHER_H
#define ADJOINT_LIB_CODEGEN_CPU_PREFETCHER_H

#include "CPUComponent.h"

namespace mlir::ad::cpu {

class Prefetcher : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// The levels of caches, as LLVM's prefetch calls them.
  static constexpr int32_t kFirstLevel = 3, kSecondLevel = 2;
  SmallVector<Value> largeInputs(const Nest &space);
  void chooseFetched(const Nest &space);
  void fetchAhead(const Buffer &buffer, const Position &position, int64_t bytes, int32_t level = kFirstLevel);
  void fetchInSum(linalg::GenericOp sum, Value element);
  void fetchNextRow(ArrayRef<Position> positions);
  void fetchRowsAhead(linalg::GenericOp generic, ArrayRef<Index> loops, Value first);
  void fetchNextTile(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops, Value depth);

private:
  void fetchLines(const Buffer &buffer, const Position &position, int64_t rowsAhead, bool toWrite);
  bool hasNarrowBlocks(int64_t depth, int64_t elementBytes);
  OpOperand *leftOperand(linalg::GenericOp product, unsigned rowLoop);

  bool nextRowFetched = false;        // by a sum along this row
  SmallVector<Buffer> fetchedInputs;  // whose next row is fetched ahead
  SmallVector<Buffer> fetchedResults; // whose row is fetched before it is stored
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_PREFETCHER_H
