// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tapes: tensors with one row per iteration, carried through the forward loop and read backwards by the
// reverse one.

#include "Loops.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

// The type of an element of a tape. Tensors have integers of few widths: the others, and indices, are saved
// as i64.
static Type elementOnTape(Type type) {
  bool isElement = isa<FloatType>(type) || type.isInteger(1) || type.isInteger(8) || type.isInteger(32);
  return isElement ? type : IntegerType::get(type.getContext(), 64);
}

// Scalars are saved as tensors of one element.
static RankedTensorType rowsType(Type type, int64_t rows) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    SmallVector<int64_t> shape = {rows};
    llvm::append_range(shape, tensor.getShape());
    return tensor.clone(shape);
  }
  return RankedTensorType::get({rows}, elementOnTape(type));
}

static Value scalarToTape(OpBuilder &builder, Location loc, Value value) {
  Type element = elementOnTape(value.getType());
  if (value.getType() == element)
    return value;
  return value.getType().isIndex() ? arith::IndexCastOp::create(builder, loc, element, value).getResult()
                                   : arith::ExtUIOp::create(builder, loc, element, value).getResult();
}

static Value scalarFromTape(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return type.isIndex() ? arith::IndexCastOp::create(builder, loc, type, value).getResult()
                        : arith::TruncIOp::create(builder, loc, type, value).getResult();
}

static Value emptyTape(OpBuilder &builder, Location loc, const Saved &saved, OpFoldResult rows) {
  SmallVector<Value> sizes;
  SmallVector<int64_t> length;
  dispatchIndexOpFoldResults(rows, sizes, length);
  llvm::append_range(sizes, saved.sizes);
  RankedTensorType type = rowsType(saved.value.getType(), length.front());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type.getElementType()));
  return FullOp::create(builder, loc, type, zero, sizes, PermissionsAttr());
}

static Value asRow(OpBuilder &builder, Location loc, const Saved &saved, Value value) {
  RankedTensorType type = rowsType(value.getType(), 1);
  if (isa<RankedTensorType>(value.getType()))
    return ReshapeOp::create(builder, loc, type, value, saved.sizes, PermissionsAttr());
  return FullOp::create(builder, loc, type, scalarToTape(builder, loc, value), ValueRange(),
                        PermissionsAttr());
}

static SmallVector<Value> offsetsOfRow(OpBuilder &builder, Location loc, Value tape, Value iteration) {
  int64_t rank = cast<RankedTensorType>(tape.getType()).getRank();
  SmallVector<Value> offsets = {iteration};
  if (rank > 1)
    offsets.resize(rank, arith::ConstantIndexOp::create(builder, loc, 0));
  return offsets;
}

static Value writeRow(OpBuilder &builder, Location loc, const Saved &saved, Value value, Value tape,
                      Value row) {
  return DynamicUpdateSliceOp::create(builder, loc, tape, asRow(builder, loc, saved, value),
                                      offsetsOfRow(builder, loc, tape, row), PermissionsAttr());
}

static unsigned carryOf(const Saved &saved) { return cast<BlockArgument>(saved.value).getArgNumber() - 1; }

static OpFoldResult oneMore(OpBuilder &builder, Location loc, OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return builder.getIndexAttr(*constant + 1);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  return arith::AddIOp::create(builder, loc, cast<Value>(number), one).getResult();
}

static Value startOfTape(OpBuilder &builder, scf::ForOp loop, const Saved &saved, OpFoldResult trips) {
  Location loc = loop.getLoc();
  if (!saved.withYielded)
    return emptyTape(builder, loc, saved, trips);
  Value tape = emptyTape(builder, loc, saved, oneMore(builder, loc, trips)),
        zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return writeRow(builder, loc, saved, loop.getInitArgs()[carryOf(saved)], tape, zero);
}

// Writes the yielded value into the row after that of the iteration.
static Value writeYielded(OpBuilder &builder, scf::ForOp loop, const Saved &saved, Value tape,
                          Value iteration) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  Location loc = loop.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value row = arith::AddIOp::create(builder, loc, iteration, one);
  return writeRow(builder, loc, saved, loop.getYieldedValues()[carryOf(saved)], tape, row);
}

// Carries are saved at the start of the body, so that the body may overwrite them, or as the yielded value at
// its end; results of effects are saved right after them.
TapedLoop ad::saveOnTapes(scf::ForOp loop, const LoopBounds &bounds, ArrayRef<Saved> saved,
                          OpBuilder &builder) {
  Location loc = loop.getLoc();
  IRRewriter rewriter(builder);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> tapes;
  for (const Saved &value : saved)
    tapes.push_back(startOfTape(rewriter, loop, value, bounds.trips));

  auto writeRows = [&](OpBuilder &inner, Location, ArrayRef<BlockArgument> carried) {
    inner.setInsertionPointToStart(loop.getBody());
    Value iteration = iterationNumber(inner, loc, loop, bounds);
    SmallVector<Value> next;
    for (auto [value, tape] : llvm::zip(saved, carried)) {
      if (value.withYielded) {
        next.push_back(writeYielded(inner, loop, value, tape, iteration));
        continue;
      }
      if (Operation *effect = value.value.getDefiningOp())
        inner.setInsertionPointAfter(effect);
      next.push_back(writeRow(inner, loc, value, value.value, tape, iteration));
    }
    return next;
  };
  int64_t results = loop.getNumResults();
  FailureOr<LoopLikeOpInterface> taped =
      loop.replaceWithAdditionalYields(rewriter, tapes, /*replaceInitOperandUsesInLoop=*/false, writeRows);
  auto newLoop = cast<scf::ForOp>(taped->getOperation());
  return {newLoop, llvm::to_vector_of<Value>(newLoop.getResults().drop_front(results))};
}

Value ad::readTape(OpBuilder &builder, Location loc, Type type, Value tape, Value iteration,
                   ValueRange sizes) {
  Value row = DynamicSliceOp::create(builder, loc, rowsType(type, 1), tape,
                                     offsetsOfRow(builder, loc, tape, iteration), sizes, PermissionsAttr());
  if (isa<RankedTensorType>(type))
    return ReshapeOp::create(builder, loc, type, row, sizes, PermissionsAttr());
  Value scalar = tensor::ExtractOp::create(
      builder, loc, row, ValueRange(arith::ConstantIndexOp::create(builder, loc, 0).getResult()));
  return scalarFromTape(builder, loc, type, scalar);
}
