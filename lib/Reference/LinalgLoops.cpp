// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "LinalgLoops.h"
#include "Scalars/IndexExpressions.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::ad::reference;

//===- Index expressions -----------------------------------------------===//

static bool divides(AffineExpr expr) {
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  return pair && ((expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul) ||
                  divides(pair.getLHS()) || divides(pair.getRHS()));
}

/// The smallest or largest value of a linear expression over the loops.
static int64_t boundOf(AffineExpr expr, ArrayRef<int64_t> extents, bool isUpper) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return isUpper ? extents[dim.getPosition()] - 1 : 0;
  auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!pair)
    return cast<AffineConstantExpr>(expr).getValue();
  if (expr.getKind() == AffineExprKind::Add)
    return boundOf(pair.getLHS(), extents, isUpper) + boundOf(pair.getRHS(), extents, isUpper);
  int64_t factor = cast<AffineConstantExpr>(pair.getRHS()).getValue();
  return boundOf(pair.getLHS(), extents, isUpper == (factor >= 0)) * factor;
}

int32_t mlir::ad::reference::forEachIndex(ArrayRef<int64_t> extents,
                                          llvm::function_ref<int32_t(ArrayRef<int64_t>)> callback) {
  if (product(extents) == 0)
    return ADRT_OK;
  Shape index(extents.size(), 0);
  while (true) {
    if (int32_t status = callback(index))
      return status;
    int64_t axis = static_cast<int64_t>(index.size()) - 1;
    while (axis >= 0 && ++index[axis] == extents[axis])
      index[axis--] = 0;
    if (axis < 0)
      return ADRT_OK;
  }
}

//===- Sizes of loops --------------------------------------------------===//

int32_t LinalgLoops::bindAxis(OpOperand &operand, int64_t axis, AffineExpr index) {
  auto dim = dyn_cast<AffineDimExpr>(index);
  if (!dim)
    return ADRT_OK;
  int64_t size = frame[operand.get()].getDim(axis), &extent = extents[dim.getPosition()];
  if (extent >= 0 && extent != size)
    return frame.fail(op, ADRT_FAIL_OPERAND, {operand.getOperandNumber(), axis, extent, size});
  extent = size;
  return ADRT_OK;
}

/// The first and the last value of a linear expression. Every access of the others is tested.
int32_t LinalgLoops::checkInside(OpOperand &operand, int64_t axis, AffineExpr index) {
  bool isEmpty = false;
  for (auto [loop, extent] : llvm::enumerate(extents))
    isEmpty |= extent == 0 && index.isFunctionOfDim(loop);
  if (isEmpty || divides(index) || isa<AffineDimExpr>(index))
    return ADRT_OK;
  int64_t size = frame[operand.get()].getDim(axis);
  int64_t first = boundOf(index, extents, false), last = boundOf(index, extents, true);
  if (first >= 0 && last < size)
    return ADRT_OK;
  return frame.fail(op, ADRT_FAIL_OPERAND_BOUNDS,
                    {operand.getOperandNumber(), axis, first < 0 ? first : last, size});
}

int32_t LinalgLoops::bind() {
  auto forEachAxis = [&](auto check) -> int32_t {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        for (auto [axis, index] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          if (int32_t status = (this->*check)(operand, static_cast<int64_t>(axis), index))
            return status;
    return ADRT_OK;
  };
  extents.assign(op.getNumLoops(), -1);
  if (int32_t status = forEachAxis(&LinalgLoops::bindAxis))
    return status;
  if (llvm::is_contained(extents, -1))
    return frame.refuse(op, "has a loop whose size no operand gives");
  return forEachAxis(&LinalgLoops::checkInside);
}

//===- Elements --------------------------------------------------------===//

int32_t LinalgLoops::offsetOf(OpOperand &operand, const Tensor &tensor, ArrayRef<int64_t> loops,
                              int64_t &offset) {
  offset = 0;
  for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    std::optional<int64_t> index = evaluateIndex(expr, loops);
    int64_t size = tensor.getDim(static_cast<int64_t>(axis));
    if (!index)
      return frame.refuse(op, "divides an index by a number below 1");
    if (*index < 0 || *index >= size)
      return frame.fail(op, ADRT_FAIL_OPERAND_BOUNDS,
                        {operand.getOperandNumber(), static_cast<int64_t>(axis), *index, size});
    offset = offset * size + *index;
  }
  return ADRT_OK;
}

int32_t LinalgLoops::read(OpOperand &operand, const Tensor &tensor, ArrayRef<int64_t> loops,
                          Tensor &element) {
  int64_t offset;
  if (int32_t status = offsetOf(operand, tensor, loops, offset))
    return status;
  element = gather(tensor, {}, offset, {});
  return ADRT_OK;
}

int32_t LinalgLoops::write(OpOperand &operand, Tensor &tensor, ArrayRef<int64_t> loops,
                           const Tensor &element) {
  int64_t offset;
  if (int32_t status = offsetOf(operand, tensor, loops, offset))
    return status;
  scatter(tensor, element, offset, {});
  return ADRT_OK;
}

int32_t LinalgLoops::runBody(ArrayRef<int64_t> loops, ArrayRef<Tensor> accumulators,
                             SmallVectorImpl<Tensor> &yielded) {
  SmallVector<Tensor> arguments;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Tensor &argument = arguments.emplace_back(frame[input->get()]);
    if (!isa<RankedTensorType>(input->get().getType()))
      continue;
    Tensor whole = argument;
    if (int32_t status = read(*input, whole, loops, argument))
      return status;
  }
  llvm::append_range(arguments, accumulators);
  for (auto index : op.getOps<linalg::IndexOp>())
    frame.set(index.getResult(), Tensor::index(loops[index.getDim()]));
  // An observer sees the tensors of an operation, not the scalars of each iteration.
  llvm::SaveAndRestore<Observer *> hidden(frame.run.observer, nullptr);
  return frame.runBlock(*op.getBlock(), arguments, yielded);
}
