// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel, pulled from its results: to store an element, the emitter computes it where it is
// needed, from loads of the kernel's arguments, through access maps and scalar code. Vectors run along one
// axis of the iteration space: every index is a scalar plus a multiple of the lane, or, for computed
// accesses, a vector of its own.

#ifndef ADJOINT_LIB_CODEGEN_CPU_KERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_KERNELEMITTER_H

#include "AccumulatorSpilling.h"
#include "BlockEmitter.h"
#include "BlockTranspose.h"
#include "ByteProducts.h"
#include "DotProducts.h"
#include "FlatBroadcast.h"
#include "Hoisting.h"
#include "InsertEmitter.h"
#include "InterleavedBlocks.h"
#include "LaneReductions.h"
#include "LoopNests.h"
#include "MemoryAccess.h"
#include "MinMaxReduction.h"
#include "OperandPacking.h"
#include "PartialReductions.h"
#include "Prefetcher.h"
#include "ReductionEmitter.h"
#include "RegisterTranspose.h"
#include "RowCache.h"
#include "RowEmitter.h"
#include "RowReductions.h"
#include "ScanEmitter.h"
#include "SeparateNests.h"
#include "ShortRows.h"
#include "StreamedReductions.h"
#include "ValueEvaluator.h"
#include "WorkDistribution.h"
#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Codegen/Target/Tiles.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

namespace mlir::ad::cpu {

class KernelEmitter {
public:
  using Nest = cpu::Nest;
  using Store = cpu::Store;
  using UnitRange = cpu::UnitRange;
  using AxisRange = cpu::AxisRange;
  using Visited = cpu::Visited;
  using Key = cpu::Key;
  using RowRoots = cpu::RowRoots;
  using BlockCode = cpu::BlockCode;

  /// `dotProducts`: the processor has instructions for pairs of bf16 and for groups of four i8.
  KernelEmitter(KernelOp kernel, FunctionOpInterface function, int64_t lanes, const TileTable &tiles,
                bool dotProducts);
  virtual ~KernelEmitter() = default;

  /// Emits the whole body of the function but its terminator. Fails after a diagnostic when the kernel holds
  /// something that is not linalg.
  LogicalResult emit();

  /// What the function does: all of the kernel, partial results of its reductions, or the kernel from these.
  /// The last two have one argument more, before the range: the memory of the partial results.
  enum class Work { all, partial, merge };
  void setWork(Work asked) { work = asked; }
  /// Emits the body of a function that returns the number of partial results and their bytes.
  /// Returns the fewest threads that gain from them; 0 when the kernel's reductions are not to be divided.
  FailureOr<int64_t> emitSizesOfPartialReductions();
  /// Emits the body of such a function that returns about how long the kernel takes on one thread.
  LogicalResult emitNanoseconds();
  /// That, when the program knows all sizes; after emit().
  std::optional<int64_t> knownNanoseconds() { return distribution.knownNanoseconds(); }

protected:
  // --- KernelEmitter.cpp: arguments, sizes, roots and loop nests
  LogicalResult bindArguments();
  LogicalResult bindScalars();
  LogicalResult bindSizes();
  Value sizeOf(Value tensor, int64_t axis);
  /// The range of units, from the arguments of the function that no operand has taken.
  virtual void bindRange(ValueRange arguments);
  virtual LogicalResult emitRoots();
  virtual LogicalResult emitRoot(Value root, const Buffer &destination);
  bool isFlat(Value root, function_ref<bool(linalg::GenericOp)> isOfKind);
  std::optional<unsigned> rowSpaceOf(ValueRange roots);

  Nest nestOver(const Buffer &buffer, ValueRange roots);
  RowRoots splitByRow(ValueRange roots, ArrayRef<int64_t> space);
  virtual LogicalResult emitNest(const Nest &nest, Store store) { return nests.emitNest(nest, store); }
  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body);
  LogicalResult storeRoots(ValueRange roots, ArrayRef<Buffer> buffers, ArrayRef<Position> positions);
  virtual void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);

  LogicalResult storePerRow(ArrayRef<Value> roots, ArrayRef<Buffer> destinations, ArrayRef<Position> rows);

  static bool isExpensive(linalg::GenericOp generic);

  // --- Hoist.cpp: what loops that are still to be made will need in every iteration

  // --- Evaluate.cpp: values at positions
  virtual FailureOr<Value> compute(Value tensor, const Position &position) {
    return evaluator.compute(tensor, position);
  }
  /// Where the body at these loops reads the operand.
  Position positionOf(OpOperand *input, ArrayRef<Index> loops);

  // --- Strided.cpp: elements in reverse order or at small distances

  // --- Reduce.cpp: reductions in the written order
  /// Several accumulators: one chain over everything.
  virtual FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                   ArrayRef<Position> positions);
  virtual FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       const Position &position) {
    return laneReductions.reduceLanes(generic, loops, identity, position);
  }
  virtual FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t lanes) {
    return laneReductions.laneChunk(generic, loops, identity, lower, upper, lanes);
  }
  virtual FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                                    ArrayRef<Position> positions, BlockCode block,
                                                    int64_t blocksTogether);

  // PairwiseTree.cpp
  /// Of those whose length only the run knows: what waits for its neighbour has a place for each doubling.
  virtual int64_t longestReduction() const { return std::numeric_limits<int64_t>::max(); }

  // --- Memory.cpp: loads and stores
  virtual void store(const Buffer &buffer, const Position &position, Value value) {
    memoryAccess.store(buffer, position, value);
  }
  Value laneNumbers();
  Value laneVector(const Index &index);
  Value splat(Value scalar, int64_t lanes);

  Value indexConstant(int64_t value);
  template <class Op> Value binary(Value lhs, Value rhs) { return builder.createOrFold<Op>(loc, lhs, rhs); }

  /// Values computed at a position, valid in the blocks that the current one is nested in.
  class Scope {
  public:
    explicit Scope(KernelEmitter &emitter) : emitter(emitter) { emitter.evaluator.caches.emplace_back(); }
    ~Scope() { emitter.evaluator.caches.pop_back(); }

  private:
    KernelEmitter &emitter;
  };
  /// Packed operands, for the code of one block.
  class Packing {
  public:
    explicit Packing(KernelEmitter &emitter) : emitter(emitter) {}
    ~Packing() {
      emitter.packing.packedOperands.clear();
      emitter.byteDots.copiedRows.clear();
    }

  private:
    KernelEmitter &emitter;
  };
  /// Another number of lanes for a while.
  class WithLanes {
  public:
    WithLanes(KernelEmitter &emitter, int64_t lanes, Value mask)
        : emitter(emitter), savedLanes(emitter.lanes), savedMask(emitter.mask) {
      emitter.lanes = lanes;
      emitter.mask = mask;
    }
    ~WithLanes() {
      emitter.lanes = savedLanes;
      emitter.mask = savedMask;
    }

  private:
    KernelEmitter &emitter;
    int64_t savedLanes;
    Value savedMask;
  };

  KernelOp kernel;
  FunctionOpInterface function;
  OpBuilder builder;
  Location loc;
  const TileTable tiles;
  const bool dotProducts;          // of pairs of bf16 and of four i8
  int64_t vectorLanes;             // lanes of a vector loop
  int64_t lanes = 1;               // lanes of the code being emitted
  Value mask;                      // active lanes; null when all are
  int64_t interleavedColumns = 1;  // of short rows, whose vectors along the rows are stored together
  bool flat = false;               // positions are linear indices of equal shapes
  DenseMap<Value, Buffer> buffers; // tensor arguments
  SmallVector<Buffer> results;     // destinations
  IRMapping scalars;               // scalar values of the kernel body
  Value rangeBegin, rangeEnd;
  Work work = Work::all;
  Value partialMemory;
  llvm::SmallPtrSet<Operation *, 2> recorded; // contractions whose use of permissions has been reported
  std::map<int64_t, Value> constants;         // index constants, in the entry block
  DenseMap<int64_t, Value> laneCounts;        // 0, 1, 2, … by number of lanes, in the entry block

  // Components, which only the CPU uses. What they need of the emitter is not for its users, hence friends.
  friend class AccumulatorSpilling;
  friend class BlockEmitter;
  friend class BlockTranspose;
  friend class ByteProducts;
  friend class DotProducts;
  friend class FlatBroadcast;
  friend class Hoisting;
  friend class InsertEmitter;
  friend class InterleavedBlocks;
  friend class KernelComponent;
  friend class LaneReductions;
  friend class LoopNests;
  friend class MemoryAccess;
  friend class MinMaxReduction;
  friend class OperandPacking;
  friend class PartialReductions;
  friend class Prefetcher;
  friend class ReductionEmitter;
  friend class RegisterTranspose;
  friend class RowCache;
  friend class RowEmitter;
  friend class RowReductions;
  friend class ScanEmitter;
  friend class SeparateNests;
  friend class ShortRows;
  friend class StreamedReductions;
  friend class ValueEvaluator;
  friend class WorkDistribution;
  ValueEvaluator evaluator{*this};
  Hoisting hoisting{*this};
  MemoryAccess memoryAccess{*this};
  ReductionEmitter reductions{*this};
  LaneReductions laneReductions{*this};
  LoopNests nests{*this};
  AccumulatorSpilling spilling{*this};
  BlockEmitter blockEmitter{*this};
  BlockTranspose blockTranspose{*this};
  ByteProducts byteDots{*this};
  DotProducts dots{*this};
  FlatBroadcast flatBroadcast{*this};
  InsertEmitter insertEmitter{*this};
  InterleavedBlocks interleaver{*this};
  MinMaxReduction minMax{*this};
  OperandPacking packing{*this};
  PartialReductions partials{*this};
  Prefetcher prefetcher{*this};
  RegisterTranspose registerTranspose{*this};
  RowCache rowCache{*this};
  RowEmitter rowEmitter{*this};
  RowReductions rowReductions{*this};
  ScanEmitter scans{*this};
  SeparateNests separateNests{*this};
  ShortRows shortRows{*this};
  StreamedReductions streaming{*this};
  WorkDistribution distribution{*this};
};

/// Whether something that `root` is computed from satisfies the predicate.
bool dependsOn(Value root, function_ref<bool(linalg::GenericOp)> predicate);

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_KERNELEMITTER_H
