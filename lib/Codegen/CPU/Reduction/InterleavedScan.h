// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions of few chains: the lanes of a vector are consecutive blocks of one chain, which hides
// the latency of their steps.

#ifndef ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDSCAN_H
#define ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDSCAN_H

#include "../StackMemory.h"
#include "BlockedScan.h"

namespace mlir::ad::cpu {

class InterleavedScan : public BlockedScan {
public:
  template <class... Components>
  InterleavedScan(KernelContext &context, ValueSource &values, StackMemory &stackMemory,
                  Prefetcher &prefetcher, Components &...components)
      : BlockedScan(context, values, prefetcher, components...), stackMemory(stackMemory) {}

  /// Whether the chains are so few that vectors of the blocks of one chain are faster than vectors of
  /// adjacent chains, most of whose lanes would be empty.
  bool prefersBlocks(linalg::GenericOp scan);

private:
  /// Blocks in the lanes of a vector.
  struct Group {
    Value begin, count; // its first element; its blocks
    SmallVector<Value>
        isOwn; // whether the lane has a block of its own; null: it has. Others repeat the last one
    SmallVector<Index> loops; // of the steps, without the first one
    Value memory;             // of its vectors on the stack
    Type widest;              // of the elements that this memory has, one after the other
    bool keepsSteps = false;  // the accumulators of all steps are wanted
  };

  LogicalResult scanLeadingBlocks(linalg::GenericOp scan, const Buffer *destination, ArrayRef<Index> loops,
                                  const Tile &tile, Value &lower, Value &total) override;
  bool canInterleave(linalg::GenericOp scan, ArrayRef<Index> loops);
  Group groupAt(ArrayRef<Index> loops, Value begin, Value end);
  Value startOfGroup(linalg::GenericOp scan, const Tile &tile, const Group &group);
  FailureOr<Value> sumGroup(linalg::GenericOp scan, const Group &group, Value start);
  LogicalResult load(linalg::GenericOp scan, const Group &group);
  LogicalResult sumSquare(linalg::GenericOp scan, const Group &group, Value first, Value &accumulator);
  Value carriesOf(linalg::GenericOp scan, const Tile &tile, const Group &group, Value sums, Value &total);
  LogicalResult joinGroup(linalg::GenericOp scan, const Group &group, Value carries);
  LogicalResult joinSquare(linalg::GenericOp scan, const Group &group, Value first, Value carries);
  LogicalResult store(linalg::GenericOp scan, const Buffer &destination, const Group &group);
  SmallVector<Index> vectorAt(linalg::GenericOp scan, const Group &group, Value block, Value first);
  LogicalResult overVectors(const Group &group, function_ref<LogicalResult(Value, Value)> code);
  SmallVector<Index> stepOf(linalg::GenericOp scan, const Group &group, Value first, int64_t number);
  Value loadVector(const Group &group, Value block, Value first, Type element);
  void storeVector(const Group &group, Value block, Value first, Value vector);
  Value addressOf(const Group &group, Value block, Value first);

  StackMemory &stackMemory;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_REDUCTION_INTERLEAVEDSCAN_H
