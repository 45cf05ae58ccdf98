// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions on CPUs: which component reduces blocks, lanes, and rows of lanes, and how blocks are joined.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_CPUREDUCTIONS_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_CPUREDUCTIONS_H

#include "../../Kernel/Reduction/ReductionEmitter.h"
#include "../Bytes/ByteChains.h"
#include "../Row/RowReductions.h"
#include "InterleavedBlocks.h"
#include "LaneReductions.h"

namespace mlir::ad::cpu {

class CPUReductions : public ReductionEmitter {
public:
  CPUReductions(CPUContext &context, ValueSource &values, LaneValues &laneValues, AccessMaps &maps,
                ReductionLoops &loops, ReductionChains &chains, PairwiseTree &tree,
                MemoryAccess &memoryAccess, StackMemory &stackMemory, StackRowCache &rowCache,
                LaneReductions &laneReductions, RowReductions &rowReductions, ProductGroups &productGroups,
                ByteChains &byteChains, InterleavedBlocks &interleavedBlocks,
                PartialResultTrees &partialTrees)
      : ReductionEmitter(context, values, laneValues, maps, loops, chains, tree), memoryAccess(memoryAccess),
        stackMemory(stackMemory), rowCache(rowCache), laneReductions(laneReductions),
        rowReductions(rowReductions), productGroups(productGroups), byteChains(byteChains),
        interleavedBlocks(interleavedBlocks), partialTrees(partialTrees) {}

private:
  FailureOr<Value> reduceEachRow(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                 const Position &position);
  FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                               const Position &position) override;
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper, int64_t count) override {
    return laneReductions.laneChunk(generic, loops, identity, lower, upper, count);
  }
  FailureOr<SmallVector<Value>> reduceBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ArrayRef<Value> identities,
                                             ArrayRef<Position> positions) override;
  FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                            ArrayRef<Position> positions, BlockCode block,
                                            int64_t blocksPerLeaf) override {
    return partialTrees.orderedTree(generic, identities, positions, block, blocksPerLeaf);
  }

  MemoryAccess &memoryAccess;
  StackMemory &stackMemory;
  StackRowCache &rowCache;
  LaneReductions &laneReductions;
  RowReductions &rowReductions;
  ProductGroups &productGroups;
  ByteChains &byteChains;
  InterleavedBlocks &interleavedBlocks;
  PartialResultTrees &partialTrees;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_CPUREDUCTIONS_H
