// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowMatch.h"
#include "../../Kernel/KernelTypes.h"
#include "adjoint/Codegen/Kernel/RowShape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;
using namespace mlir::ad::device;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

namespace {
/// Walks from results to arguments with the axes along which positions vary, as bits.
class SumSearch {
public:
  /// Whether something is summed anew at each of these positions.
  bool sumsAt(Value tensor, uint64_t varying);

private:
  std::set<std::pair<const void *, uint64_t>> visited;
};
} // namespace

bool SumSearch::sumsAt(Value tensor, uint64_t varying) {
  if (!visited.insert({tensor.getAsOpaquePointer(), varying}).second)
    return false;
  Operation *op = tensor.getDefiningOp();
  if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::CastOp>(op))
    return sumsAt(op->getOperand(0), varying);
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic)
    return false;
  if (generic.getNumReductionLoops() > 0 && varying)
    return true;
  SmallVector<unsigned> loops;
  generic.getReductionDims(loops);
  AffineMap out =
      generic.getMatchingIndexingMap(generic.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber()));
  for (auto [axis, expr] : llvm::enumerate(out.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && (varying >> axis & 1))
      loops.push_back(dim.getPosition());
  // Computed indices may be any.
  if (llvm::any_of(extractedTensors(generic), [&](Value read) {
        uint64_t everyAxis = llvm::maskTrailingOnes<uint64_t>(shapeOf(read).size());
        return sumsAt(read, loops.empty() ? 0 : everyAxis);
      }))
    return true;
  return llvm::any_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
    uint64_t inner = 0;
    ArrayRef<AffineExpr> indices = generic.getMatchingIndexingMap(input).getResults();
    for (size_t axis = 0; axis < indices.size(); ++axis)
      if (llvm::any_of(loops, [&](unsigned loop) { return indices[axis].isFunctionOfDim(loop); }))
        inner |= uint64_t(1) << axis;
    return isa<RankedTensorType>(input->get().getType()) && sumsAt(input->get(), inner);
  });
}

static std::string whyNotRows(KernelOp kernel, Rows &rows) {
  bool found = false;
  for (Operation &op : kernel.getBody().front()) {
    if (isa<tensor::InsertSliceOp>(op))
      return "it inserts slices";
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      continue;
    if (generic.getNumReductionLoops() != 1 || generic.getNumResults() != 1)
      return "it reduces several axes or to several results at once";
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    int64_t length = generic.getStaticLoopRanges()[reduced.front()];
    if (std::exchange(found, true) && length != rows.length)
      return "its sums have different lengths";
    rows.length = length;
  }
  OrderAttr order = kernel.getOrderAttr();
  return !found || !order || !order.hasLanes() ? "it sums nothing over lanes" : "";
}

// The result whose shape is the iteration space: every other one has its shape or one element per row of it.
static std::optional<unsigned> spaceOf(ValueRange outputs) {
  for (unsigned number = 0; number < outputs.size(); ++number) {
    ArrayRef<int64_t> space = shapeOf(outputs[number]);
    if (llvm::all_of(outputs, [&](Value output) {
          return shapeOf(output) == space || isRowShape(shapeOf(output), space);
        }))
      return number;
  }
  return std::nullopt;
}

std::optional<Rows> device::matchRows(KernelOp kernel, std::string &reason) {
  Rows rows{0, false, false};
  reason = whyNotRows(kernel, rows);
  if (!reason.empty())
    return std::nullopt;
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  std::optional<unsigned> number = spaceOf(outputs);
  if (!number) {
    reason = "its results are of several shapes";
    return std::nullopt;
  }
  rows.space = *number;
  ArrayRef<int64_t> space = shapeOf(outputs[*number]);
  SumSearch once, along;
  bool isOneShape = llvm::all_of(outputs, [&](Value output) { return shapeOf(output) == space; });
  bool sumsTwice = llvm::any_of(outputs, [&](Value output) { return once.sumsAt(output, 0); });
  bool sumsElements =
      space.empty() || llvm::any_of(outputs, [&](Value output) {
        return shapeOf(output) == space && along.sumsAt(output, uint64_t(1) << (space.size() - 1));
      });
  rows.ofElements = sumsElements && isOneShape;
  rows.sumsAlong = sumsElements && !isOneShape;
  if (sumsTwice)
    reason = "it sums along a row what is a sum itself";
  else if (!sumsElements && space.back() != rows.length)
    reason = "its rows are not what it sums";
  return reason.empty() ? std::optional<Rows>(rows) : std::nullopt;
}

// Up to this number, each row of dynamic length has a thread block.
static constexpr int64_t kMaxBlockRows = 128;

bool device::usesBlockPerRow(KernelOp kernel, const Rows &rows) {
  if (!ShapedType::isDynamic(rows.length))
    return rows.length > kernel.getOrderAttr().getPartLength();
  ArrayRef<int64_t> space = shapeOf(kernel.getBody().front().getTerminator()->getOperand(rows.space));
  ArrayRef<int64_t> counted = space.drop_back(rows.ofElements ? 0 : 1);
  return !ShapedType::isDynamicShape(counted) && ShapedType::getNumElements(counted) <= kMaxBlockRows;
}
