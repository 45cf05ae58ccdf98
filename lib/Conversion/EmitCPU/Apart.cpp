// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Results with statements of their own: those that share no space, running reductions, and slices inserted
// one after another.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static linalg::GenericOp scanOf(Value root) {
  auto generic = root.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumReductionLoops() == 0 || generic.getNumResults() < 2)
    return nullptr;
  OpOperand *init = generic.getDpsInitOperand(cast<OpResult>(root).getResultNumber());
  bool storesEachStep = generic.getMatchingIndexingMap(init).getNumResults() == generic.getNumLoops();
  return storesEachStep ? generic : linalg::GenericOp();
}

// The first axis that is longer than one, along which every insertion has a stride that is known, and what
// they go into can be divided; -1 if there is none.
int64_t KernelEmitter::clippableAxis(Value root, ArrayRef<int64_t> shape) {
  auto isLong = [](int64_t size) { return size != 1; };
  int64_t axis = llvm::find_if(shape, isLong) - shape.begin();
  if (axis == int64_t(shape.size()))
    return -1;
  for (auto insert = root.getDefiningOp<tensor::InsertSliceOp>(); insert;
       insert = insert.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (scanOf(insert.getDest()))
      return -1; // its lines are whole
    if (insert.getSourceType().getRank() != insert.getDestType().getRank())
      return -1; // which emitInsert refuses
    std::optional<int64_t> stride = getConstantIntValue(insert.getMixedStrides()[axis]);
    if (!stride || *stride < 1)
      return -1;
  }
  return axis;
}

// How threads share one of several results.
KernelEmitter::ApartRoot KernelEmitter::shareApart(Value root, unsigned number) {
  ApartRoot apart{root, {}, {int64_t(number), {}}};
  const Buffer &destination = results[number];
  if (linalg::GenericOp scan = scanOf(root)) {
    apart.nest = nestOverLines(scan);
    apart.nest.roots = {root}; // each line is as much work as it has steps
    chooseUnits(apart.nest);
    apart.nest.roots.clear();
    apart.space.loops = loopsOfSteps(scan, apart.nest.unitLoops);
  } else if (!root.getDefiningOp<tensor::InsertSliceOp>()) {
    apart.nest = nestOver(destination, root);
    apart.nest.vectorize = !sumsLanesAlong(root, apart.nest, laneAxisOf(apart.nest), /*ofShortRows=*/false);
    chooseUnits(apart.nest);
    apart.space.loops = apart.nest.unitLoops;
  } else {
    apart.nest = nestOver(destination, {});
    int64_t axis = clippableAxis(root, destination.shape);
    if (axis >= 0 && !isTooShort())
      apart.nest.unitLoops = {{{axis}, 1}};
    apart.space.loops = apart.nest.unitLoops;
  }
  return apart;
}

LogicalResult KernelEmitter::emitShared(ApartRoot &apart, const Buffer &destination) {
  if (linalg::GenericOp scan = scanOf(apart.root))
    return emitScan(scan, apart.nest, destination);
  if (auto insert = apart.root.getDefiningOp<tensor::InsertSliceOp>()) {
    Clip clip;
    if (!apart.nest.unitLoops.empty()) {
      clip.axis = apart.nest.unitLoops.front().axes.front();
      std::tie(clip.lower, clip.upper) = boundsOf(apart.nest, clip.axis, apart.nest.units);
    }
    return emitInsert(insert, destination, clip);
  }
  if (apart.root.getDefiningOp<tensor::EmptyOp>())
    return success();
  return emitNest(apart.nest, [&](ArrayRef<Position> positions) {
    return storeRoots(apart.root, destination, positions);
  });
}

// The part of the range that lies in [before, before + count), counted from there.
KernelEmitter::UnitRange KernelEmitter::unitsBehind(Value before, Value count) {
  auto inside = [&](Value unit) {
    Value from = binary<arith::SubIOp>(binary<arith::MaxUIOp>(unit, before), before);
    return binary<arith::MinUIOp>(from, count);
  };
  return {inside(rangeBegin), inside(rangeEnd)};
}

// Results that share no space, each in a nest of its own. Their units follow each other.
LogicalResult KernelEmitter::emitApart(ValueRange roots) {
  WorkUnits spaces;
  Value before = indexConstant(0);
  for (auto [number, root] : llvm::enumerate(roots)) {
    ApartRoot apart = shareApart(root, number);
    spaces.push_back(apart.space);
    if (roots.size() == 1) {
      apart.nest.units = {rangeBegin, rangeEnd};
      declareUnits(spaces);
      return emitShared(apart, results[number]);
    }
    Value count = unitsFrom(apart.nest, 0);
    apart.nest.units = unitsBehind(before, count);
    Value some = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, apart.nest.units.begin,
                                       apart.nest.units.end);
    auto branch = scf::IfOp::create(builder, loc, some);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Scope scope(*this);
    if (failed(emitShared(apart, results[number])))
      return failure();
    builder.setInsertionPointAfter(branch);
    before = binary<arith::AddIOp>(before, count);
  }
  declareUnits(spaces);
  return success();
}

// All of one result.
LogicalResult KernelEmitter::emitRoot(Value root, const Buffer &destination) {
  return emitClipped(root, destination, {});
}

LogicalResult KernelEmitter::emitClipped(Value root, const Buffer &destination, const Clip &clip) {
  if (auto insert = root.getDefiningOp<tensor::InsertSliceOp>())
    return emitInsert(insert, destination, clip);
  if (root.getDefiningOp<tensor::EmptyOp>())
    return success(); // every element is written by what follows
  if (linalg::GenericOp scan = scanOf(root))
    return emitScan(scan, nestOverLines(scan), destination);
  Nest nest = nestOver(destination, root);
  nest.vectorize = !sumsLanesAlong(root, nest, laneAxisOf(nest), /*ofShortRows=*/false);
  nest.clip = clip;
  return emitNest(nest,
                  [&](ArrayRef<Position> positions) { return storeRoots(root, destination, positions); });
}

Value KernelEmitter::numberOf(OpFoldResult number) {
  if (auto attr = dyn_cast<Attribute>(number))
    return indexConstant(cast<IntegerAttr>(attr).getInt());
  return scalars.lookup(cast<Value>(number));
}

// The elements of the inserted tensor that go to the clipped part of the destination.
KernelEmitter::Clip KernelEmitter::clipOfSource(tensor::InsertSliceOp insert, const Nest &source,
                                                const Clip &clip) {
  if (clip.axis < 0)
    return clip;
  Value offset = numberOf(insert.getMixedOffsets()[clip.axis]);
  Value stride = numberOf(insert.getMixedStrides()[clip.axis]), size = source.sizes[clip.axis];
  auto inSource = [&](Value bound) {
    Value behind = binary<arith::SubIOp>(binary<arith::MaxUIOp>(bound, offset), offset);
    return binary<arith::MinUIOp>(binary<arith::CeilDivUIOp>(behind, stride), size);
  };
  return {clip.axis, inSource(clip.lower), inSource(clip.upper)};
}

LogicalResult KernelEmitter::emitInsert(tensor::InsertSliceOp insert, const Buffer &destination,
                                        const Clip &clip) {
  // An argument that is inserted into is tied: its content is there already.
  if (!buffers.count(insert.getDest()) && failed(emitClipped(insert.getDest(), destination, clip)))
    return failure();
  auto sourceType = insert.getSourceType();
  if (sourceType.getRank() != insert.getDestType().getRank())
    return insert.emitOpError("changes the rank; the CPU emitter expects equal ranks");
  Nest nest;
  nest.roots = {insert.getSource()};
  nest.shape.assign(sourceType.getShape().begin(), sourceType.getShape().end());
  for (int64_t axis = 0; axis < sourceType.getRank(); ++axis)
    nest.sizes.push_back(sizeOf(insert.getSource(), axis));
  nest.vectorize = !sumsLanesAlong(nest.roots, nest, laneAxisOf(nest), /*ofShortRows=*/false);
  nest.clip = clipOfSource(insert, nest, clip);
  return emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(*this);
    auto values = evaluate(insert.getSource(), positions);
    if (failed(values))
      return failure();
    for (auto [position, value] : llvm::zip_equal(positions, *values)) {
      Position target;
      for (auto [index, offset, stride] :
           llvm::zip_equal(position, insert.getMixedOffsets(), insert.getMixedStrides())) {
        Value strideValue = numberOf(stride);
        Value base = binary<arith::AddIOp>(binary<arith::MulIOp>(index.base, strideValue), numberOf(offset));
        std::optional<int64_t> factor = getConstantIntValue(stride);
        if (!factor && index.step != 0)
          return insert.emitOpError("has a dynamic stride along the vector axis");
        target.push_back({base, wrappingProduct(index.step, factor.value_or(0)), nullptr});
      }
      store(destination, target, value);
    }
    return success();
  });
}
