// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions of linalg.generic whose partial results can be joined. The order of the kernel says which
// partial results there are, and docs/numerics.md what they start from.

#include "Accumulation.h"
#include "LinalgLoops.h"
#include "Scalars/ScalarValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

//===- Combiners -------------------------------------------------------===//

/// The value that the combiner keeps; null for an operation that joins nothing.
static TypedAttr neutralOf(Operation *combiner) {
  Builder builder(combiner->getContext());
  Type type = combiner->getResult(0).getType();
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = number.getFloatSemantics();
    return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
        .Case<arith::AddFOp, math::FmaOp>(
            [&](Operation *) { return FloatAttr::get(type, APFloat::getZero(semantics, /*Negative=*/true)); })
        .Case([&](arith::MulFOp) { return FloatAttr::get(type, 1.0); })
        .Case([&](arith::MaximumFOp) { return FloatAttr::get(type, APFloat::getInf(semantics, true)); })
        .Case([&](arith::MinimumFOp) { return FloatAttr::get(type, APFloat::getInf(semantics, false)); })
        .Default([](Operation *) { return TypedAttr(); });
  }
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : IndexType::kInternalStorageBitWidth;
  auto bits = [&](const APInt &value) -> TypedAttr { return builder.getIntegerAttr(type, value); };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return bits(APInt::getZero(width)); })
      .Case([&](arith::MulIOp) { return bits(APInt(width, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](Operation *) { return bits(APInt::getAllOnes(width)); })
      .Case([&](arith::MaxSIOp) { return bits(APInt::getSignedMinValue(width)); })
      .Case([&](arith::MinSIOp) { return bits(APInt::getSignedMaxValue(width)); })
      .Default([](Operation *) { return TypedAttr(); });
}

static Operation *combinerOf(linalg::GenericOp op) {
  return op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
}

bool mlir::ad::reference::joinsPartialResults(linalg::GenericOp op) {
  if (op.getNumResults() != 1)
    return false;
  BlockArgument accumulator = op.getRegionOutputArgs().front();
  Operation *combiner = combinerOf(op);
  if (!combiner || combiner->getBlock() != op.getBlock() || !accumulator.hasOneUse() ||
      *accumulator.user_begin() != combiner || !neutralOf(combiner))
    return false;
  auto fused = dyn_cast<math::FmaOp>(combiner);
  return !fused || fused.getC() == accumulator;
}

static Tensor scalarOf(TypedAttr value) {
  auto number = dyn_cast<FloatAttr>(value);
  APInt bits = number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(value).getValue();
  return withBits(*elementTypeOf(value.getType()), bits.getZExtValue());
}

/// Whether the outs are a fill with the neutral element. A sum may also start from +0.
static bool startsFromNeutral(linalg::GenericOp op, TypedAttr neutral) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  TypedAttr start;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)))
    return false;
  auto number = dyn_cast<FloatAttr>(start);
  return start == neutral ||
         (number && number.getValue().isZero() && isa<arith::AddFOp, math::FmaOp>(combinerOf(op)));
}

static OrderAttr orderOfKernel(linalg::GenericOp op) {
  if (auto kernel = op->getParentOfType<KernelOp>())
    return kernel.getOrderAttr();
  auto fusion = op->getParentOfType<FusionOp>();
  return fusion ? fusion.getOrderAttr() : OrderAttr();
}

//===- One element of the result ---------------------------------------===//

namespace {
class JoinedReduction {
public:
  JoinedReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops)
      : op(op), frame(frame), loops(loops) {
    neutral = neutralOf(combinerOf(op));
    isOwnStart = startsFromNeutral(op, neutral);
    order = orderOfKernel(op);
    op.getReductionDims(reduced);
    for (unsigned loop : reduced)
      reducedExtents.push_back(loops.getExtents()[loop]);
    makeJoin();
  }

  int32_t reduceAt(ArrayRef<int64_t> first, const Tensor &outs, Tensor &total) {
    status = ADRT_OK;
    index.assign(first.begin(), first.end());
    Tensor start = isOwnStart ? outs : scalarOf(neutral);
    auto add = [&](const Tensor &sum, int64_t element) { return step(sum, element); };
    auto join = [&](const Tensor &left, const Tensor &right) { return joined(left, right); };
    int64_t count = product(reducedExtents);
    total = start;
    if (order)
      total = accumulate(order, count, start, add, join);
    else
      for (int64_t element = 0; element < count; ++element)
        total = add(total, element);
    if (!isOwnStart)
      total = joined(outs, total);
    return status;
  }

private:
  /// The combiner alone, or an addition for FMAs.
  void makeJoin() {
    Operation *combiner = combinerOf(op);
    Type type = combiner->getResult(0).getType();
    OpBuilder builder(op.getContext());
    builder.setInsertionPointToEnd(&joinCode);
    joinCode.addArguments({type, type}, {op.getLoc(), op.getLoc()});
    StringRef name =
        isa<math::FmaOp>(combiner) ? arith::AddFOp::getOperationName() : combiner->getName().getStringRef();
    OperationState state(op.getLoc(), name, joinCode.getArguments(), type);
    func::ReturnOp::create(builder, op.getLoc(), builder.create(state)->getResults());
  }

  Tensor joined(const Tensor &left, const Tensor &right) {
    SmallVector<Tensor> result;
    if (!status)
      status = frame.runBlock(joinCode, {left, right}, result);
    return status ? left : result.front();
  }

  /// Adds the element with this number; the last reduced loop is the fastest.
  Tensor step(const Tensor &sum, int64_t element) {
    for (auto [loop, extent] : llvm::reverse(llvm::zip_equal(reduced, reducedExtents))) {
      index[loop] = element % extent;
      element /= extent;
    }
    SmallVector<Tensor> result;
    if (!status)
      status = loops.runBody(index, sum, result);
    return status ? sum : result.front();
  }

  linalg::GenericOp op;
  Frame &frame;
  LinalgLoops &loops;
  TypedAttr neutral;
  bool isOwnStart;
  OrderAttr order; // null for one chain
  SmallVector<unsigned> reduced;
  Shape reducedExtents, index;
  Block joinCode;
  int32_t status = ADRT_OK;
};
} // namespace

int32_t mlir::ad::reference::runJoinedReduction(linalg::GenericOp op, Frame &frame, LinalgLoops &loops,
                                                Tensor &result) {
  JoinedReduction reduction(op, frame, loops);
  OpOperand &init = *op.getDpsInitOperand(0);
  Shape parallel(loops.getExtents());
  for (auto [extent, kind] : llvm::zip_equal(parallel, op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      extent = 1;
  return forEachIndex(parallel, [&](ArrayRef<int64_t> index) -> int32_t {
    Tensor outs, total;
    if (int32_t status = loops.read(init, result, index, outs))
      return status;
    if (int32_t status = reduction.reduceAt(index, outs, total))
      return status;
    return loops.write(init, result, index, total);
  });
}
