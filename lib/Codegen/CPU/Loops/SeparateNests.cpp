// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Results with statements of their own: those that share no space, running reductions, and slices that are
// inserted one after another (InsertEmitter.cpp).

#include "SeparateNests.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <vector>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The first axis that is longer than one, if threads can divide the result along it: the stride of each
// inserted slice is static there, and no slice depends on a running reduction. Else -1.
int64_t SeparateNests::dividedAxis(Value output, ArrayRef<int64_t> shape) {
  auto isLong = [](int64_t size) { return size != 1; };
  int64_t axis = llvm::find_if(shape, isLong) - shape.begin();
  if (axis == int64_t(shape.size()))
    return -1;
  for (auto insert = output.getDefiningOp<tensor::InsertSliceOp>(); insert;
       insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (scanOf(insert.getDest()))
      return -1; // a chain is not divided
    if (insert.getSourceType().getRank() != insert.getDestType().getRank())
      return -1; // which emitInsert refuses
    std::optional<int64_t> stride = getConstantIntValue(insert.getMixedStrides()[axis]);
    if (!stride || *stride < 1)
      return -1;
  }
  return axis;
}

// The nest of one result, with the units that threads divide.
SeparateNests::SeparateResult SeparateNests::nestOfResult(Value output, unsigned number) {
  SeparateResult separate{output, {}, {int64_t(number), {}}};
  const Buffer &destination = results[number];
  if (linalg::GenericOp scan = scanOf(output)) {
    separate.nest = scans.nestOverChains(scan);
    separate.nest.vectorize = !scans.prefersBlocks(scan);
    separate.nest.outputs = {output}; // a chain is as much work as it has steps
    distribution.chooseUnits(separate.nest);
    separate.nest.outputs.clear();
    separate.space.loops = scans.loopsOfSteps(scan, separate.nest.unitLoops);
    return separate;
  }
  if (output.getDefiningOp<tensor::InsertSliceOp>()) {
    separate.nest = kernelOutputs.nestOver(destination, {});
    int64_t axis = dividedAxis(output, destination.shape);
    if (axis >= 0 && !distribution.isTooShort())
      separate.nest.unitLoops = {{{axis}, 1}};
  } else {
    separate.nest = kernelOutputs.nestOver(destination, output);
    separate.nest.vectorize = !hoisting.sumsLanesAlong(output, separate.nest, separate.nest.laneAxis(),
                                                       /*ofShortRows=*/false);
    distribution.chooseUnits(separate.nest);
  }
  separate.space.loops = separate.nest.unitLoops;
  return separate;
}

LogicalResult SeparateNests::emitNestOfResult(SeparateResult &separate, const Buffer &destination) {
  if (linalg::GenericOp scan = scanOf(separate.output))
    return loopNests.emitNest(separate.nest, [&](ArrayRef<Position> positions) {
      return scans.emitChains(scan, destination, positions);
    });
  if (auto insert = separate.output.getDefiningOp<tensor::InsertSliceOp>()) {
    AxisRange range;
    if (!separate.nest.unitLoops.empty()) {
      range.axis = separate.nest.unitLoops.front().axes.front();
      std::tie(range.lower, range.upper) =
          distribution.boundsOf(separate.nest, range.axis, separate.nest.units);
    }
    return inserts.emitInsert(insert, destination, range);
  }
  if (separate.output.getDefiningOp<tensor::EmptyOp>())
    return success(); // later insertions write every element
  return loopNests.emitNest(separate.nest, [&](ArrayRef<Position> positions) {
    return kernelOutputs.storeOutputs(separate.output, destination, positions);
  });
}

// The part of the range in [before, before + count), counted from there.
UnitRange SeparateNests::unitsAfter(Value before, Value count) {
  auto inside = [&](Value unit) {
    Value from = binary<arith::SubIOp>(binary<arith::MaxUIOp>(unit, before), before);
    return binary<arith::MinUIOp>(from, count);
  };
  const UnitRange &ofCall = distribution.unitsOfCall;
  return {inside(ofCall.begin), inside(ofCall.end)};
}

// The statements of a result, unless the range has none of its units.
LogicalResult SeparateNests::emitIfAny(SeparateResult &separate, const Buffer &destination) {
  const UnitRange &units = separate.nest.units;
  Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, units.begin, units.end);
  auto branch = scf::IfOp::create(builder, loc, some);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Scope scope(context);
  return emitNestOfResult(separate, destination);
}

// Results with separate spaces, each in a nest of its own. Their units are consecutive. Without loops that
// threads divide, the whole kernel is one unit and has no branches, so that it may be inlined into a loop.
LogicalResult SeparateNests::emitSeparately(ValueRange outputs) {
  std::vector<SeparateResult> separate;
  WorkUnits spaces;
  for (auto [number, output] : llvm::enumerate(outputs)) {
    separate.push_back(nestOfResult(output, number));
    spaces.push_back(separate.back().space);
  }
  bool isOneUnit = llvm::all_of(spaces, [](const UnitSpace &space) { return space.loops.empty(); });
  if (isOneUnit)
    spaces = {UnitSpace()};
  distribution.declareUnits(spaces);
  Value before = indexConstant(0);
  for (auto [each, destination] : llvm::zip_equal(separate, results)) {
    each.nest.units = distribution.unitsOfCall;
    if (isOneUnit || separate.size() == 1) {
      if (failed(emitNestOfResult(each, destination)))
        return failure();
      continue;
    }
    Value count = distribution.unitsFrom(each.nest, 0);
    each.nest.units = unitsAfter(before, count);
    if (failed(emitIfAny(each, destination)))
      return failure();
    before = binary<arith::AddIOp>(before, count);
  }
  return success();
}
