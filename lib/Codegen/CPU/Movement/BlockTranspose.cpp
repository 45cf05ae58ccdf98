// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that only transpose: square blocks are read along the operand's contiguous axis, transposed in
// registers and written along the result's. Gathering would touch one cache line for each element. A result
// larger than the caches is written with non-temporal stores, which saves reading the cache lines it
// replaces.

#include "BlockTranspose.h"
#include "VectorShuffles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Blocks that follow each other along the operand before the next ones along the result.
static constexpr int64_t kBlocksAlongOperand = 4;

// A result from this size on leaves the second-level cache before another kernel reads it.
static constexpr int64_t kStreamedBytes = 4 * kCore.secondLevelBytes;

// The axes of blocks of an operand that the kernel only permutes. One axis alone may be shorter than a block:
// axes adjacent to the contiguous axis of the operand form one axis with it; likewise those of the result.
std::optional<BlockTranspose::BlockAxes> BlockTranspose::transposedAxes(Value output) {
  auto generic = output.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumReductionLoops() > 0 ||
      generic.getNumResults() != 1 || !buffers.count(generic.getDpsInputs()[0]))
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(generic.getBlock()->getTerminator());
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (yield.getOperand(0) != generic.getBlock()->getArgument(0) || !map.isPermutation() || !out.isIdentity())
    return std::nullopt;
  auto shape = cast<RankedTensorType>(output.getType()).getShape();
  SmallVector<int64_t> byOperand, byResult;
  for (int64_t axis = 0; axis < int64_t(map.getNumDims()); ++axis) {
    int64_t read = cast<AffineDimExpr>(map.getResult(axis)).getPosition();
    if (shape[read] != 1)
      byOperand.push_back(read);
    if (shape[axis] != 1)
      byResult.push_back(axis);
  }
  if (byResult.empty() || byOperand.back() == byResult.back() || transposedLanes(output) == 1)
    return std::nullopt;
  BlockAxes axes;
  // Moves axes from the end of an order until they are as long as a block.
  auto moveLast = [&](ArrayRef<int64_t> order, SmallVectorImpl<int64_t> &moved, ArrayRef<int64_t> others) {
    int64_t size = 1, width = transposedLanes(output);
    for (; size < width && !order.empty(); order = order.drop_back()) {
      int64_t axis = order.back();
      if (ShapedType::isDynamic(shape[axis]) || llvm::is_contained(others, axis))
        break;
      moved.insert(moved.begin(), axis);
      size *= shape[axis];
    }
    return size >= width;
  };
  bool blocks =
      moveLast(byOperand, axes.rows, byResult.back()) && moveLast(byResult, axes.columns, axes.rows);
  return blocks ? std::optional(axes) : std::nullopt;
}

// Vectors of one register: a block then fits into the registers.
int64_t BlockTranspose::transposedLanes(Value output) {
  unsigned width =
      memoryType(cast<RankedTensorType>(output.getType()).getElementType()).getIntOrFloatBitWidth();
  return width > kLaneBits ? vectorLanes * kLaneBits / width : vectorLanes;
}

static int64_t elementsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  return count;
}

LogicalResult BlockTranspose::emitTranspose(Value output, const BlockAxes &axes) {
  CPUNest nest = kernelOutputs.nestOver(results.front(), output);
  chooseUnitsOfTranspose(nest, axes);
  distribution.declareUnits({{0, nest.unitLoops}});
  const Buffer &destination = results.front();
  Position position(destination.shape.size());
  if (!mayStream(output, axes))
    return emitTransposeLoops(nest, axes, 0, nest.units, position);
  // The memory of the host may have any alignment.
  Type i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(builder, loc, i64, value); };
  Value address = LLVM::PtrToIntOp::create(builder, loc, i64, destination.pointer);
  Value offset = LLVM::AndOp::create(builder, loc, address, number(kCore.lineBytes - 1));
  Value aligned = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, offset, number(0));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), aligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool streamed : {true, false}) {
    builder.setInsertionPointToStart(streamed ? branch.thenBlock() : branch.elseBlock());
    Scope scope(context);
    streams = streamed;
    LogicalResult emitted = emitTransposeLoops(nest, axes, 0, nest.units, position);
    streams = false;
    if (failed(emitted))
      return failure();
    if (streamed) // non-temporal stores are not ordered before the stores that follow the kernel
      LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst);
  }
  return success();
}

// Non-temporal stores write whole cache lines only.
bool BlockTranspose::mayStream(Value output, const BlockAxes &axes) {
  auto type = cast<RankedTensorType>(output.getType());
  int64_t element = memoryBytes(type.getElementType());
  int64_t bytes = transposedLanes(output) * element;
  return bytes == kCore.lineBytes && type.hasStaticShape() &&
         type.getNumElements() * element >= kStreamedBytes &&
         elementsOf(type.getShape(), axes.columns) * element % kCore.lineBytes == 0;
}

void BlockTranspose::stream(const Buffer &buffer, const Position &position, Value value) {
  int64_t step;
  Value indices;
  Value pointer = memoryAccess.pointerAt(buffer, memoryAccess.linearIndex(buffer, position, step, indices));
  LLVM::StoreOp::create(builder, loc, value, pointer, kCore.lineBytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}

// Loops over the axes that stay as they are, then over blocks.
LogicalResult BlockTranspose::emitTransposeLoops(const CPUNest &nest, const BlockAxes &axes, int64_t next,
                                                 UnitRange units, Position &position) {
  if (next == int64_t(nest.shape.size()))
    return emitTransposeBlocks(nest, axes, units, position);
  if (llvm::is_contained(axes.rows, next) || llvm::is_contained(axes.columns, next))
    return emitTransposeLoops(nest, axes, next + 1, units, position);
  auto at = [&](Value base, UnitRange inside) {
    position[next] = {base, 0, nullptr};
    return emitTransposeLoops(nest, axes, next + 1, inside, position);
  };
  if (distribution.hasUnitsInside(nest, next))
    return distribution.overUnits(nest, next, units, at);
  auto [lower, upper] = distribution.boundsOf(nest, next, units);
  return emitLoop(lower, upper, indexConstant(1), [&](Value base) { return at(base, units); });
}

// The axes that stay as they are, and strips of blocks. The last block of an axis overlaps the one before, so
// a strip has both.
void BlockTranspose::chooseUnitsOfTranspose(CPUNest &nest, const BlockAxes &axes) {
  nest.units = distribution.unitsOfCall;
  nest.stripOfBlocks = transposedLanes(nest.outputs.front()) * kBlocksAlongOperand;
  if (distribution.isTooShort())
    return;
  for (auto [axis, size] : llvm::enumerate(nest.shape))
    if (size != 1 && !llvm::is_contained(axes.rows, axis) && !llvm::is_contained(axes.columns, axis))
      nest.unitLoops.push_back({{int64_t(axis)}, 1});
  int64_t width = transposedLanes(nest.outputs.front()), rows = elementsOf(nest.shape, axes.rows);
  for (int64_t blocks : {kBlocksAlongOperand, kBlocksAlongOperand - 1, kBlocksAlongOperand + 1}) {
    int64_t rest = rows % (blocks * width);
    if (rest != 0 && rest < width)
      continue;
    nest.stripOfBlocks = blocks * width;
    if (rows > nest.stripOfBlocks)
      nest.unitLoops.push_back({axes.rows, nest.stripOfBlocks});
    return;
  }
}

// The last blocks of an axis overlap the ones before, which writes the same values again.
LogicalResult BlockTranspose::emitTransposeBlocks(const CPUNest &nest, const BlockAxes &axes, UnitRange units,
                                                  const Position &outer) {
  Value output = nest.outputs.front();
  const Buffer &destination = results.front();
  int64_t width = transposedLanes(output);
  int64_t rows = elementsOf(destination.shape, axes.rows);
  int64_t columns = elementsOf(destination.shape, axes.columns);
  auto start = [&](Value at, int64_t size) {
    return binary<arith::MinUIOp>(at, indexConstant(size - width));
  };
  Value step = indexConstant(width), strip = indexConstant(nest.stripOfBlocks);
  auto [lower, upper] = distribution.boundsOf(nest, axes.rows, units);
  return emitLoop(lower, upper, strip, [&](Value from) {
    Value to = binary<arith::MinUIOp>(binary<arith::AddIOp>(from, strip), indexConstant(rows));
    return emitLoop(indexConstant(0), indexConstant(columns), step, [&](Value column) {
      return emitLoop(from, to, step, [&](Value row) {
        return emitTransposeBlock(output, axes, outer, start(row, rows), start(column, columns));
      });
    });
  });
}

// Sets axes that are contiguous in memory from one index over all of them.
static void setLinear(Position &position, ArrayRef<int64_t> axes, Index linear, Value zero) {
  for (int64_t axis : axes)
    position[axis] = {zero, 0, nullptr};
  position[axes.back()] = linear;
}

// The same for axes that are not contiguous, except groups whose numbers in `order` are consecutive.
void BlockTranspose::setDelinearized(Position &position, ArrayRef<int64_t> axes, Value linear,
                                     ArrayRef<int64_t> order) {
  ArrayRef<int64_t> shape = results.front().shape;
  while (!axes.empty()) {
    size_t adjacent = 1;
    while (adjacent < axes.size() &&
           order[axes[axes.size() - adjacent]] == order[axes[axes.size() - adjacent - 1]] + 1)
      ++adjacent;
    ArrayRef<int64_t> group = axes.take_back(adjacent);
    axes = axes.drop_back(adjacent);
    Value size = indexConstant(elementsOf(shape, group));
    Value index = axes.empty() ? linear : binary<arith::RemUIOp>(linear, size);
    setLinear(position, group, {index, 0, nullptr}, indexConstant(0));
    linear = binary<arith::DivUIOp>(linear, size);
  }
}

LogicalResult BlockTranspose::emitTransposeBlock(Value output, const BlockAxes &axes, const Position &outer,
                                                 Value row, Value column) {
  auto generic = output.getDefiningOp<linalg::GenericOp>();
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  const Buffer &source = buffers.find(generic.getDpsInputs()[0])->second;
  const Buffer &destination = results.front();
  // The positions of the axes of the result in the operand, and in the result.
  SmallVector<int64_t> inOperand(map.getNumResults());
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    inOperand[cast<AffineDimExpr>(expr).getPosition()] = axis;
  auto inResult = llvm::to_vector(llvm::seq<int64_t>(0, inOperand.size()));
  int64_t width = transposedLanes(output);
  WithLanes vectorCode(context, width, nullptr);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < width; ++i) {
    Position from(outer);
    setDelinearized(from, axes.columns, binary<arith::AddIOp>(column, indexConstant(i)), inOperand);
    setLinear(from, axes.rows, {row, 1, nullptr}, indexConstant(0));
    rows.push_back(toMemory(memoryAccess.load(source, maps.apply(map, from))));
  }
  transposeInRegisters(builder, loc, rows);
  for (int64_t i = 0; i < width; ++i) {
    Position to(outer);
    setDelinearized(to, axes.rows, binary<arith::AddIOp>(row, indexConstant(i)), inResult);
    setLinear(to, axes.columns, {column, 1, nullptr}, indexConstant(0));
    if (streams)
      stream(destination, to, rows[i]);
    else
      stores.store(destination, to, fromMemory(rows[i], destination.element));
  }
  return success();
}
