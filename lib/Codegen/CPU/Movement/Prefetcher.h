// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Software prefetch of operands and results that come from beyond the caches.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_PREFETCHER_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_PREFETCHER_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../Contraction/ProductGroups.h"
#include "../Contraction/TransposedOperands.h"
#include "../Row/StackRowCache.h"

namespace mlir::ad::cpu {

class Prefetcher : public CPUComponent {
public:
  Prefetcher(CPUContext &context, MemoryAccess &memoryAccess, AccessMaps &maps, StackRowCache &rowCache,
             TransposedOperands &transposedOperands, ProductGroups &productGroups)
      : CPUComponent(context), memoryAccess(memoryAccess), maps(maps), rowCache(rowCache),
        transposedOperands(transposedOperands), productGroups(productGroups) {}

  /// The levels of caches, as LLVM's prefetch calls them.
  static constexpr int32_t kFirstLevel = 3, kSecondLevel = 2;
  SmallVector<Value> largeInputs(const CPUNest &space);
  void choosePrefetched(const CPUNest &space);
  void prefetch(const Buffer &buffer, const Position &position, int64_t bytes, int32_t level = kFirstLevel);
  void prefetchInReduction(linalg::GenericOp sum, Value element);
  void prefetchNextRow(ArrayRef<Position> positions);
  void prefetchOperandsAhead(linalg::GenericOp generic, ArrayRef<Index> loops, Value first);
  void prefetchChainsAhead(linalg::GenericOp scan, ArrayRef<Index> loops, unsigned along, Value first);
  void prefetchNextTile(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops, Value indexK);
  void prefetchCombined(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops, Value indexK);

private:
  void prefetchCacheLines(const Buffer &buffer, const Position &position, int64_t rowsAhead, bool toWrite);
  void prefetchRowsAhead(const Buffer &buffer, AffineMap map, ArrayRef<Index> loops, unsigned along,
                         Value first);
  bool hasNarrowBlocks(int64_t sizeK, int64_t elementBytes);
  bool isTile(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops);
  SmallVector<Value> combinedWith(linalg::GenericOp product);
  OpOperand *leftOperand(linalg::GenericOp product, unsigned rowLoop);

  bool nextRowPrefetched = false;        // by a reduction along this row
  SmallVector<Buffer> prefetchedInputs;  // whose next row is prefetched
  SmallVector<Buffer> prefetchedResults; // whose row is prefetched before it is stored

  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  StackRowCache &rowCache;
  TransposedOperands &transposedOperands;
  ProductGroups &productGroups;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_PREFETCHER_H
