// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Running reductions in nested chains (decision 0046) as a loop over the elements of each line, which carries
// the running totals of the block, of the blocks before in its tile, and of the tiles before.

#include "Orders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

namespace {
/// What an iteration takes from the one before.
struct Totals {
  Value steps;   ///< the tensor that the loop fills
  Value chain;   ///< of the block, without carry
  Value blocks;  ///< of the complete blocks of the tile
  Value tiles;   ///< of the complete tiles
  Value carry;   ///< of all complete blocks
  Value running; ///< of all elements

  explicit Totals(ValueRange values)
      : steps(values[0]), chain(values[1]), blocks(values[2]), tiles(values[3]), carry(values[4]),
        running(values[5]) {}
  SmallVector<Value> values() const { return {steps, chain, blocks, tiles, carry, running}; }
};

class NestedChains {
public:
  NestedChains(OpBuilder &builder, linalg::GenericOp scan, const ReductionStructure &structure,
               OrderAttr order)
      : builder(builder), loc(scan.getLoc()), scan(scan), structure(structure), length(order.getPartLength()),
        tile(order.getTileLength()) {
    for (Range range : cast<linalg::LinalgOp>(scan.getOperation()).createLoopRanges(builder, loc))
      extents.push_back(getValueOrCreateConstantIndexOp(builder, loc, range.size));
    SmallVector<unsigned> reduced;
    scan.getReductionDims(reduced);
    scanned = reduced.front();
    loops.resize(extents.size());
    zero = arith::ConstantIndexOp::create(builder, loc, 0);
    one = arith::ConstantIndexOp::create(builder, loc, 1);
    neutral = arith::ConstantOp::create(builder, loc, structure.neutral);
  }

  SmallVector<Value> lower() {
    return loopOverLines(builder, 0, {scan.getDpsInits()[0], scan.getDpsInits()[1]});
  }

private:
  SmallVector<Value> loopOverLines(OpBuilder &at, unsigned loop, SmallVector<Value> results) {
    if (loop == extents.size())
      return scanLine(at, results);
    if (loop == scanned)
      return loopOverLines(at, loop + 1, results);
    auto made =
        scf::ForOp::create(at, loc, zero, extents[loop], one, results,
                           [&](OpBuilder &nested, Location, Value index, ValueRange carried) {
                             loops[loop] = index;
                             scf::YieldOp::create(nested, loc, loopOverLines(nested, loop + 1, carried));
                           });
    return SmallVector<Value>(made.getResults());
  }

  SmallVector<Value> indicesOf(OpBuilder &at, unsigned result) {
    AffineMap map = scan.getMatchingIndexingMap(scan.getDpsInitOperand(result));
    return llvm::map_to_vector(map.getResults(),
                               [&](AffineExpr expr) { return indexValue(at, loc, expr, loops); });
  }

  SmallVector<Value> scanLine(OpBuilder &at, ArrayRef<Value> results) {
    SmallVector<Value> place = indicesOf(at, 1);
    start = tensor::ExtractOp::create(at, loc, results[1], place);
    SmallVector<Value> initial{results[0], start, neutral, neutral, neutral, start};
    auto made = scf::ForOp::create(at, loc, zero, extents[scanned], one, initial,
                                   [&](OpBuilder &nested, Location, Value index, ValueRange carried) {
                                     loops[scanned] = index;
                                     Totals next = step(nested, Totals(carried));
                                     scf::YieldOp::create(nested, loc, next.values());
                                   });
    Value total = tensor::InsertOp::create(at, loc, made.getResult(5), results[1], place);
    return {made.getResult(0), total};
  }

  Totals step(OpBuilder &at, Totals before) {
    Value index = loops[scanned];
    auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(at, loc, value); };
    auto isZero = [&](Value value) -> Value {
      return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::eq, value, zero);
    };
    auto select = [&](Value condition, Value onTrue, Value onFalse) -> Value {
      return arith::SelectOp::create(at, loc, condition, onTrue, onFalse);
    };
    auto remainder = [&](Value value, int64_t divisor) -> Value {
      return arith::RemUIOp::create(at, loc, value, number(divisor));
    };
    Value isFirstBlock = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, index, number(length));
    Value isFirstTile = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, index, number(tile));
    Value beginsBlock = isZero(remainder(index, length)), isFirst = isZero(index);
    Value own = select(isFirst, start, select(beginsBlock, neutral, before.chain));
    Value chain = nextOf(at, own);
    // In the first block there is nothing to join with.
    Value accumulator = select(isFirstBlock, own, join(at, before.carry, own));
    Totals after = before;
    after.chain = chain;
    after.running = select(isFirstBlock, chain, join(at, before.carry, chain));
    after.steps = tensor::InsertOp::create(at, loc, resultOf(at, accumulator, after.running), before.steps,
                                           indicesOf(at, 0));
    // At the end of a block, and of a tile.
    Value following = arith::AddIOp::create(at, loc, index, one);
    Value endsBlock = isZero(remainder(following, length)), endsTile = isZero(remainder(following, tile));
    Value beginsTile =
        arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, remainder(index, tile), number(length));
    Value blocks = join(at, select(beginsTile, neutral, before.blocks), chain);
    Value withTiles = join(at, before.tiles, blocks);
    after.blocks = select(endsBlock, blocks, before.blocks);
    after.carry = select(endsBlock, select(isFirstTile, blocks, withTiles), before.carry);
    after.tiles = select(endsTile, withTiles, before.tiles);
    return after;
  }

  Value join(OpBuilder &at, Value left, Value right) {
    return joinPartialResults(at, loc, structure.combiner, left, right);
  }

  Value nextOf(OpBuilder &at, Value accumulator) {
    IRMapping mapping;
    mapping.map(scan.getRegionOutputArgs().back(), accumulator);
    cloneBody(at, scan, loops, mapping);
    return mapping.lookup(structure.combiner->getResult(0));
  }

  Value resultOf(OpBuilder &at, Value accumulator, Value next) {
    IRMapping mapping;
    mapping.map(scan.getRegionOutputArgs().back(), accumulator);
    mapping.map(structure.combiner->getResult(0), next);
    cloneBody(at, scan, loops, mapping);
    return mapping.lookupOrDefault(scan.getBlock()->getTerminator()->getOperand(0));
  }

  OpBuilder &builder;
  Location loc;
  linalg::GenericOp scan;
  const ReductionStructure &structure;
  int64_t length, tile; ///< elements of a block and of a tile
  unsigned scanned = 0;
  SmallVector<Value> extents, loops;
  Value zero, one, neutral, start;
};
} // namespace

LogicalResult plain::lowerScan(linalg::GenericOp scan, const ReductionStructure &structure,
                               PatternRewriter &rewriter) {
  OrderAttr order = orderOfKernel(scan);
  if (!structure.combiner || !order || !order.hasNestedChains())
    return rewriter.notifyMatchFailure(scan, "the order is one chain");
  rewriter.replaceOp(scan, NestedChains(rewriter, scan, structure, order).lower());
  return success();
}
