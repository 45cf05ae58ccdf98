// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that only transpose: square blocks are read along the operand's contiguous axis, transposed in
// registers and written along the result's. Gathering would touch one cache line for each element. A result
// that no cache holds is written past them, which saves reading the lines that it replaces.

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Blocks that follow each other along the operand before the next ones along the result.
static constexpr int64_t kBlocksAlongOperand = 4;

// A result from this size on leaves the second-level cache before anyone reads it.
static constexpr int64_t kStreamedBytes = 4 * 1024 * 1024;
// Stores past the caches write whole lines only.
static constexpr int64_t kLineBytes = 64;

// The axis of the result along which the operand is contiguous, when the kernel only permutes the axes of an
// argument and that axis is another than the result's own contiguous one.
std::optional<int64_t> KernelEmitter::transposedAxis(Value root) {
  auto generic = root.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumReductionLoops() > 0 ||
      generic.getNumResults() != 1 || !buffers.count(generic.getDpsInputs()[0]))
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(generic.getBlock()->getTerminator());
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (yield.getOperand(0) != generic.getBlock()->getArgument(0) || !map.isPermutation() ||
      !out.isIdentity() || map.getNumResults() < 2)
    return std::nullopt;
  int64_t last = map.getNumDims() - 1;
  int64_t axis = cast<AffineDimExpr>(map.getResults().back()).getPosition();
  auto shape = cast<RankedTensorType>(root.getType()).getShape();
  bool blocks = llvm::all_of(ArrayRef<int64_t>{axis, last}, [&](int64_t dim) {
    return !ShapedType::isDynamic(shape[dim]) && shape[dim] >= transposedLanes(root);
  });
  return axis != last && blocks ? std::optional<int64_t>(axis) : std::nullopt;
}

// Vectors of one register: a block then fits into the registers.
int64_t KernelEmitter::transposedLanes(Value root) {
  unsigned width =
      memoryType(cast<RankedTensorType>(root.getType()).getElementType()).getIntOrFloatBitWidth();
  return width > 32 ? vectorLanes * 32 / width : vectorLanes;
}

LogicalResult KernelEmitter::emitTranspose(Value root, int64_t axis) {
  function->setAttr("ad.tiles", builder.getStringAttr("one"));
  const Buffer &destination = results.front();
  Position position(destination.shape.size());
  if (!mayStream(root))
    return emitTransposeLoops(root, axis, 0, position);
  // The host's memory may begin anywhere.
  Type i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(builder, loc, i64, value); };
  Value address = LLVM::PtrToIntOp::create(builder, loc, i64, destination.pointer);
  Value offset = LLVM::AndOp::create(builder, loc, address, number(kLineBytes - 1));
  Value aligned = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq, offset, number(0));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), aligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (bool streamed : {true, false}) {
    builder.setInsertionPointToStart(streamed ? branch.thenBlock() : branch.elseBlock());
    Scope scope(*this);
    streams = streamed;
    LogicalResult emitted = emitTransposeLoops(root, axis, 0, position);
    streams = false;
    if (failed(emitted))
      return failure();
    if (streamed) // other threads see what follows the kernel before such stores, but for this
      LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::seq_cst);
  }
  return success();
}

bool KernelEmitter::mayStream(Value root) {
  auto type = cast<RankedTensorType>(root.getType());
  int64_t element = memoryBytes(type.getElementType());
  int64_t line = transposedLanes(root) * element;
  return line == kLineBytes && type.hasStaticShape() && type.getNumElements() * element >= kStreamedBytes &&
         type.getShape().back() * element % kLineBytes == 0;
}

void KernelEmitter::stream(const Buffer &buffer, const Position &position, Value value) {
  int64_t step;
  Value indices;
  Value pointer = pointerAt(buffer, linearIndex(buffer, position, step, indices));
  LLVM::StoreOp::create(builder, loc, value, pointer, kLineBytes, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}

// Loops over the axes that stay as they are, then over blocks.
LogicalResult KernelEmitter::emitTransposeLoops(Value root, int64_t axis, int64_t next, Position &position) {
  const Buffer &destination = results.front();
  int64_t last = destination.shape.size() - 1;
  if (next == last)
    return emitTransposeBlocks(root, axis, position);
  if (next == axis)
    return emitTransposeLoops(root, axis, next + 1, position);
  return emitLoop(indexConstant(0), destination.sizes[next], indexConstant(1), [&](Value base) {
    position[next] = {base, 0, nullptr};
    return emitTransposeLoops(root, axis, next + 1, position);
  });
}

// The last blocks of an axis overlap the ones before, which writes the same values again.
LogicalResult KernelEmitter::emitTransposeBlocks(Value root, int64_t axis, Position &position) {
  const Buffer &destination = results.front();
  int64_t last = destination.shape.size() - 1, width = transposedLanes(root);
  auto start = [&](Value at, int64_t dim) {
    return binary<arith::MinUIOp>(at, indexConstant(destination.shape[dim] - width));
  };
  Value step = indexConstant(width), strip = indexConstant(width * kBlocksAlongOperand);
  return emitLoop(indexConstant(0), destination.sizes[axis], strip, [&](Value from) {
    Value to = binary<arith::MinUIOp>(binary<arith::AddIOp>(from, strip), destination.sizes[axis]);
    return emitLoop(indexConstant(0), destination.sizes[last], step, [&](Value column) {
      return emitLoop(from, to, step, [&](Value row) {
        Position corner(position);
        corner[axis] = {start(row, axis), 0, nullptr};
        corner[last] = {start(column, last), 0, nullptr};
        return emitTransposeBlock(root, axis, corner, width);
      });
    });
  });
}

LogicalResult KernelEmitter::emitTransposeBlock(Value root, int64_t axis, const Position &corner,
                                                int64_t width) {
  auto generic = root.getDefiningOp<linalg::GenericOp>();
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  const Buffer &source = buffers.find(generic.getDpsInputs()[0])->second;
  const Buffer &destination = results.front();
  int64_t last = corner.size() - 1;
  WithLanes vectorCode(*this, width, nullptr);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < width; ++i) {
    Position from(corner);
    from[last].base = binary<arith::AddIOp>(corner[last].base, indexConstant(i));
    from[axis].step = 1;
    rows.push_back(toMemory(load(source, apply(map, from))));
  }
  transposeInRegisters(rows);
  for (int64_t i = 0; i < width; ++i) {
    Position to(corner);
    to[axis].base = binary<arith::AddIOp>(corner[axis].base, indexConstant(i));
    to[last].step = 1;
    if (streams)
      stream(destination, to, rows[i]);
    else
      store(destination, to, fromMemory(rows[i], destination.element));
  }
  return success();
}
