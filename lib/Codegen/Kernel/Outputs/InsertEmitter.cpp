// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Slices inserted into a result: concatenation, padding and updates. Trailing axes that a slice fills are
// copied as one. Results whose rows have a few elements are stored whole, one vector for each column
// (ColumnInserts.cpp of the CPU).

#include "InsertEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

bool codegen::isUnitStride(tensor::InsertSliceOp insert, int64_t axis) {
  return isConstantIntValue(insert.getMixedStrides()[axis], 1);
}

bool codegen::fills(OffsetSizeAndStrideOpInterface slice, RankedTensorType part, RankedTensorType whole,
                    int64_t axis) {
  int64_t size = part.getDimSize(axis);
  return !ShapedType::isDynamic(size) && size == whole.getDimSize(axis) &&
         isConstantIntValue(slice.getMixedOffsets()[axis], 0) &&
         isConstantIntValue(slice.getMixedStrides()[axis], 1);
}

bool codegen::fills(tensor::InsertSliceOp insert, int64_t axis) {
  return fills(insert, insert.getSourceType(), insert.getDestType(), axis);
}

// The elements of one result that are in the range.
LogicalResult InsertEmitter::emitRange(Value output, const Buffer &destination, const AxisRange &range) {
  if (auto insert = output.getDefiningOp<tensor::InsertSliceOp>())
    return emitInsert(insert, destination, range);
  if (output.getDefiningOp<tensor::EmptyOp>())
    return success(); // later insertions write every element
  if (linalg::GenericOp scan = scanOf(output))
    return nests.emitStatement(scans.nestOverChains(scan), [&](ArrayRef<Position> positions) {
      return scans.emitChains(scan, destination, positions);
    });
  StatementNest nest = outputs.nestOver(destination, output);
  nest.vectorize = !hoisting.sumsLanesAlong(output, nest, nest.laneAxis(), /*ofShortRows=*/false);
  nest.range = range;
  return nests.emitStatement(nest, [&](ArrayRef<Position> positions) {
    return outputs.storeOutputs(output, destination, positions);
  });
}

Value InsertEmitter::numberOf(OpFoldResult number) {
  if (auto attr = dyn_cast<Attribute>(number))
    return indexConstant(cast<IntegerAttr>(attr).getInt());
  return scalars.lookup(cast<Value>(number));
}

// The elements of the inserted tensor that go to the range of the destination.
AxisRange InsertEmitter::rangeOfSource(tensor::InsertSliceOp insert, const Nest &source,
                                       const AxisRange &range) {
  if (range.axis < 0)
    return range;
  Value offset = numberOf(insert.getMixedOffsets()[range.axis]);
  Value stride = numberOf(insert.getMixedStrides()[range.axis]), size = source.sizes[range.axis];
  auto inSource = [&](Value bound) {
    Value after = binary<arith::SubIOp>(binary<arith::MaxUIOp>(bound, offset), offset);
    return binary<arith::MinUIOp>(binary<arith::CeilDivUIOp>(after, stride), size);
  };
  return {range.axis, inSource(range.lower), inSource(range.upper)};
}

StatementNest InsertEmitter::nestOfSource(tensor::InsertSliceOp insert, const AxisRange &range) {
  StatementNest nest;
  nest.outputs = {insert.getSource()};
  llvm::append_range(nest.shape, insert.getSourceType().getShape());
  for (int64_t axis = 0; axis < insert.getSourceType().getRank(); ++axis)
    nest.sizes.push_back(arguments.sizeOf(insert.getSource(), axis));
  nest.range = rangeOfSource(insert, nest, range);
  return nest;
}

// Whether a slice of known place is inserted into a tensor of one number, as a padding does.
static bool isInsideOfFill(tensor::InsertSliceOp insert) {
  auto isOne = [](OpFoldResult stride) { return isConstantIntValue(stride, 1); };
  auto isKnown = [](OpFoldResult offset) { return getConstantIntValue(offset).has_value(); };
  return insert.getDest().getDefiningOp<linalg::FillOp>() && insert.getSourceType().hasStaticShape() &&
         insert.getDestType().hasStaticShape() && llvm::all_of(insert.getMixedStrides(), isOne) &&
         llvm::all_of(insert.getMixedOffsets(), isKnown);
}

// What the slice leaves of its destination, axis by axis: before the slice, and after it. So each element of
// the result is written once.
LogicalResult InsertEmitter::emitBorder(tensor::InsertSliceOp insert, const Buffer &destination,
                                        const AxisRange &range) {
  SmallVector<int64_t> from(insert.getDestType().getRank(), 0), to(insert.getDestType().getShape());
  for (auto [axis, offset] : llvm::enumerate(insert.getMixedOffsets())) {
    int64_t begin = *getConstantIntValue(offset), end = begin + insert.getSourceType().getDimSize(axis);
    for (auto [first, last] : {std::pair<int64_t, int64_t>(0, begin), {end, to[axis]}}) {
      SmallVector<int64_t> lower(from), upper(to);
      lower[axis] = first;
      upper[axis] = last;
      if (failed(emitPartOf(insert.getDest(), lower, upper, destination, range)))
        return failure();
    }
    from[axis] = begin;
    to[axis] = end;
  }
  return success();
}

// The elements of a tensor of one number from one position to another, without the latter.
LogicalResult InsertEmitter::emitPartOf(Value filled, ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                                        const Buffer &destination, const AxisRange &range) {
  StatementNest nest;
  nest.outputs = {filled};
  for (auto [first, last] : llvm::zip_equal(from, to)) {
    if (first >= last)
      return success();
    nest.shape.push_back(last - first);
    nest.sizes.push_back(indexConstant(last - first));
  }
  if (range.axis >= 0) {
    Value first = indexConstant(from[range.axis]), size = nest.sizes[range.axis];
    auto inPart = [&](Value bound) {
      return binary<arith::MinUIOp>(binary<arith::SubIOp>(binary<arith::MaxUIOp>(bound, first), first), size);
    };
    nest.range = {range.axis, inPart(range.lower), inPart(range.upper)};
  }
  return nests.emitStatement(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(context);
    auto computed = values.evaluate(filled, positions);
    if (failed(computed))
      return failure();
    for (auto [position, value] : llvm::zip_equal(positions, *computed)) {
      Position target(position);
      for (auto [index, first] : llvm::zip_equal(target, from))
        index.base = binary<arith::AddIOp>(index.base, indexConstant(first));
      stores.store(destination, target, value);
    }
    return success();
  });
}

LogicalResult InsertEmitter::emitInsert(tensor::InsertSliceOp insert, const Buffer &destination,
                                        const AxisRange &range) {
  if (insert.getSourceType().getRank() != insert.getDestType().getRank())
    return insert.emitOpError("changes the rank; the CPU emitter expects equal ranks");
  // An argument that is inserted into is tied: its content is there already.
  if (!buffers.count(insert.getDest()) &&
      failed(isInsideOfFill(insert) ? emitBorder(insert, destination, range)
                                    : emitRange(insert.getDest(), destination, range)))
    return failure();
  if (int64_t first = firstContiguousAxis(insert, range); first + 1 < insert.getSourceType().getRank())
    return emitContiguousInsert(insert, first, destination, range);
  StatementNest nest = nestOfSource(insert, range);
  nest.vectorize = !hoisting.sumsLanesAlong(nest.outputs, nest, nest.laneAxis(),
                                            /*ofShortRows=*/false);
  return nests.emitStatement(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(context);
    auto computed = values.evaluate(insert.getSource(), positions);
    if (failed(computed))
      return failure();
    for (auto [position, value] : llvm::zip_equal(positions, *computed)) {
      FailureOr<Position> target = insertedPosition(insert, position);
      if (failed(target))
        return failure();
      stores.store(destination, *target, value);
    }
    return success();
  });
}

// The position of an element of the slice in the destination.
FailureOr<Position> InsertEmitter::insertedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> position) {
  Position target;
  // Fewer indices are those of the leading axes.
  for (auto [index, offset, stride] :
       llvm::zip(position, insert.getMixedOffsets(), insert.getMixedStrides())) {
    Value base = binary<arith::AddIOp>(binary<arith::MulIOp>(index.base, numberOf(stride)), numberOf(offset));
    std::optional<int64_t> factor = getConstantIntValue(stride);
    if (!factor && index.step != 0)
      return insert.emitOpError("has a dynamic stride along the vector axis");
    target.push_back({base, wrappingProduct(index.step, factor.value_or(0)), nullptr});
  }
  return target;
}

// The first axis from which on the slice is contiguous in the destination too; the last one where the code of
// the slice needs its axes.
int64_t InsertEmitter::firstContiguousAxis(tensor::InsertSliceOp insert, const AxisRange &range) {
  int64_t last = insert.getSourceType().getRank() - 1, first = last;
  if (first < 0 || !isUnitStride(insert, first) || !outputs.isFlat(insert.getSource(), isPointwise))
    return first;
  while (first > std::max<int64_t>(range.axis, 0) && fills(insert, first) && isUnitStride(insert, first - 1))
    --first;
  // Where these axes have one element, vectors run along an axis before them.
  ArrayRef<int64_t> merged = insert.getSourceType().getShape().drop_front(first);
  return llvm::all_of(merged, [](int64_t size) { return size == 1; }) ? last : first;
}

// Elements of the slice after its axis `first`.
static int64_t elementsAfter(tensor::InsertSliceOp insert, int64_t first) {
  int64_t elements = 1;
  for (int64_t size : insert.getSourceType().getShape().drop_front(first + 1))
    elements *= size;
  return elements;
}

// Makes one axis of those of the slice from `first` on.
void InsertEmitter::mergeAxes(StatementNest &nest, tensor::InsertSliceOp insert, int64_t first) {
  int64_t elements = elementsAfter(insert, first);
  Value inner = indexConstant(elements);
  auto merged = [&](Value count) { return binary<arith::MulIOp>(count, inner); };
  nest.shape.resize(first + 1);
  nest.sizes.resize(first + 1);
  nest.sizes.back() = merged(nest.sizes.back());
  if (!ShapedType::isDynamic(nest.shape.back()))
    nest.shape.back() *= elements;
  if (nest.range.axis == first)
    nest.range = {first, merged(nest.range.lower), merged(nest.range.upper)};
  constexpr int64_t vectorsOfCopy = 4;
  nest.vectors = vectorsOfCopy;
}

// The linear position of an element in a tensor with these extents. `outer` are its indices before the merged
// axis, whose first element has index `start` along the tensor's axis; `index` is that along the merged axis.
Position InsertEmitter::mergedPosition(tensor::InsertSliceOp insert, ArrayRef<Index> outer,
                                       ArrayRef<Value> extents, Value start, const Index &index) {
  Value row = indexConstant(0);
  assert(llvm::all_of(outer, [](const Index &at) { return at.isUniform(); }) &&
         "vectors run along the last axis");
  for (auto [axis, at] : llvm::enumerate(outer))
    row = binary<arith::AddIOp>(binary<arith::MulIOp>(row, extents[axis]), at.base);
  row = binary<arith::AddIOp>(binary<arith::MulIOp>(row, extents[outer.size()]), start);
  Value first = binary<arith::MulIOp>(row, indexConstant(elementsAfter(insert, outer.size())));
  return Position{{binary<arith::AddIOp>(first, index.base), index.step, nullptr}};
}

// The axes from `first` on are one, along which vectors run; elements have linear positions.
LogicalResult InsertEmitter::emitContiguousInsert(tensor::InsertSliceOp insert, int64_t first,
                                                  const Buffer &destination, const AxisRange &range) {
  StatementNest nest = nestOfSource(insert, range);
  SmallVector<Value> sizes(nest.sizes);
  mergeAxes(nest, insert, first);
  llvm::SaveAndRestore linearPositions(flat, true);
  return nests.emitStatement(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(context);
    Value start = numberOf(insert.getMixedOffsets()[first]);
    SmallVector<Position> sources, targets;
    for (const Position &position : positions) {
      ArrayRef<Index> outer = ArrayRef(position).drop_back();
      FailureOr<Position> target = insertedPosition(insert, outer);
      if (failed(target))
        return failure();
      sources.push_back(mergedPosition(insert, outer, sizes, indexConstant(0), position.back()));
      targets.push_back(mergedPosition(insert, *target, destination.sizes, start, position.back()));
    }
    auto computed = values.evaluate(insert.getSource(), sources);
    if (failed(computed))
      return failure();
    for (auto [target, value] : llvm::zip_equal(targets, *computed))
      stores.store(destination, target, value);
    return success();
  });
}
