// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum) along any axis: one chain, or nested chains (decision 0046). In nested chains
// each block of the order is a chain of its own, and what is stored is `carry ∘ step`, where the carry is the
// running total of the blocks before.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H

#include "../Outputs/ElementStores.h"
#include "../Values/AccessMaps.h"
#include "ReductionLoops.h"

namespace mlir::ad::codegen {

/// The running reduction that the value is the result of, which stores the accumulator of each step; else
/// null.
linalg::GenericOp scanOf(Value output);

/// The loop of a running reduction.
unsigned scannedDim(linalg::GenericOp scan);

/// From the loops of a running reduction to the axes of its result.
AffineMap stepMapOf(linalg::GenericOp scan);

/// Whether memory is contiguous along the scanned axis of the result.
bool isContiguousScan(linalg::GenericOp scan);

/// What the stored result of a step is computed from: the accumulator before the step, the one after it, and
/// other values of the body.
struct StepOperands {
  bool before = false, next = false, others = false;
};
StepOperands operandsOfStep(linalg::GenericOp scan);

class ScanEmitter : public KernelComponent {
public:
  ScanEmitter(KernelContext &context, ValueSource &values, LaneValues &laneValues, AccessMaps &maps,
              KernelArguments &arguments, ReductionLoops &loops, ElementStores &stores)
      : KernelComponent(context), values(values), laneValues(laneValues), maps(maps), arguments(arguments),
        reductionLoops(loops), stores(stores) {}
  virtual ~ScanEmitter() = default;

  /// The nest over the axes that are not scanned: it has a chain at each position.
  Nest nestOverChains(linalg::GenericOp scan);
  SmallVector<UnitLoop> loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfChains);
  /// The chains at the positions, with a store of each step.
  LogicalResult emitChains(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Position> positions);

  /// Whether the order of the kernel nests chains, and the reduction is joined by them.
  bool hasNestedChains(linalg::GenericOp scan);
  /// The loops of the chain at that position.
  SmallVector<Index> loopsOf(linalg::GenericOp scan, const Position &position);

  // Values of the lanes of the code being emitted.
  /// What the first block starts from.
  FailureOr<Value> startOf(linalg::GenericOp scan, const Position &position);
  /// What the other blocks start from: it is joined to any value without changing it.
  Value neutralOf(linalg::GenericOp scan);
  /// A carry of null is absent.
  Value join(linalg::GenericOp scan, Value carry, Value own);
  /// The accumulator after a step of a block.
  FailureOr<Value> nextOf(linalg::GenericOp scan, ArrayRef<Index> loops, Value accumulator);
  /// What is stored, from the accumulator before and after the step.
  FailureOr<Value> resultOf(linalg::GenericOp scan, ArrayRef<Index> loops, Value carry, Value accumulator,
                            Value next);

  /// The elements [lower, upper) of a chain: a part of one tile of the order.
  struct Tile {
    Value lower, upper;
    Value start; // of the block that begins at element 0
    Value carry; // the running total of the tiles before; null in the first one
  };
  /// Emits the blocks of a tile, and stores their steps unless `destination` is null. Returns the total.
  FailureOr<Value> emitTile(linalg::GenericOp scan, const Buffer *destination, ArrayRef<Index> loops,
                            const Tile &tile);
  /// All tiles of [lower, upper), where `lower` is the beginning of one.
  LogicalResult emitTiles(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                          const Tile &range);

protected:
  /// The steps of one block.
  struct Block {
    Value lower, upper;
    Value carry; // null: the accumulator is stored
  };
  /// Emits steps of a block from its first one on, and sets the step and the accumulator that follow them.
  virtual LogicalResult scanVectors(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                    const Block &block, Value &step, Value &accumulator) {
    return success();
  }
  /// Emits blocks of a tile from its first one on, and sets the element and the total that follow them.
  virtual LogicalResult scanLeadingBlocks(linalg::GenericOp scan, const Buffer *destination,
                                          ArrayRef<Index> loops, const Tile &tile, Value &lower,
                                          Value &total) {
    return success();
  }

  ValueSource &values;
  LaneValues &laneValues;
  AccessMaps &maps;
  KernelArguments &arguments;
  ReductionLoops &reductionLoops;
  ElementStores &stores;

private:
  FailureOr<Value> scanBlock(linalg::GenericOp scan, const Buffer *destination, ArrayRef<Index> loops,
                             const Block &block, Value start);
  FailureOr<Value> scanSteps(linalg::GenericOp scan, const Buffer *destination, ArrayRef<Index> loops,
                             const Block &block, Value from, Value start);
  FailureOr<Value> scanBlocks(linalg::GenericOp scan, const Buffer *destination, ArrayRef<Index> loops,
                              const Tile &tile, Value lower, Value total);
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_REDUCTION_SCANEMITTER_H
