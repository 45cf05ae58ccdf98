// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions (cumsum): a chain at each position of the axes that are not scanned, each of whose steps
// is stored. Vectors hold adjacent chains. If memory is contiguous along the scanned axis, the steps of a
// vector of chains are in as many cache chains; BlockedScan.cpp then transposes square blocks of steps and
// chains in registers.

#include "ScanEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

linalg::GenericOp codegen::scanOf(Value output) {
  auto generic = output.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() == 0 || generic.getNumResults() < 2)
    return nullptr;
  OpOperand *init = generic.getDpsInitOperand(cast<OpResult>(output).getResultNumber());
  bool storesEachStep = generic.getMatchingIndexingMap(init).getNumResults() == generic.getNumLoops();
  return storesEachStep ? generic : linalg::GenericOp();
}

unsigned codegen::scannedDim(linalg::GenericOp scan) {
  SmallVector<unsigned> dims;
  scan.getReductionDims(dims);
  return dims.front();
}

AffineMap codegen::stepMapOf(linalg::GenericOp scan) {
  return scan.getMatchingIndexingMap(scan.getDpsInitOperand(0));
}

bool codegen::isContiguousScan(linalg::GenericOp scan) {
  ArrayRef<AffineExpr> axes = stepMapOf(scan).getResults();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scan.getDpsInits()[0].getType()).getShape();
  while (axes.size() > 1 && shape.back() == 1) {
    axes = axes.drop_back();
    shape = shape.drop_back();
  }
  return stepMapOf(scan).isPermutation() &&
         cast<AffineDimExpr>(axes.back()).getPosition() == scannedDim(scan);
}

StepOperands codegen::operandsOfStep(linalg::GenericOp scan) {
  Operation *yield = scan.getBlock()->getTerminator();
  StepOperands found;
  SmallVector<Value> pending = {yield->getOperand(0)};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (value == yield->getOperand(1))
      found.next = true;
    else if (value == scan.getRegionOutputArgs().back())
      found.before = true;
    else if (isa<BlockArgument>(value) || isa<linalg::IndexOp, tensor::ExtractOp>(value.getDefiningOp()))
      found.others = true;
    else
      llvm::append_range(pending, value.getDefiningOp()->getOperands());
  }
  return found;
}

Nest ScanEmitter::nestOverChains(linalg::GenericOp scan) {
  Value chains = scan.getDpsInits()[1];
  auto chainType = cast<RankedTensorType>(chains.getType());
  Nest nest;
  nest.shape.assign(chainType.getShape().begin(), chainType.getShape().end());
  for (int64_t axis = 0; axis < chainType.getRank(); ++axis)
    nest.sizes.push_back(arguments.sizeOf(chains, axis));
  return nest;
}

// The axes of the chains as axes of the steps, which are the result.
SmallVector<UnitLoop> ScanEmitter::loopsOfSteps(linalg::GenericOp scan, ArrayRef<UnitLoop> loopsOfChains) {
  AffineMap chainMap = scan.getMatchingIndexingMap(scan.getDpsInitOperand(1));
  auto loops = llvm::to_vector(loopsOfChains);
  for (UnitLoop &loop : loops)
    for (int64_t &axis : loop.axes)
      axis = *stepMapOf(scan).getResultPosition(chainMap.getResult(axis));
  return loops;
}

LogicalResult ScanEmitter::emitChains(linalg::GenericOp scan, const Buffer &destination,
                                      ArrayRef<Position> positions) {
  for (const Position &position : positions) {
    FailureOr<Value> start = startOf(scan, position);
    if (failed(start))
      return failure();
    Tile all{indexConstant(0), reductionLoops.sizeOf(scan, scannedDim(scan)), *start, nullptr};
    if (failed(emitTiles(scan, destination, loopsOf(scan, position), all)))
      return failure();
  }
  return success();
}

//===- Values -------------------------------------------------------------===//

bool ScanEmitter::hasNestedChains(linalg::GenericOp scan) {
  OrderAttr order = kernel.getOrderAttr();
  return order && order.hasNestedChains() && combiningOp(scan);
}

SmallVector<Index> ScanEmitter::loopsOf(linalg::GenericOp scan, const Position &position) {
  return maps.loopsFromOutput(scan, scan.getMatchingIndexingMap(scan.getDpsInitOperand(1)), position);
}

FailureOr<Value> ScanEmitter::startOf(linalg::GenericOp scan, const Position &position) {
  FailureOr<Value> start = values.evaluateOne(scan.getDpsInits()[1], position);
  if (failed(start))
    return failure();
  return lanes > 1 ? laneValues.splat(*start, lanes) : *start;
}

Value ScanEmitter::neutralOf(linalg::GenericOp scan) {
  Value neutral = arith::ConstantOp::create(builder, loc, matchReduction(scan).neutral);
  return lanes > 1 ? laneValues.splat(neutral, lanes) : neutral;
}

Value ScanEmitter::join(linalg::GenericOp scan, Value carry, Value own) {
  return carry ? joinPartialResults(builder, loc, combiningOp(scan), carry, own) : own;
}

FailureOr<Value> ScanEmitter::nextOf(linalg::GenericOp scan, ArrayRef<Index> loops, Value accumulator) {
  IRMapping known;
  known.map(scan.getRegionOutputArgs().back(), accumulator);
  auto next = values.evaluateBody(scan, loops, known, scan.getBlock()->getTerminator()->getOperand(1));
  if (failed(next))
    return failure();
  return lanes > 1 ? laneValues.splat(next->front(), lanes) : next->front();
}

FailureOr<Value> ScanEmitter::resultOf(linalg::GenericOp scan, ArrayRef<Index> loops, Value carry,
                                       Value accumulator, Value next) {
  Operation *yield = scan.getBlock()->getTerminator();
  BlockArgument before = scan.getRegionOutputArgs().back();
  IRMapping known;
  known.map(before, carry && !before.hasOneUse() ? join(scan, carry, accumulator) : accumulator);
  known.map(yield->getOperand(1), join(scan, carry, next));
  auto result = values.evaluateBody(scan, loops, known, yield->getOperand(0));
  if (failed(result))
    return failure();
  return result->front();
}

//===- Blocks of the order ------------------------------------------------===//

LogicalResult ScanEmitter::emitTiles(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                     const Tile &range) {
  if (!hasNestedChains(scan))
    return scanBlock(scan, &destination, loops, {range.lower, range.upper, nullptr}, range.start);
  int64_t length = kernel.getOrderAttr().getTileLength();
  std::optional<int64_t> known = constantOf(range.upper);
  if (constantOf(range.lower) == 0 && known && *known <= length)
    return emitTile(scan, &destination, loops, range);
  auto loop = scf::ForOp::create(builder, loc, range.lower, range.upper, indexConstant(length),
                                 range.carry ? range.carry : neutralOf(scan));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  Value lower = loop.getInductionVar(), carry = loop.getRegionIterArg(0);
  Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, indexConstant(length)), range.upper);
  FailureOr<Value> total = emitTile(scan, &destination, loops, {lower, end, range.start, carry});
  if (failed(total))
    return failure();
  scf::YieldOp::create(builder, loc, join(scan, carry, *total));
  return success();
}

FailureOr<Value> ScanEmitter::emitTile(linalg::GenericOp scan, const Buffer *destination,
                                       ArrayRef<Index> loops, const Tile &tile) {
  std::optional<int64_t> known = constantOf(tile.upper);
  if (constantOf(tile.lower) == 0 && known && *known <= kernel.getOrderAttr().getPartLength())
    return scanBlock(scan, destination, loops, {tile.lower, tile.upper, nullptr}, tile.start);
  Value lower = tile.lower, total = neutralOf(scan);
  if (failed(scanLeadingBlocks(scan, destination, loops, tile, lower, total)))
    return failure();
  return scanBlocks(scan, destination, loops, tile, lower, total);
}

// One block after the other from `lower` on.
FailureOr<Value> ScanEmitter::scanBlocks(linalg::GenericOp scan, const Buffer *destination,
                                         ArrayRef<Index> loops, const Tile &tile, Value lower, Value total) {
  Value length = indexConstant(kernel.getOrderAttr().getPartLength());
  auto loop = scf::ForOp::create(builder, loc, lower, tile.upper, length, total);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  Value begin = loop.getInductionVar(), before = loop.getRegionIterArg(0);
  Value end = binary<arith::MinUIOp>(binary<arith::AddIOp>(begin, length), tile.upper);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, begin, indexConstant(0));
  Value start = arith::SelectOp::create(builder, loc, isFirst, movable(tile.start), movable(neutralOf(scan)));
  start = fromMemory(start, getElementTypeOrSelf(tile.start));
  Value carry = destination ? join(scan, tile.carry, before) : Value();
  FailureOr<Value> own = scanBlock(scan, destination, loops, {begin, end, carry}, start);
  if (failed(own))
    return failure();
  scf::YieldOp::create(builder, loc, join(scan, before, *own));
  return loop.getResult(0);
}

// Returns the last accumulator.
FailureOr<Value> ScanEmitter::scanBlock(linalg::GenericOp scan, const Buffer *destination,
                                        ArrayRef<Index> loops, const Block &block, Value start) {
  Value from = block.lower;
  if (destination && failed(scanVectors(scan, *destination, loops, block, from, start)))
    return failure();
  return scanSteps(scan, destination, loops, block, from, start);
}

// Single steps from `from` on.
FailureOr<Value> ScanEmitter::scanSteps(linalg::GenericOp scan, const Buffer *destination,
                                        ArrayRef<Index> loops, const Block &block, Value from, Value start) {
  auto loop = scf::ForOp::create(builder, loc, from, block.upper, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  SmallVector<Index> inner(loops);
  inner[scannedDim(scan)] = {loop.getInductionVar(), 0, nullptr};
  Value accumulator = loop.getRegionIterArg(0);
  FailureOr<Value> next = nextOf(scan, inner, accumulator);
  if (failed(next))
    return failure();
  if (destination) {
    FailureOr<Value> result = resultOf(scan, inner, block.carry, accumulator, *next);
    if (failed(result))
      return failure();
    stores.store(*destination, maps.apply(stepMapOf(scan), inner), *result);
  }
  scf::YieldOp::create(builder, loc, *next);
  return loop.getResult(0);
}
