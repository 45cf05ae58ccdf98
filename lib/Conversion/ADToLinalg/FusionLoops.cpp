// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "FusionLoops.h"
#include "AxisModels.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

DenseElementsAttr ad::constantTensor(Operation &op) {
  DenseElementsAttr value;
  return op.hasTrait<OpTrait::ConstantLike>() && matchPattern(&op, m_Constant(&value)) ? value : nullptr;
}

static SmallVector<Value> tensorsOf(ValueRange values) {
  return llvm::filter_to_vector(values, [](Value value) { return isa<RankedTensorType>(value.getType()); });
}

FusionLoops::FusionLoops(Block &body) {
  number(body.getArguments());
  for (Operation &op : body.without_terminator())
    number(op.getResults());
  classes.grow(axisCount);
  fixed.resize(axisCount);
  for (Operation &op : body.without_terminator())
    visit(op);
  measure();
}

void FusionLoops::number(ValueRange values) {
  for (Value value : tensorsOf(values)) {
    SmallVector<unsigned> &axes = loops[value];
    for (size_t axis = 0; axis < shapeOf(value).size(); ++axis)
      axes.push_back(axisCount++);
  }
}

// Code that depends on the indices of elements, as that of ad.iota, would number merged axes in another way,
// and slices and transpositions have other axes than their operand.
void FusionLoops::visit(Operation &op) {
  if (constantTensor(op))
    return;
  if (repeatsOperand(op))
    return visitBroadcast(op);
  auto nest = dyn_cast<FusableOpInterface>(op);
  if (nest && (isa<ElementwiseOpInterface>(op) || isProductWithAxes(op)))
    return visitNest(nest);
  fixAll(op);
}

// A number has no axes. A dynamic size may be 1 or not, unless ad-fuse knows better.
void FusionLoops::visitBroadcast(Operation &op) {
  auto type = dyn_cast<RankedTensorType>(op.getOperand(0).getType());
  if (!type)
    return;
  if (!op.hasAttr(kSameSizesAttr) && !type.hasStaticShape())
    return fixAll(op);
  ArrayRef<unsigned> from = of(op.getOperand(0)), to = of(op.getResult(0));
  for (auto [inner, outer] : llvm::zip_equal(from, to.take_back(from.size())))
    classes.join(inner, outer);
}

// The order of a sum follows from the contracted axes.
void FusionLoops::visitNest(FusableOpInterface op) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypes();
  SmallVector<std::optional<unsigned>> first(iterators.size());
  SmallVector<Value> tensors = tensorsOf(op->getOperands());
  llvm::append_range(tensors, tensorsOf(op->getResults()));
  for (auto [value, map] : llvm::zip_equal(tensors, op.getAccessMaps()))
    for (auto [axis, number] : llvm::enumerate(of(value))) {
      unsigned loop = map.getDimPosition(axis);
      classes.join(number, first[loop].value_or(number));
      first[loop] = number;
      if (iterators[loop] == utils::IteratorType::reduction)
        fixed.set(number);
    }
}

void FusionLoops::fixAll(Operation &op) {
  for (ValueRange values : {ValueRange(op.getOperands()), ValueRange(op.getResults())})
    for (Value value : tensorsOf(values))
      for (unsigned axis : of(value))
        fixed.set(axis);
}

// From numbers of axes to those of loops, each of which has one size.
void FusionLoops::measure() {
  classes.compress();
  llvm::BitVector fixedAxes(std::move(fixed));
  fixed = llvm::BitVector(classes.getNumClasses());
  sizes.assign(classes.getNumClasses(), 1);
  for (auto &[value, axes] : loops)
    for (auto [number, size] : llvm::zip_equal(axes, shapeOf(value))) {
      unsigned loop = classes[number];
      if (fixedAxes[number] || (size != 1 && sizes[loop] != 1 && sizes[loop] != size))
        fixed.set(loop);
      if (size != 1)
        sizes[loop] = size;
      number = loop;
    }
}

bool FusionLoops::canJoin(ArrayRef<unsigned> group, unsigned loop) const {
  auto isFixed = [&](unsigned one) { return fixed[one]; };
  if (isFixed(loop) || llvm::any_of(group, isFixed))
    return false;
  auto fits = [&](ArrayRef<unsigned> axes, ArrayRef<int64_t> shape, size_t at) {
    if (at < group.size() || axes.slice(at - group.size(), group.size()) != group)
      return false;
    return llvm::all_of(llvm::seq(at - group.size(), at), [&](size_t before) {
      bool isWide = sizes[axes[before]] != 1 && sizes[loop] != 1;
      return !isWide || (shape[before] == 1) == (shape[at] == 1);
    });
  };
  return llvm::all_of(loops, [&](const auto &entry) {
    ArrayRef<unsigned> axes = entry.second;
    return llvm::all_of(llvm::seq<size_t>(0, axes.size()), [&](size_t at) {
      if (axes[at] == group.back() && (at + 1 == axes.size() || axes[at + 1] != loop))
        return false;
      return axes[at] != loop || fits(axes, shapeOf(entry.first), at);
    });
  });
}

bool FusionLoops::isRepeated(Value value, ArrayRef<unsigned> space) const {
  llvm::BitVector has(count());
  for (auto [loop, size] : llvm::zip_equal(of(value), shapeOf(value)))
    if (size != 1)
      has.set(loop);
  return has.any() && llvm::any_of(space, [&](unsigned loop) { return sizes[loop] != 1 && !has[loop]; });
}
