// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel for the CPU: vectors along the contiguous axis, tiles of contractions in registers,
// ranges of work for threads. Each of these is a component.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CPUKERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_CPUKERNELEMITTER_H

#include "Contraction/AccumulatorSpilling.h"
#include "Contraction/ByteProducts.h"
#include "Contraction/ContractionBlocks.h"
#include "Contraction/DotProducts.h"
#include "Contraction/OperandPacking.h"
#include "Contraction/RegisterTranspose.h"
#include "Loops/LineAlignment.h"
#include "Loops/LoopNests.h"
#include "Loops/SeparateNests.h"
#include "Loops/WorkDistribution.h"
#include "Movement/BlockTranspose.h"
#include "Movement/ColumnInserts.h"
#include "Movement/FlatBroadcast.h"
#include "Movement/Prefetcher.h"
#include "Reduction/BlockedScan.h"
#include "Reduction/InterleavedBlocks.h"
#include "Reduction/LaneReductions.h"
#include "Reduction/MinMaxReduction.h"
#include "Reduction/PartialReductions.h"
#include "Reduction/StreamedReductions.h"
#include "Row/RowNests.h"
#include "Row/RowReductions.h"
#include "Row/ShortRows.h"
#include "Row/StackRowCache.h"
#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Codegen/Target/CPUs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::ad::cpu {

class CPUKernelEmitter : public KernelEmitter {
public:
  /// `lanes`: of a vector. `dotProducts`: the CPU has the dot-product instructions of bf16 and i8.
  CPUKernelEmitter(KernelOp kernel, FunctionOpInterface function, int64_t lanes, const TileTable &tiles,
                   bool dotProducts);

  /// Emits the body of a function that returns the number of partial results and their bytes. Returns the
  /// minimum number of threads that gain from them; 0 if the reductions of the kernel are not to be divided.
  FailureOr<int64_t> emitSizesOfPartialReductions();
  /// Emits the body of a function that returns the estimated nanoseconds of the kernel on one thread.
  LogicalResult emitNanoseconds();

  LogicalResult emitNest(const Nest &nest, Store store) override { return nests.emitNest(nest, store); }
  void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) override;

private:
  void bindRange(ValueRange arguments) override;
  LogicalResult emitOutputs() override;
  LogicalResult prepareOutputs(ValueRange outputs, ArrayRef<Position> positions) override {
    return spilling.evaluateReductions(outputs, positions);
  }
  std::optional<LogicalResult> emitInsertByColumn(tensor::InsertSliceOp insert, const Buffer &destination,
                                                  const AxisRange &range) override {
    return columnInserts.emitInsert(insert, destination, range);
  }
  LogicalResult scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                           Value &step, Value &accumulator) override {
    return blockedScan.emitBlocks(scan, destination, loops, step, accumulator);
  }
  FailureOr<Value> compute(Value tensor, const Position &position) override;
  FailureOr<Value> operandValue(OpOperand *input, ArrayRef<Index> loops) override;
  Position positionOf(OpOperand *input, ArrayRef<Index> loops) override;
  Value reload(Value value) override { return spilling.reload(value); }
  bool vectorizesRows(linalg::GenericOp generic) override { return rowReductions.vectorizesRows(generic); }
  FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                               const Position &position) override {
    return laneReductions.reduceLanes(generic, loops, identity, position);
  }
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
    return partials.orderedTree(generic, identities, positions, block, blocksPerLeaf);
  }
  FailureOr<SmallVector<Value>> hoistedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ArrayRef<Value> start, Value lower, Value upper) override;
  FailureOr<SmallVector<Value>> accumulate(linalg::GenericOp generic, ArrayRef<Index> loops,
                                           ValueRange accumulators) override;
  void afterChainStep(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value k) override;

  std::optional<LogicalResult> emitMovement(Value output);
  LogicalResult emitFlat(Nest nest, unsigned space);
  LogicalResult emitOverAxes(Nest nest, unsigned space, bool oneShape);
  LogicalResult emitStores(const Nest &nest);

public:
  //===- Components -------------------------------------------------------===//

  const TileTable tiles;
  const bool dotProducts; // of pairs of bf16 and of four i8
  AccumulatorSpilling spilling{*this};
  ContractionBlocks blocks{*this};
  BlockTranspose blockTranspose{*this};
  BlockedScan blockedScan{*this};
  ByteProducts byteDots{*this};
  ColumnInserts columnInserts{*this};
  DotProducts dots{*this};
  FlatBroadcast flatBroadcast{*this};
  InterleavedBlocks interleaver{*this};
  LaneReductions laneReductions{*this};
  LineAlignment lines{*this};
  LoopNests nests{*this};
  MinMaxReduction minMax{*this};
  OperandPacking packing{*this};
  PartialReductions partials{*this};
  Prefetcher prefetcher{*this};
  RegisterTranspose registerTranspose{*this};
  StackRowCache rowCache{*this};
  RowNests rowNests{*this};
  RowReductions rowReductions{*this};
  SeparateNests separateNests{*this};
  ShortRows shortRows{*this};
  StreamedReductions streaming{*this};
  WorkDistribution distribution{*this};
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CPUKERNELEMITTER_H
