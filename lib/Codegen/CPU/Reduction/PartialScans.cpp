// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PartialScans.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// More chains are enough units of work.
static constexpr int64_t kMaxChains = 64;
// Shorter chains are not worth a second pass over their elements.
static constexpr int64_t kMinTiles = 2;

linalg::GenericOp PartialScans::dividedScan(ValueRange outputs) {
  linalg::GenericOp scan = outputs.size() == 1 ? scanOf(outputs.front()) : linalg::GenericOp();
  if (!scan || !scans.prefersBlocks(scan))
    return nullptr;
  int64_t length = scan.getStaticLoopRanges()[scannedDim(scan)];
  bool isLong = ShapedType::isDynamic(length) || length >= kMinTiles * kernel.getOrderAttr().getTileLength();
  Nest chains = scans.nestOverChains(scan);
  bool areFew =
      !ShapedType::isDynamicShape(chains.shape) && ShapedType::getNumElements(chains.shape) <= kMaxChains;
  return isLong && areFew ? scan : linalg::GenericOp();
}

Value PartialScans::tilesOf(linalg::GenericOp scan) {
  return binary<arith::CeilDivUIOp>(reductionLoops.sizeOf(scan, scannedDim(scan)),
                                    indexConstant(kernel.getOrderAttr().getTileLength()));
}

// [chain, tile]
Buffer PartialScans::totalsOf(linalg::GenericOp scan) {
  int64_t chains = countChains(scan);
  return {memory,
          getElementTypeOrSelf(scan.getResult(1)),
          {chains, ShapedType::kDynamic},
          {indexConstant(chains), tilesOf(scan)}};
}

SmallVector<Value> PartialScans::emitSizes(linalg::GenericOp scan) {
  Buffer totals = totalsOf(scan);
  Value count = binary<arith::MulIOp>(totals.sizes[0], totals.sizes[1]);
  return {count, binary<arith::MulIOp>(count, indexConstant(memoryBytes(totals.element)))};
}

// A unit is a tile.
LogicalResult PartialScans::emitTotals(linalg::GenericOp scan) {
  Buffer totals = totalsOf(scan);
  Value length = indexConstant(kernel.getOrderAttr().getTileLength());
  Value size = reductionLoops.sizeOf(scan, scannedDim(scan));
  const UnitRange &units = distribution.unitsOfCall;
  return emitLoop(units.begin, units.end, indexConstant(1), [&](Value unit) -> LogicalResult {
    Value chain = binary<arith::DivUIOp>(unit, totals.sizes[1]);
    Value tile = binary<arith::RemUIOp>(unit, totals.sizes[1]);
    Position position = positionOfElement(chain, scans.nestOverChains(scan).sizes);
    FailureOr<Value> start = scans.startOf(scan, position);
    if (failed(start))
      return failure();
    Value lower = binary<arith::MulIOp>(tile, length);
    Value upper = binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, length), size);
    FailureOr<Value> total =
        scans.emitTile(scan, nullptr, scans.loopsOf(scan, position), {lower, upper, *start, nullptr});
    if (failed(total))
      return failure();
    memoryAccess.store(totals, {{chain, 0, nullptr}, {tile, 0, nullptr}}, *total);
    return success();
  });
}

FailureOr<Value> PartialScans::carryInto(linalg::GenericOp scan, const Buffer &totals, Value chain,
                                         Value tile) {
  auto loop =
      scf::ForOp::create(builder, loc, indexConstant(0), tile, indexConstant(1), scans.neutralOf(scan));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value total = memoryAccess.load(totals, {{chain, 0, nullptr}, {loop.getInductionVar(), 0, nullptr}});
  scf::YieldOp::create(builder, loc, scans.join(scan, loop.getRegionIterArg(0), total));
  return loop.getResult(0);
}

// The units are tiles of the first chain, then those of the next.
LogicalResult PartialScans::emitTiles(linalg::GenericOp scan) {
  OrderAttr order = kernel.getOrderAttr();
  Nest chains = scans.nestOverChains(scan);
  CPUNest nest;
  nest.unitLoops =
      scans.loopsOfSteps(scan, UnitLoop{llvm::to_vector(llvm::seq<int64_t>(0, chains.shape.size()))});
  if (chains.shape.empty())
    nest.unitLoops.clear();
  int64_t axis = *stepMapOf(scan).getResultPosition(builder.getAffineDimExpr(scannedDim(scan)));
  nest.unitLoops.push_back({{axis}, order.getTileLength()});
  distribution.declareUnits({{0, nest.unitLoops}});
  Buffer totals = totalsOf(scan);
  Value tiles = binary<arith::MaxUIOp>(totals.sizes[1], indexConstant(1));
  Value length = indexConstant(order.getTileLength());
  const UnitRange &units = distribution.unitsOfCall;
  Value from = binary<arith::DivUIOp>(units.begin, tiles), to = binary<arith::CeilDivUIOp>(units.end, tiles);
  return emitLoop(from, to, indexConstant(1), [&](Value chain) -> LogicalResult {
    Value first = binary<arith::MulIOp>(chain, tiles);
    Value begin = binary<arith::SubIOp>(binary<arith::MaxUIOp>(units.begin, first), first);
    Value end = binary<arith::MinUIOp>(binary<arith::SubIOp>(units.end, first), tiles);
    Position position = positionOfElement(chain, scans.nestOverChains(scan).sizes);
    FailureOr<Value> start = scans.startOf(scan, position);
    FailureOr<Value> carry = carryInto(scan, totals, chain, begin);
    if (failed(start) || failed(carry))
      return failure();
    Value upper = binary<arith::MinUIOp>(binary<arith::MulIOp>(end, length),
                                         reductionLoops.sizeOf(scan, scannedDim(scan)));
    return scans.emitTiles(scan, results.front(), scans.loopsOf(scan, position),
                           {binary<arith::MulIOp>(begin, length), upper, *start, *carry});
  });
}
