// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel, pulled from its results: to store an element, the emitter computes it where it is
// needed, from loads of the kernel's arguments, through access maps and scalar code. Vectors run along one
// axis of the iteration space: every index is a scalar plus a multiple of the lane, or, for computed
// accesses, a vector of its own.

#ifndef ADJOINT_LIB_CODEGEN_CPU_KERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_CPU_KERNELEMITTER_H

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

/// Numbers of the program may be of any size, and wrap like the code that is made of them: the host refuses
/// what lies outside of a tensor before the kernel runs.
inline int64_t wrappingProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
inline int64_t wrappingSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

/// One index of a tensor: base + step * lane, or `lanes` (a vector of index) when that is set. An index that
/// `varies` stands for all that a loop still to be made will take.
struct Index {
  Value base;
  int64_t step = 0;
  Value lanes;
  bool varies = false;
  bool isUniform() const { return !lanes && step == 0; }
  static Index varying() { return {nullptr, 0, nullptr, true}; }
  bool operator<(const Index &other) const {
    return std::make_tuple(base.getAsOpaquePointer(), step, lanes.getAsOpaquePointer()) <
           std::make_tuple(other.base.getAsOpaquePointer(), other.step, other.lanes.getAsOpaquePointer());
  }
};
using Position = SmallVector<Index, 4>;
/// Elements at most so far apart are shuffled out of whole vectors; farther ones are gathered.
inline constexpr int64_t kLongestStride = 8;

inline bool varies(const Position &position) {
  return llvm::any_of(position, [](const Index &index) { return index.varies; });
}

/// A dense row-major tensor in memory.
struct Buffer {
  Value pointer;
  Type element; // the tensor's element type
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes; // index values, one per dimension
};

/// The type that an element has in memory: integers for i1 and for floats below 32 bits.
Type memoryType(Type element);
int64_t memoryBytes(Type element);

/// The operation that produces a reduction's next accumulator.
Operation *combiningOp(linalg::GenericOp generic);

/// Whether the tensor is so large that it does not stay in the caches from one kernel to the next.
bool isFromMemory(Type type);

/// Whether one row times this matrix is faster when long pieces of its rows are read side by side than in
/// tiles of columns, which touch all rows. It is when the matrix comes from memory. While the shared cache
/// holds it, tiles win where rows are a multiple of the page size apart: 16 rows read side by side then share
/// few places of the first-level cache. Measured on Zen 4 for matrices of 1 to 100 MB. Two and more rows gain
/// from tiles too seldom.
bool isSweptFaster(Type type);

/// The reduced size of the first contraction that the roots are computed by, 0 when it is not known.
int64_t reducedSize(ArrayRef<Value> roots);

/// Whether some loop is reduced: an output does not cover the whole iteration space.
bool reduces(linalg::GenericOp generic);

/// Whether every point is computed from the operands' elements at the same point.
bool isPointwise(linalg::GenericOp generic);

class KernelEmitter {
public:
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
  std::optional<int64_t> knownNanoseconds();

protected:
  using Visited = std::set<std::pair<const void *, std::vector<Index>>>;
  using Key = std::pair<const void *, std::pair<std::vector<Index>, std::pair<int64_t, const void *>>>;

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
  /// Units [begin, end) of the loops that threads share; null where there are none.
  struct UnitRange {
    Value begin, end;
  };
  /// A part of one axis, whatever the units are.
  struct AxisRange {
    int64_t axis = -1; // none
    Value lower, upper;
  };
  /// What a nest does at a set of positions.
  using Store = function_ref<LogicalResult(ArrayRef<Position>)>;
  struct Nest {
    SmallVector<Value> sizes;
    SmallVector<int64_t> shape;
    SmallVector<Value> roots; // what is evaluated at the positions
    bool vectorize = true;
    SmallVector<int64_t> rowAxes;  // which a block enumerates as one
    bool blocked = false;          // sums into points: columns in blocks, rows and vectors in tiles
    int64_t rows = 1, vectors = 1; // how many are evaluated together
    int64_t columns = 0;           // of a block
    int64_t stripOfBlocks = 0;     // rows of blocks of a transposition that follow each other
    int64_t tileOfUnits = 0; // units of a block begin at multiples of so many rows; 0: there is one unit
    SmallVector<UnitLoop> unitLoops; // that threads share
    UnitRange units;                 // of them, which this call runs
    bool inPlace = false;            // no operand is packed
    int64_t shortRowAxis = -1;       // along which vectors run, in place of a short last axis
    int64_t shortRowColumns = 0;     // of that axis; 0: the nest lies over rows, without their columns
    AxisRange range;
    /// Rows of a block, ShapedType::kDynamic when the program does not say how many.
    int64_t rowCount() const;
  };

  // --- FlatBroadcast.cpp: elementwise kernels over short last axes
  bool isFlatBroadcast(Value root, const Nest &nest);
  Position flatPosition(OpOperand *input, ArrayRef<Index> loops);

  // --- ShortRows.cpp: vectors along the rows of a short last axis
  int64_t axisOfRows(ArrayRef<int64_t> shape, int64_t columns);
  bool isShortRow(int64_t columns);
  void chooseShortRows(Nest &nest);
  void chooseShortRowsOf(Nest &nest, const Nest &space);
  SmallVector<Position> columnsOf(ArrayRef<Position> rows, int64_t axis, int64_t columns);
  LogicalResult emitShortRowsAt(ValueRange roots, const Nest &space, const Position &rows);
  LogicalResult emitShortRows(const Nest &nest, Value lower, Value upper, ArrayRef<Position> positions,
                              Store store, function_ref<LogicalResult(Value)> emitRow);
  void storeInterleaved(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);

  Nest nestOver(const Buffer &buffer, ValueRange roots);
  /// Results that have the shape of a space, and those with one element per row of it.
  struct RowRoots {
    SmallVector<Value> whole, perRow;
    SmallVector<Buffer> wholeBuffers, perRowBuffers;
  };
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

  // --- Blocks.cpp: tiles of rows and vectors
  void chooseBlock(Nest &nest);
  int64_t blockColumns(const Nest &nest);
  SmallVector<int64_t> rowAxesOf(const Nest &nest, int64_t laneAxis);
  Position rowPosition(const Nest &nest, const Position &outer, Value base, int64_t offset, int64_t aligned);
  std::pair<Value, Value> evenTiles(const Nest &nest, int64_t size, Value count);
  void recordDepth(ValueRange roots);
  LogicalResult emitBatches(const Nest &nest, int64_t axis, Position &outer, UnitRange units, Store store);
  LogicalResult emitBlocks(const Nest &nest, const Position &outer, UnitRange units, Store store);
  LogicalResult emitBlock(const Nest &nest, const Position &outer, std::pair<Value, Value> columns,
                          UnitRange units, Store store);
  LogicalResult emitRowTiles(const Nest &nest, Value lower, Value upper, const Position &outer, Store inRows);

  // --- Scan.cpp: running reductions
  LogicalResult emitScan(linalg::GenericOp scan, const Nest &lines, const Buffer &destination);
  Nest nestOverLines(linalg::GenericOp scan);
  SmallVector<UnitLoop> loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfLines);
  FailureOr<Value> scanSteps(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                             Value from, Value start);
  std::optional<unsigned> scannedLineDim(linalg::GenericOp scan, ArrayRef<Index> loops);
  FailureOr<Value> scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                              unsigned line, Value end, Value start);
  LogicalResult scanBlock(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                          ArrayRef<Value> lines, unsigned line, Value &carried);

  // --- SeparateNests.cpp: results with statements of their own
  struct SeparateResult {
    Value root;
    Nest nest;
    UnitSpace space;
  };
  LogicalResult emitSeparately(ValueRange roots);
  int64_t dividedAxis(Value root, ArrayRef<int64_t> shape);
  SeparateResult nestOfResult(Value root, unsigned number);
  LogicalResult emitNestOfResult(SeparateResult &separate, const Buffer &destination);
  LogicalResult emitIfAny(SeparateResult &separate, const Buffer &destination);
  UnitRange unitsBehind(Value before, Value count);
  LogicalResult emitRange(Value root, const Buffer &destination, const AxisRange &range);
  Value numberOf(OpFoldResult number);

  // --- Inserts.cpp: slices inserted into a result
  LogicalResult emitInsert(tensor::InsertSliceOp insert, const Buffer &destination, const AxisRange &range);
  AxisRange rangeOfSource(tensor::InsertSliceOp insert, const Nest &source, const AxisRange &range);
  Nest nestOfSource(tensor::InsertSliceOp insert, const AxisRange &range);
  FailureOr<Position> insertedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> position);
  int64_t firstContiguousAxis(tensor::InsertSliceOp insert, const AxisRange &range);
  LogicalResult emitContiguousInsert(tensor::InsertSliceOp insert, int64_t first, const Buffer &destination,
                                     const AxisRange &range);
  bool isInsertedByColumn(tensor::InsertSliceOp insert, const AxisRange &range);
  int64_t rowsOfSlice(tensor::InsertSliceOp insert);
  LogicalResult emitInsertByColumn(tensor::InsertSliceOp insert, const Buffer &destination,
                                   const AxisRange &range);
  FailureOr<Value> valueOfColumn(tensor::InsertSliceOp insert, const Position &position,
                                 const Position &target);

  // --- Units.cpp: the part of the work that one call does
  /// Of one kind of step: how long one takes, times the known sizes, and the sizes that the run knows.
  struct Cost {
    int64_t picoseconds;
    SmallVector<Value> sizes;
    /// By a size of a type, or, when that is dynamic, by the value.
    void multiply(int64_t size, Value value);
  };
  SmallVector<Cost> costs();
  Value estimatedNanoseconds();
  bool isTooShort();
  int64_t addUnitLoops(Nest &nest, int64_t axes);
  void chooseUnits(Nest &nest);
  void chooseFlatUnits(Nest &nest);
  /// Makes one axis of all.
  void flatten(Nest &nest);
  void chooseUnitsOfBlocks(Nest &nest);
  void chooseUnitsOfRows(Nest &rows);
  int64_t columnsOfUnit(const Nest &nest, int64_t units);
  void declareUnits(ArrayRef<UnitSpace> spaces);
  Value elementsAlong(const Nest &nest, ArrayRef<int64_t> axes);
  /// The product of the units of the loops from that one on.
  Value unitsFrom(const Nest &nest, unsigned loop);
  std::optional<unsigned> unitLoopOf(const Nest &nest, int64_t axis);
  bool hasUnitsInside(const Nest &nest, int64_t axis);
  LogicalResult overUnits(const Nest &nest, int64_t axis, UnitRange units,
                          function_ref<LogicalResult(Value index, UnitRange inside)> body);
  std::pair<Value, Value> boundsOf(const Nest &nest, ArrayRef<int64_t> axes, UnitRange units);

  // --- Spill.cpp: accumulators of several contractions in one tile
  using TileSums = SmallVector<std::pair<Value, SmallVector<Position>>>;
  void collectSums(Value tensor, ArrayRef<Position> positions, TileSums &sums);
  LogicalResult evaluateSums(ValueRange roots, ArrayRef<Position> positions);
  void spill(Value tensor, ArrayRef<Position> positions, unsigned number);
  Value reload(Value value);

  // --- Pack.cpp: operands of contractions in the order in which tiles read them
  struct PackedOperand {
    OpOperand *operand;                      // of a contraction
    AffineMap map;                           // from the loops of the contraction to the axes of the operand
    int64_t columnAxis = -1, depthAxis = -1; // of the operand
    int64_t depth = 0, tile = 0;             // of a panel: elements along the depth, rounded up, and columns
    Type memory = {};                        // of an element: `group` neighbours along the depth
    int64_t group = 1;
    bool biased = false; // each byte of i8 plus 128, the unsigned operand of vpdpbusd
    bool once = false;   // read in place, fetched ahead: there is one tile of rows
    bool before = false; // the kernel runs: an argument in PackedLayout
    Value pointer = {};
    Value start = {};                               // first column of the block
    bool filling = false;                           // read in place, and stored where it is packed
    llvm::SmallPtrSet<const void *, 4> filled = {}; // values that have been stored
    bool isTransposed() const { return columnAxis + 1 != int64_t(map.getNumResults()); }
  };
  std::optional<PackedOperand> packingOf(OpOperand *operand, unsigned depthLoop, const Nest &nest);
  SmallVector<PackedOperand> packedOperandsOf(const Nest &nest, int64_t columns);
  Value scratch(Type memory, int64_t elements);
  Value packedIndex(const PackedOperand &packed, Value depth, Value column);
  Value packedPointer(const PackedOperand &packed, ArrayRef<Index> loops);
  Value loadPacked(const PackedOperand &packed, ArrayRef<Index> loops);
  void fillPacked(PackedOperand &packed, ArrayRef<Index> loops, Value value);
  bool canFetchAhead(const PackedOperand &packed);
  bool canFill(const PackedOperand &packed);
  FailureOr<Value> emitFillingTile(const Nest &nest, Value lower, Value upper, const Position &outer,
                                   std::pair<Value, Value> columns, MutableArrayRef<PackedOperand> packed,
                                   Store store);
  void pack(PackedOperand &packed, const Position &outer, Value start, Value end);
  void fillPanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer, Value start,
                  Value end);
  void packStraight(const PackedOperand &packed, const Buffer &buffer, const Position &outer, Value depth,
                    Value column, Value end);
  Value pointerToPacked(const PackedOperand &packed, Value depth, Value column);
  void packTransposed(const PackedOperand &packed, Buffer buffer, const Position &outer, Value depth,
                      Value column, Value end);
  Position operandPosition(const PackedOperand &packed, const Position &outer, Index depth, Index column);
  std::optional<PackedOperand> packingOfCopy(Value root);
  void emitPacking(const PackedOperand &packed);
  Value lanesBelow(Value count);

  // --- RegisterTranspose.cpp: operands that are contiguous along K, transposed where they are read
  /// Vectors of columns by operand and position.
  using TransposedBlocks = std::map<std::pair<OpOperand *, std::vector<Index>>, Value>;
  bool isContiguous(Value tensor);
  bool isContiguousAlongK(OpOperand *operand, unsigned columnLoop);
  SmallVector<OpOperand *> operandsToTranspose(linalg::GenericOp generic, ArrayRef<Index> loops);
  LogicalResult transposeBlock(OpOperand *operand, ArrayRef<Index> loops, ArrayRef<Value> steps,
                               Value active);
  LogicalResult transposeOperands(linalg::GenericOp generic, ArrayRef<Index> loops, ArrayRef<Value> steps,
                                  Value active);
  int64_t mostTransposedVectors(const Nest &nest, unsigned columnLoop);
  Value transposedValue(OpOperand *operand, ArrayRef<Index> loops);
  FailureOr<SmallVector<Value>> transposedSteps(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ValueRange sums, Value first, int64_t count);
  bool canTakeTurns(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  FailureOr<SmallVector<Value>> transposedInTurns(linalg::GenericOp generic,
                                                  ArrayRef<SmallVector<Index>> loops, ValueRange sums,
                                                  Value lower, Value upper);
  FailureOr<SmallVector<Value>> transposedTogether(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops, ValueRange sums,
                                                   Value lower, Value upper);
  FailureOr<SmallVector<Value>> transposedChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                                ArrayRef<Value> start, Value lower, Value upper);
  void transposeInRegisters(SmallVectorImpl<Value> &rows);

  // --- DotProducts.cpp: two multiply-adds of bf16 in one instruction
  /// Elements along K that a lane of the contraction's instruction multiplies: 2 of bf16, 4 of i8, else 1.
  int64_t groupSize(linalg::GenericOp generic);
  Buffer inPairs(Buffer buffer);
  Value joinPair(Value low, Value high);
  FailureOr<Value> pairOf(OpOperand *input, ArrayRef<Index> loops, unsigned reducedLoop);
  FailureOr<SmallVector<Value>> addDotProduct(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum);

  // --- ByteProducts.cpp: four multiply-adds of i8 in one instruction
  /// A contraction of i8. The operand of the rows is the same in all lanes; that of the columns is not.
  struct ByteProduct {
    OpOperand *rows = nullptr, *columns = nullptr;
    unsigned depthLoop = 0;
    int64_t depth = 0;
    bool copiesRows = false; // they are not contiguous along the depth
  };
  void chooseByteProducts(const Nest &nest, unsigned columnLoop);
  std::optional<ByteProduct> byteProductOf(linalg::GenericOp generic, const Nest &nest, unsigned columnLoop);
  FailureOr<SmallVector<Value>> byteChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                          ArrayRef<Value> start);
  FailureOr<SmallVector<Value>> addByteProducts(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum);
  Value callByteProduct(Value sum, Value unsignedBytes, Value signedBytes);
  Value byteGroup(linalg::GenericOp generic, OpOperand *operand, ArrayRef<Index> loops);
  Key rowSumKey(linalg::GenericOp generic, ArrayRef<Index> loops);
  void sumRows(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  void hoistRowSums(const Nest &nest, ArrayRef<Position> positions);

  // --- ByteGroups.cpp: groups of four i8, where they lie and where they are copied to
  Value joinBytes(ArrayRef<Value> bytes);
  Value biasBytes(Value groups);
  Value loadGroups(const Buffer &buffer, Position position);
  Value groupAt(const Buffer &buffer, Position position, int64_t depthAxis);
  void fillBytePanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer, Value start,
                      Value end);
  void packBytesTransposed(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                           Value column, Value end);
  void storeGroup(const PackedOperand &packed, Value number, Value column, Value group);
  int64_t copiedRowsOf(const Nest &nest, int64_t depth);
  int64_t scratchForRows(const Nest &nest);
  LogicalResult overRowChunks(const Nest &nest, const Position &outer, Value lower, Value upper,
                              function_ref<LogicalResult(Value, Value)> body);
  void copyRows(const ByteProduct &product, const Buffer &target, const Nest &nest, const Position &outer,
                Value lower, Value upper);

  // --- Transpose.cpp: kernels that only transpose
  /// Axes of the result, the fastest last: rows are contiguous in the operand, columns in the result.
  struct BlockAxes {
    SmallVector<int64_t> rows, columns;
  };
  std::optional<BlockAxes> transposedAxes(Value root);
  int64_t transposedLanes(Value root);
  LogicalResult emitTranspose(Value root, const BlockAxes &axes);
  bool mayStream(Value root, const BlockAxes &axes);
  void chooseUnitsOfTranspose(Nest &nest, const BlockAxes &axes);
  LogicalResult emitTransposeLoops(const Nest &nest, const BlockAxes &axes, int64_t next, UnitRange units,
                                   Position &position);
  LogicalResult emitTransposeBlocks(const Nest &nest, const BlockAxes &axes, UnitRange units,
                                    const Position &outer);
  LogicalResult emitTransposeBlock(Value root, const BlockAxes &axes, const Position &outer, Value row,
                                   Value column);
  void setApart(Position &position, ArrayRef<int64_t> axes, Value linear, ArrayRef<int64_t> order);
  void stream(const Buffer &buffer, const Position &position, Value value);

  // --- Rows.cpp: nests whose rows have values of their own
  LogicalResult emitRows(ValueRange roots, unsigned space);
  int64_t rowsTogether(ValueRange roots, const Nest &space);
  LogicalResult emitRowsAt(ValueRange roots, const Nest &space, ArrayRef<Position> rows);
  LogicalResult storePerRow(ArrayRef<Value> roots, ArrayRef<Buffer> destinations, ArrayRef<Position> rows);

  // --- SaveRow.cpp: values of a row that several loops along it need
  struct SavedRow {
    Value pointer;
    bool stored = false; // by the loop that is being emitted
    bool filled = false; // by a loop before
  };
  static bool isExpensive(linalg::GenericOp generic);
  void chooseSaved(ArrayRef<Value> roots, const Nest &space, const Position &any);
  void collectPass(Value tensor, const Position &position, Visited &visited, SmallVectorImpl<Value> &values,
                   SmallVectorImpl<std::pair<Value, Position>> &reductions);
  virtual Value loadSaved(Value tensor, const Position &position);
  virtual void storeSaved(Value tensor, const Position &position, Value value);
  virtual void endPass();
  bool isOnRow(const Position &position);

  // --- Prefetch.cpp: what comes from beyond the caches
  SmallVector<Value> largeInputs(const Nest &space);
  void chooseFetched(const Nest &space);
  void fetchLines(const Buffer &buffer, const Position &position, int64_t rowsAhead, bool toWrite);
  /// The levels of caches, as LLVM's prefetch calls them.
  static constexpr int32_t kFirstLevel = 3, kSecondLevel = 2;
  void fetchAhead(const Buffer &buffer, const Position &position, int64_t bytes, int32_t level = kFirstLevel);
  void fetchInSum(linalg::GenericOp sum, Value element);
  void fetchNextRow(ArrayRef<Position> positions);
  void fetchRowsAhead(linalg::GenericOp generic, ArrayRef<Index> loops, Value first);
  bool hasNarrowBlocks(int64_t depth, int64_t elementBytes);
  OpOperand *leftOperand(linalg::GenericOp product, unsigned rowLoop);
  void fetchNextTile(linalg::GenericOp product, ArrayRef<SmallVector<Index>> loops, Value depth);

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
  using BlockCode = function_ref<FailureOr<SmallVector<Value>>(Value lower, Value upper)>;
  // PartialReductions.cpp: reductions that threads share
  struct PartialSums {
    int64_t length = 0;         // elements that one partial result takes
    Value total, count, number; // of elements and of partial results, and the one that is being emitted
    Buffer buffer;              // [number, place in the result]
    int64_t columns = 0;        // of a unit of a streamed reduction; 0: a unit is one partial result
    Value units;
  };
  bool isDivisible(linalg::GenericOp generic);
  int64_t blocksOfPartial(linalg::GenericOp generic);
  int64_t tilesOfResult(const Nest &nest);
  bool isReadInPlace(OpOperand &operand, const Nest &nest);
  bool isDeep(const Nest &nest);
  int64_t threadsForPartials(ArrayRef<linalg::GenericOp> sums);
  SmallVector<linalg::GenericOp> divisibleSums(ValueRange roots);
  Value placePartialSums(ArrayRef<linalg::GenericOp> sums, Value scratch);
  Value reducedTotal(linalg::GenericOp generic);
  virtual FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                                    ArrayRef<Position> positions, BlockCode block,
                                                    int64_t blocksTogether);
  LogicalResult emitPartialBlocks(linalg::GenericOp generic, Nest &nest, Buffer &result, UnitRange units);
  Value placeOfPartial(const PartialSums &partial, const Buffer &result);
  LogicalResult emitPartialReduction(linalg::GenericOp generic, UnitRange units);
  LogicalResult emitPartialReductions(ArrayRef<linalg::GenericOp> sums);
  SmallVector<Value> emitPartialSizes(ArrayRef<linalg::GenericOp> sums);

  // InterleavedBlocks.cpp: steps of several blocks of an order in one loop
  int64_t interleavedBlocks(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  FailureOr<SmallVector<Value>> interleavedChains(linalg::GenericOp generic,
                                                  ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                  Value lower, int64_t blocks);
  SmallVector<Value> joinBlocks(Operation *join, SmallVector<Value> values, size_t results);
  FailureOr<SmallVector<Value>> interleavedGroup(linalg::GenericOp generic,
                                                 ArrayRef<SmallVector<Index>> loops,
                                                 ArrayRef<Value> identities, Value lower, Value upper,
                                                 int64_t blocks);

  // StreamedReductions.cpp: rows of a large operand, read side by side
  int64_t streamedColumns(linalg::GenericOp generic);
  LogicalResult startChains(linalg::GenericOp generic, const Buffer &result, ArrayRef<Position> positions);
  LogicalResult streamSteps(linalg::GenericOp generic, const Buffer &result, ArrayRef<Position> positions,
                            Value first, int64_t count);
  LogicalResult emitStreamedReduction(linalg::GenericOp generic, Buffer &result, UnitRange units);

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

  // ReduceRows.cpp: sums over the lanes of short rows, as many rows together as a vector has lanes
  bool sumsRowsTogether(linalg::GenericOp generic);
  FailureOr<Value> reduceRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);
  FailureOr<Value> reduceColumns(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity);
  bool rowsAreNeighbours(linalg::GenericOp generic, ArrayRef<Index> loops, int64_t size);
  FailureOr<SmallVector<Value>> lanesOfRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                            int64_t size);
  FailureOr<SmallVector<Value>> lanesOfNeighbours(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                  Value identity, int64_t size);
  FailureOr<Value> lanesOfRow(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity, Value row,
                              int64_t size);
  Value joinLanes(Operation *join, SmallVector<Value> vectors, int64_t width);

  // Extremes.cpp
  struct Range {
    Value lower, upper, step;
  };
  bool isPlainExtreme(linalg::GenericOp generic);
  /// The largest or smallest element of the range, whole rows of lanes; `exactly` emits the code that decides
  /// about NaN and zeros.
  FailureOr<Value> extremeOfLanes(linalg::GenericOp generic, ArrayRef<Index> loops, const Range &range,
                                  Value start, llvm::function_ref<FailureOr<Value>()> exactly);
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
      emitter.packedOperands.clear();
      emitter.copiedRows.clear();
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
  DenseMap<Operation *, PartialSums> partialSums;
  DenseMap<OpOperand *, PackedOperand> packedOperands;
  DenseMap<Operation *, ByteProduct> byteProducts; // of the nest that is being emitted
  DenseMap<OpOperand *, Buffer> copiedRows;        // rows of i8, contiguous along K: [row, depth]
  std::map<std::tuple<unsigned, const void *, int64_t>, Value> spillSlots;
  DenseMap<Value, Value> spilled; // accumulators that wait on the stack, by the value that was stored
  TransposedBlocks transposed;    // of the chain that is being emitted
  llvm::SmallPtrSet<Operation *, 2> recorded; // contractions whose use of permissions has been reported
  bool streams = false;                       // blocks of a transposition bypass the caches
  Position savedRow;                          // the row that `saved` belongs to
  llvm::MapVector<Value, SavedRow> saved;     // empty outside of rows
  bool nextRowFetched = false;                // by a sum along this row
  int64_t passesLeft = 0;                     // sums along the row that are still to be made
  SmallVector<Buffer> fetchedInputs;          // whose next row is fetched ahead
  SmallVector<Buffer> fetchedResults;         // whose row is fetched before it is stored
  std::map<int64_t, Value> constants;         // index constants, in the entry block
  DenseMap<int64_t, Value> laneCounts;        // 0, 1, 2, … by number of lanes, in the entry block
  SmallVector<std::map<Key, Value>> caches;
};

/// Whether something that `root` is computed from satisfies the predicate.
bool dependsOn(Value root, function_ref<bool(linalg::GenericOp)> predicate);

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_KERNELEMITTER_H
