// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of one chunk in the order of the kernel: lane l of the order is a chain of thread l / vector of a
// group. The halving tree first joins lanes of a thread that are far apart, then those of different threads
// by shuffles, then contiguous lanes in a thread.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ROW_LANECHAINS_H
#define ADJOINT_LIB_CODEGEN_GPU_ROW_LANECHAINS_H

#include "RowComponent.h"

namespace mlir::ad::device {

class RowDistribution;
class RowRegisters;
class TermExchange;

class LaneChains : public RowComponent {
public:
  LaneChains(RowEmitter &emitter, RowDistribution &distribution, RowRegisters &registers, TermExchange &terms)
      : RowComponent(emitter), distribution(distribution), registers(registers), terms(terms) {}

  /// The sum of [lower, upper) by a group.
  FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity, Value lower,
                             Value upper);

private:
  FailureOr<SmallVector<Value>> addVector(linalg::GenericOp generic, ArrayRef<Index> loops,
                                          ArrayRef<Value> indices, ValueRange sums);
  SmallVector<Value> addTerms(linalg::GenericOp generic, ArrayRef<Value> indices, ValueRange sums);
  FailureOr<SmallVector<Value>> chainsInRegisters(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                  Value identity);
  FailureOr<SmallVector<Value>> chainLoop(linalg::GenericOp generic, ArrayRef<Index> loops, ValueRange start,
                                          Value first, Value upper, int64_t loads);
  FailureOr<SmallVector<Value>> chainsInLoops(linalg::GenericOp generic, ArrayRef<Index> loops,
                                              Value identity, Value lower, Value upper);
  void padEmptyLanes(linalg::GenericOp generic, MutableArrayRef<Value> sums, Value lower, Value upper);
  Value joinLanes(Operation *join, SmallVector<Value> sums);

  RowDistribution &distribution;
  RowRegisters &registers;
  TermExchange &terms;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ROW_LANECHAINS_H
