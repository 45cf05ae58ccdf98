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
#include "InsertEmitter.h"
#include "InterleavedBlocks.h"
#include "MinMaxReduction.h"
#include "OperandPacking.h"
#include "PartialReductions.h"
#include "Prefetcher.h"
#include "RegisterTranspose.h"
#include "RowCache.h"
#include "RowEmitter.h"
#include "RowReductions.h"
#include "ScanEmitter.h"
#include "SeparateNests.h"
#include "ShortRows.h"
#include "StreamedReductions.h"
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
  int64_t laneAxisOf(const Nest &nest);
  virtual LogicalResult emitNest(const Nest &nest, Store store);
  LogicalResult emitLoops(const Nest &nest, int64_t axis, int64_t laneAxis,
                          SmallVectorImpl<Position> &positions, UnitRange units, Store store);
  LogicalResult emitLaneLoop(const Nest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                             Store store);
  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body);
  LogicalResult storeRoots(ValueRange roots, ArrayRef<Buffer> buffers, ArrayRef<Position> positions);
  virtual void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);

  LogicalResult storePerRow(ArrayRef<Value> roots, ArrayRef<Buffer> destinations, ArrayRef<Position> rows);

  static bool isExpensive(linalg::GenericOp generic);

  // --- Hoist.cpp: what loops that are still to be made will need in every iteration
  LogicalResult hoist(Value tensor, const Position &position, Visited &visited);
  SmallVector<std::pair<Value, Position>> inputsAt(Value tensor, const Position &position);
  bool sumsLanesAt(Value tensor, const Position &position, Visited &visited, bool ofShortRows = true);
  bool sumsLanesAlong(ValueRange roots, const Nest &nest, int64_t axis, bool ofShortRows = true);
  LogicalResult hoistReduced(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  LogicalResult hoistAlong(const Nest &nest, ArrayRef<Position> positions);

  // --- Evaluate.cpp: values at positions
  FailureOr<SmallVector<Value>> evaluate(Value tensor, ArrayRef<Position> positions);
  FailureOr<Value> evaluateOne(Value tensor, const Position &position);
  Value known(Value tensor, const Position &position);
  LogicalResult evaluateMissing(Value tensor, ArrayRef<Position> missing);
  LogicalResult evaluateInputs(linalg::GenericOp generic, ArrayRef<Position> positions);
  Key keyOf(Value tensor, const Position &position);
  /// From here on, in this block, the tensor has the value at the position.
  void remember(Value tensor, const Position &position, Value value);
  virtual FailureOr<Value> compute(Value tensor, const Position &position);
  FailureOr<SmallVector<Value>> applyBody(linalg::GenericOp generic, ArrayRef<Index> loops,
                                          ValueRange accumulators);
  FailureOr<Value> cloneScalar(Operation *op, IRMapping &values, ArrayRef<Index> loops);
  FailureOr<Value> cloneArithmetic(Operation *op, IRMapping &values);
  FailureOr<Value> extract(tensor::ExtractOp op, IRMapping &values, ArrayRef<Index> loops);
  Value lookup(Value value, IRMapping &values);
  Position apply(AffineMap map, ArrayRef<Index> loops);
  /// Where the body at these loops reads the operand.
  Position positionOf(OpOperand *input, ArrayRef<Index> loops);
  Index applyExpr(AffineExpr expr, ArrayRef<Index> loops);
  SmallVector<Index> loopsFromOutput(linalg::GenericOp generic, AffineMap map, const Position &position);
  Position insideSlice(tensor::ExtractSliceOp slice, const Position &position);

  // --- Strided.cpp: elements in reverse order or at small distances
  std::optional<Index> affineIndex(Value value, ArrayRef<Index> loops);
  Value loadReversed(const Buffer &buffer, Value base);
  Value loadStrided(const Buffer &buffer, Value base, int64_t step);

  // --- Reduce.cpp: reductions in the written order
  FailureOr<SmallVector<Value>> reduce(linalg::GenericOp generic, unsigned result,
                                       ArrayRef<Position> positions);
  /// All accumulators of each position of that result in turn.
  FailureOr<SmallVector<Value>> reduceAll(linalg::GenericOp generic, unsigned result,
                                          ArrayRef<Position> positions);
  /// Several accumulators: one chain over everything.
  virtual FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                   ArrayRef<Position> positions);
  FailureOr<SmallVector<Value>> reduceBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                             ArrayRef<Value> identities, ArrayRef<Position> positions);
  virtual FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       const Position &position);
  FailureOr<SmallVector<Value>> chain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                      ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> plainChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                           ArrayRef<Value> start, Value lower, Value upper);
  LogicalResult chainStep(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                          MutableArrayRef<Value> sums);
  FailureOr<Value> laneSums(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum, Value lower,
                            Value upper);
  virtual FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t lanes);
  Value withoutAbsentLanes(Value sum, Value size);
  bool isDivisible(linalg::GenericOp generic);
  Value reducedTotal(linalg::GenericOp generic);
  virtual FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                                    ArrayRef<Position> positions, BlockCode block,
                                                    int64_t blocksTogether);

  // PairwiseTree.cpp
  class WaitingResults;
  FailureOr<SmallVector<Value>> pairwiseTree(Value total, int64_t length, ArrayRef<Value> identities,
                                             Operation *join, BlockCode block);
  /// Of those whose length only the run knows: what waits for its neighbour has a place for each doubling.
  virtual int64_t longestReduction() const { return std::numeric_limits<int64_t>::max(); }
  void setReductionIndex(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, const Index &linear);
  Value joinValues(Operation *join, Value lhs, Value rhs);
  Value halve(Value sum, llvm::function_ref<Value(Value, Value)> join, int64_t most);
  Value joinAllLanes(Value sum, llvm::function_ref<Value(Value, Value)> join);

  bool usesLanes(linalg::GenericOp generic);
  Value loopSize(linalg::GenericOp generic, unsigned dim);

  // --- Memory.cpp: loads and stores
  Value load(const Buffer &buffer, const Position &position);
  virtual void store(const Buffer &buffer, const Position &position, Value value);
  Value linearIndex(const Buffer &buffer, const Position &position, int64_t &step, Value &vector);
  Value pointerAt(const Buffer &buffer, Value index);
  Value laneNumbers();
  Value laneVector(const Index &index);
  Value splat(Value scalar, int64_t lanes);
  Value movable(Value value);
  Value fullMask();
  Value fromMemory(Value value, Type element);
  Value toMemory(Value value);

  Value indexConstant(int64_t value);
  template <class Op> Value binary(Value lhs, Value rhs) { return builder.createOrFold<Op>(loc, lhs, rhs); }

  /// Values computed at a position, valid in the blocks that the current one is nested in.
  class Scope {
  public:
    explicit Scope(KernelEmitter &emitter) : emitter(emitter) { emitter.caches.emplace_back(); }
    ~Scope() { emitter.caches.pop_back(); }

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
  SmallVector<std::map<Key, Value>> caches;

  // Components, which only the CPU uses. What they need of the emitter is not for its users, hence friends.
  friend class AccumulatorSpilling;
  friend class BlockEmitter;
  friend class BlockTranspose;
  friend class ByteProducts;
  friend class DotProducts;
  friend class FlatBroadcast;
  friend class InsertEmitter;
  friend class InterleavedBlocks;
  friend class KernelComponent;
  friend class MinMaxReduction;
  friend class OperandPacking;
  friend class PartialReductions;
  friend class Prefetcher;
  friend class RegisterTranspose;
  friend class RowCache;
  friend class RowEmitter;
  friend class RowReductions;
  friend class ScanEmitter;
  friend class SeparateNests;
  friend class ShortRows;
  friend class StreamedReductions;
  friend class WorkDistribution;
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
