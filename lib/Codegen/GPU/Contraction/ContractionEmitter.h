// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions on a GPU: the threads of a block share a tile of the result, whose operands go through shared
// memory. Tensor cores multiply tiles of i8, and where permissions let them of f16, bf16 and f32; everything
// else is summed by multiply-adds in exactly the order of the kernel, as by the generic class. The sums then
// go through shared memory too, and what the kernel computes of them is emitted once, for elements in a row.

#ifndef ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONEMITTER_H
#define ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONEMITTER_H

#include "../Generic/GPUKernelEmitter.h"
#include "../SharedMemory.h"
#include "ContractionTiles.h"

namespace mlir::ad::device {

/// What an asynchronous copy moves at once.
constexpr int64_t kChunkBytes = 16;
/// Neighbouring rows or columns of a thread that multiplies and adds.
constexpr int64_t kLineGroup = 4;

class ContractionEmitter : public GPUKernelEmitter {
public:
  ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function, const Contraction &contraction,
                     const ContractionTile &tile);

  int64_t minBlocksPerSM() const override;
  int64_t maxRegisters() const override;

protected:
  /// An operand's part of a tile in shared memory: lines of `length` elements, along the axis in which the
  /// operand is contiguous.
  struct Staged {
    OpOperand *operand;
    unsigned lineLoop;     // of the result that the operand has
    Value size;            // of that loop
    int64_t lines, count;  // of the tile: how many along lineLoop, and along the depth
    bool alongDepth;       // what a line runs along
    bool memoryAlongDepth; // the same of the operand itself
    bool whole;            // chunks of 16 bytes of the operand lie in memory as they do in the tile,
    Value aligned;         // where this holds, if only the run knows it
    int64_t offset = 0;    // bytes from the start of shared memory
    int64_t elementBytes() const { return memoryBytes(getElementTypeOrSelf(operand->get().getType())); }
    int64_t lineLength() const { return alongDepth ? count : lines; }
    int64_t lineCount() const { return alongDepth ? lines : count; }
  };
  struct Place {
    Position position; // of the result, without row and column
    Value row, column; // where the tile starts
  };

  /// Sums that lie in shared memory, and the threads that make results of them together.
  struct Sums {
    Value row, column;     // in the tile, of the first
    int64_t rows, columns; // how many
    Value offset;          // bytes from the start of shared memory
    Value thread;          // number among those threads
    int64_t threads;
    // So many rows follow each other in the tile, and then others after a distance.
    int64_t groupRows = rows, groupDistance = rows;
  };

  // --- ContractionEmitter.cpp: tiles of the result
  LogicalResult emitRoots() override;
  int64_t longestReduction() const override;
  void bindSizes();
  void recordUse();
  Place placeOf(Value number);
  std::pair<Value, Value> divide(Value number, Value by);
  Value stripHeight(Value rows, Value first);
  std::pair<Value, Value> tileInMatrix(Value number, Value rows, Value columns);
  Staged stagedOf(OpOperand *operand, unsigned loop, int64_t lines);
  Position positionAt(const Place &place, Value row, Value column);
  SmallVector<Index> loopsAt(const Place &place, Value row, Value column, Value depth);
  FailureOr<Value> nearestElement(const Staged &part, const Place &place, Value index, Value depth);
  LogicalResult shareAmongThreads(int64_t count, function_ref<LogicalResult(Value number)> code);
  void copyAsync(const Staged &part, const Place &place, Value index, Value depth, Value target,
                 int64_t bytes);
  void shareTiles();
  Value countTiles();
  Value divideUp(Value size, int64_t by);
  Value isBelow(Value index, Value size);
  Value isInside(Value index, Value size, int64_t tileSize);
  Value isEqual(Value index, int64_t value);
  LogicalResult emitWhen(Value condition, function_ref<LogicalResult()> code);
  Sums sumsOfBlock(int64_t firstRow, int64_t rows);
  int64_t sharedBytes();

  // --- Results.cpp: from sums in shared memory to results
  LogicalResult emitResults(const Place &place, const Sums &sums);
  LogicalResult emitRuns(const Place &place, const Sums &sums, int64_t length);
  int64_t resultRun();
  Value rowInTile(const Sums &sums, Value row);
  Type sumType();
  Type operandType() const { return getElementTypeOrSelf(contraction.rows->get().getType()); }
  Value sumPointer(const Sums &sums, Value row, Value column);
  void storeNeighbours(const Sums &sums, Value row, Value column, ValueRange values);
  void storePair(const Sums &sums, Value row, Value column, Value left, Value right);
  SmallVector<Value> loadSums(const Sums &sums, Value row, Value column, int64_t count);
  Value sharedPointer(Value byte);

  const Contraction contraction;
  const ContractionTile tile;
  Staged staged[2]; // of rows and of columns
  Value rowCount, columnCount, depthCount;
  Value shared; // start of shared memory

private:
  /// The part of a tile that a warp has.
  struct WarpTile {
    int64_t rows, columns; // how many
    Value row, column;     // the first
    Value down;            // how many warps are above
  };

  // --- MultiplyAdd.cpp: sums in the order of the kernel
  LogicalResult emitMultiplyAdds(const Place &place);
  FailureOr<SmallVector<Value>> sumPieces(const Place &place, ArrayRef<SmallVector<Index>> loops,
                                          ArrayRef<Value> start, Value lower, Value upper);
  FailureOr<SmallVector<Value>> sumPiece(ArrayRef<SmallVector<Index>> loops, ValueRange sums, Value depth,
                                         Value count, Value stage);
  FailureOr<SmallVector<Value>> sumRest(ArrayRef<SmallVector<Index>> loops, ValueRange sums, Value depth,
                                        Value count, Value stage);
  FailureOr<SmallVector<Value>> addProducts(ArrayRef<SmallVector<Index>> loops, ValueRange sums, Value depth,
                                            Value within, Value stage);
  void loadLines(const Staged &part, ArrayRef<SmallVector<Index>> loops, Value depth, Value within,
                 Value stage);
  LogicalResult storeSums(const Place &place, ValueRange sums, int64_t down, int64_t across);
  bool hasWholePieces();
  Value threadLine(Value place, int64_t places, int64_t number);
  Value threadRow(int64_t number);
  Value threadColumn(int64_t number);

  // --- Lines.cpp: pieces of the operands for them
  LogicalResult bringPiece(const Place &place, Value depth, Value stage);
  LogicalResult bringLines(const Staged &part, const Place &place, Value depth, Value stage);
  void bringChunks(const Staged &part, const Place &place, Value depth, Value stage);
  LogicalResult bringElements(const Staged &part, const Place &place, Value depth, Value stage);
  std::pair<Value, Value> lineAndDepth(const Staged &part, Value number);
  int64_t distanceInDepth(const Staged &part);
  Value elementPointer(const Staged &part, Value stage, Value line, Value within);

  // --- TensorCores.cpp: tiles of i8, f16, bf16, and of f32 as tf32
  LogicalResult emitTensorCores(const Place &place);
  LogicalResult copyPiece(const Place &place, Value piece);
  void copyChunks(const Staged &part, const Place &place, Value depth, Value stage);
  LogicalResult fillElements(const Staged &part, const Place &place, Value depth, Value stage);
  Value swizzled(const Staged &part, Value stage, Value line, Value chunk);
  SmallVector<Value> loadFragment(const Staged &part, Value stage, Value first, int64_t depth);
  SmallVector<Value> loadMatrices(const Staged &part, Value stage, Value first, int64_t depth);
  SmallVector<Value> loadWords(const Staged &part, Value stage, Value first, int64_t depth);
  SmallVector<Value> multiply(ValueRange rows, ValueRange columns, ValueRange sums);
  WarpTile warpTile();
  SmallVector<Value> multiplyPiece(Value stage, ValueRange sums);
  LogicalResult storeFragments(const Place &place, ValueRange sums);
  void storePairs(const Sums &inShared, const WarpTile &part, ValueRange sums);

  int64_t rowsTogether = 0; // whose sums lie in shared memory at once
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_CONTRACTION_CONTRACTIONEMITTER_H
