// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Blocks of the order: their elements and values, and those of adjacent chains.

#include "ScanTiles.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

LogicalResult ScanTiles::emitPass(const Tile &tile, Pass pass) {
  return scan.hasSquares() ? emitSquares(tile, pass) : emitColumns(tile, pass);
}

// Numbers of blocks are short.
std::pair<Value, Value> ScanTiles::divideShort(Value number, Value by) {
  Type word = builder.getI32Type(), index = builder.getIndexType();
  Value shortNumber = builder.createOrFold<arith::IndexCastOp>(loc, word, number);
  Value shortBy = builder.createOrFold<arith::IndexCastOp>(loc, word, by);
  Value quotient = builder.createOrFold<arith::DivUIOp>(loc, shortNumber, shortBy);
  Value rest = builder.createOrFold<arith::RemUIOp>(loc, shortNumber, shortBy);
  return {builder.createOrFold<arith::IndexCastOp>(loc, index, quotient),
          builder.createOrFold<arith::IndexCastOp>(loc, index, rest)};
}

// Adjacent runs are adjacent blocks of a bundle in squares, else of adjacent chains.
ScanTiles::Block ScanTiles::blockAt(const Tile &tile, Value first, int64_t offset) {
  Value by = scan.hasSquares() ? tile.blocks : tile.bundles;
  std::optional<int64_t> known = constantOf(by);
  bool isOneBundle = scan.hasSquares() && constantOf(tile.bundles) == 1;
  // Offsets that stay in one part, or are whole parts, are the same in all warps.
  int64_t outerOffset = 0, innerOffset = 0;
  if (offset == 0 || isOneBundle || (known && *known % scan.runsOfSquare() == 0)) {
    innerOffset = offset;
  } else if (known && scan.runsOfSquare() % *known == 0) {
    outerOffset = offset / *known;
    innerOffset = offset % *known;
  } else {
    first = binary<arith::AddIOp>(first, indexConstant(offset));
  }
  auto [outer, inner] =
      isOneBundle ? std::pair<Value, Value>(indexConstant(0), first) : divideShort(first, by);
  Block found;
  auto ofBundle = [&](Value bundle, int64_t distance) {
    bundle = binary<arith::AddIOp>(tile.firstBundle, bundle);
    return binary<arith::AddIOp>(bundle, indexConstant(distance));
  };
  found.bundle = scan.hasSquares() ? ofBundle(outer, outerOffset) : ofBundle(inner, innerOffset);
  Value block = binary<arith::AddIOp>(scan.hasSquares() ? inner : outer, firstBlockOf(tile));
  found.lower = binary<arith::MulIOp>(block, indexConstant(scan.block));
  found.offset = (scan.hasSquares() ? innerOffset : outerOffset) * scan.block;
  return found;
}

Value ScanTiles::lowerOf(const Block &block) {
  return binary<arith::AddIOp>(block.lower, indexConstant(block.offset));
}

// The distance comes last, for the constant part of an address.
Value ScanTiles::stepOf(const Block &block, Value step) {
  return binary<arith::AddIOp>(binary<arith::AddIOp>(block.lower, step), indexConstant(block.offset));
}

Value ScanTiles::upperOf(const Block &block) {
  return binary<arith::MinUIOp>(binary<arith::AddIOp>(lowerOf(block), indexConstant(scan.block)), length);
}

// The axes of a bundle are those before the scanned one, and the column is in the axes after it.
Position ScanTiles::positionOf(Value bundle, Value column) {
  SmallVector<Value> sizes = scans.nestOverChains(scan.op).sizes;
  if (!column)
    return mapping.positionOfElement(bundle, sizes);
  unsigned outer = axisOfSteps();
  Position position = mapping.positionOfElement(bundle, ValueRange(sizes).take_front(outer));
  llvm::append_range(position, mapping.positionOfElement(column, ValueRange(sizes).drop_front(outer)));
  return position;
}

SmallVector<Index> ScanTiles::loopsOf(Value bundle, Value column, Value step) {
  SmallVector<Index> loops = scans.loopsOf(scan.op, positionOf(bundle, column));
  loops[scannedDim(scan.op)] = {step, 0, nullptr};
  return loops;
}

// A chain starts from its outs in its first block only.
FailureOr<Value> ScanTiles::startOf(const Block &block, Value column) {
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lowerOf(block), indexConstant(0));
  Value neutral = scans.neutralOf(scan.op);
  FailureOr<Value> start = scans.startOf(scan.op, positionOf(block.bundle, column));
  if (failed(start))
    return failure();
  Value chosen = arith::SelectOp::create(builder, loc, isFirst, toMemory(*start), toMemory(neutral));
  return fromMemory(chosen, neutral.getType());
}

FailureOr<Value> ScanTiles::valueAt(ArrayRef<Index> loops) {
  auto value = evaluator.evaluateBody(scan.op, loops, IRMapping(), scan.combined);
  if (failed(value))
    return failure();
  return value->front();
}

// The same operation as in the body, on a value that was computed before.
Value ScanTiles::combine(Value accumulator, Value value) {
  IRMapping known;
  known.map(linalg::GenericOp(scan.op).getRegionOutputArgs().back(), accumulator);
  known.map(scan.combined, value);
  return builder.clone(*combiningOp(scan.op), known)->getResult(0);
}

//===- Adjacent threads have adjacent chains ------------------------------===//

LogicalResult ScanTiles::emitColumns(const Tile &tile, Pass pass) {
  return emitLoop(
      mapping.threadInBlock, tile.count, mapping.blockThreads, [&](Value number) -> LogicalResult {
        Block block = blockAt(tile, number);
        FailureOr<Value> start = startOf(block, nullptr);
        if (failed(start))
          return failure();
        Value carry = pass == Pass::results && hasCarries() ? loadTotal(totals, number) : Value();
        Value lower = lowerOf(block), upper = upperOf(block);
        Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, lower), indexConstant(kStepsAtOnce));
        Value middle = binary<arith::SubIOp>(upper, rest);
        FailureOr<Value> sum = columnSteps(block, pass, carry, *start, lower, middle, kStepsAtOnce);
        if (succeeded(sum))
          sum = columnSteps(block, pass, carry, *sum, middle, upper, 1);
        if (failed(sum))
          return failure();
        if (pass == Pass::totals)
          keepTotal(block, nullptr, number, *sum);
        return success();
      });
}

// The loads of an iteration come first, and its stores last.
FailureOr<Value> ScanTiles::columnSteps(const Block &block, Pass pass, Value carry, Value start, Value lower,
                                        Value upper, int64_t unroll) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(unroll), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  SmallVector<SmallVector<Index>> steps;
  for (int64_t i = 0; i < unroll; ++i)
    steps.push_back(
        loopsOf(block.bundle, nullptr, binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i))));
  if (failed(evaluator.loadFirst(scan.op, steps)))
    return failure();
  SmallVector<Value> results;
  Value accumulator = loop.getRegionIterArg(0);
  for (const SmallVector<Index> &step : steps) {
    FailureOr<Value> next = scans.nextOf(scan.op, step, accumulator);
    if (failed(next))
      return failure();
    if (pass == Pass::results) {
      FailureOr<Value> result = scans.resultOf(scan.op, step, carry, accumulator, *next);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    accumulator = *next;
  }
  for (auto [step, result] : llvm::zip(steps, results))
    memoryAccess.store(this->results.front(), maps.apply(stepMapOf(scan.op), step), result);
  scf::YieldOp::create(builder, loc, accumulator);
  return loop.getResult(0);
}
