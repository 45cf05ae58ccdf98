// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ReductionLoops.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// Longer rows hide the latency of their tree by themselves.
static constexpr int64_t kShortRow = 256;
bool ReductionLoops::usesLanes(linalg::GenericOp generic) {
  OrderAttr order = kernel.getOrderAttr();
  return order && order.hasLanes() && generic.getNumResults() == 1 && generic.getNumReductionLoops() > 0;
}

static SmallVector<unsigned> reductionDims(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  return dims;
}

void ReductionLoops::setIndex(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, const Index &linear) {
  setIndices(generic, loops, reductionDims(generic), linear);
}

Value ReductionLoops::lengthOfRuns(linalg::GenericOp generic) {
  SmallVector<unsigned> dims = reductionDims(generic);
  return dims.size() > 1 ? sizeOf(generic, dims.back()) : Value();
}

void ReductionLoops::setIndexInRun(linalg::GenericOp generic, SmallVectorImpl<Index> &loops, Value run,
                                   Value element) {
  SmallVector<unsigned> dims = reductionDims(generic);
  loops[dims.pop_back_val()] = {element, 0, nullptr};
  setIndices(generic, loops, dims, {run, 0, nullptr});
}

void ReductionLoops::setIndices(linalg::GenericOp generic, SmallVectorImpl<Index> &loops,
                                ArrayRef<unsigned> dims, const Index &linear) {
  if (dims.size() == 1) {
    loops[dims.front()] = linear;
    return;
  }
  bool isVector = linear.lanes || (linear.step != 0 && lanes > 1);
  Value rest = isVector ? laneValues.laneVector(linear) : linear.base;
  for (auto [i, dim] : llvm::enumerate(llvm::reverse(dims))) {
    Value index = rest;
    if (i + 1 < dims.size()) {
      Value size = sizeOf(generic, dim);
      if (isVector)
        size = laneValues.splat(size, lanes);
      index = binary<arith::RemUIOp>(rest, size);
      rest = binary<arith::DivUIOp>(rest, size);
    }
    loops[dim] = isVector ? Index{nullptr, 0, index} : Index{index, 0, nullptr};
  }
}

// The extent of one loop, from an operand that it indexes directly.
Value ReductionLoops::sizeOf(linalg::GenericOp generic, unsigned dim) {
  for (OpOperand &operand : generic->getOpOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto d = dyn_cast<AffineDimExpr>(expr); d && d.getPosition() == dim)
        return arguments.sizeOf(operand.get(), axis);
  }
  return nullptr;
}

Value ReductionLoops::total(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  Value total = indexConstant(1);
  for (unsigned dim : dims)
    total = binary<arith::MulIOp>(total, sizeOf(generic, dim));
  return total;
}

// How many elements each sum has, null where the program does not say.
std::optional<int64_t> ReductionLoops::elementsOfShortRow(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  int64_t size = 1;
  for (unsigned dim : dims) {
    if (ShapedType::isDynamic(ranges[dim]) || ranges[dim] > kShortRow)
      return std::nullopt;
    size *= ranges[dim];
  }
  return size;
}

bool ReductionLoops::vectorizesRows(linalg::GenericOp generic) {
  if (vectorLanes == 1 || !usesLanes(generic))
    return false;
  std::optional<int64_t> size = elementsOfShortRow(generic);
  return size && *size > 0 && *size <= std::min(kShortRow, kernel.getOrderAttr().getPartLength());
}
