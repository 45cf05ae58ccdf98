// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations that the table has no semantics of: elementary functions, and operations of foreign
// dialects. The interface gives the function of one element.

#include "Interpreter.h"
#include "Movement.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

static uint64_t bitsAt(const Tensor &x, int64_t element) {
  uint64_t bits = 0;
  int64_t size = sizeInBytes(x.getType());
  std::memcpy(&bits, x.bytes() + element * size, size);
  return bits;
}

static void setBitsAt(Tensor &x, int64_t element, uint64_t bits) {
  int64_t size = sizeInBytes(x.getType());
  std::memcpy(x.bytes() + element * size, &bits, size);
}

static void evaluate(const ScalarEvaluator &function, ArrayRef<Tensor> operands, Tensor &result) {
  SmallVector<uint64_t> arguments(operands.size());
  for (int64_t element = 0, count = result.getNumElements(); element < count; ++element) {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      argument = bitsAt(operand, element);
    setBitsAt(result, element, function(arguments));
  }
}

/// Executes the scalar code of the operation once for each element.
static int32_t executeCode(ElementwiseOpInterface op, Frame &frame, ArrayRef<Tensor> operands,
                           Tensor &result) {
  Block code;
  OpBuilder builder = OpBuilder::atBlockBegin(&code);
  for (Value operand : op->getOperands())
    code.addArgument(getElementTypeOrSelf(operand.getType()), op.getLoc());
  Value value = op.emitScalar(builder, op.getLoc(), code.getArguments());
  func::ReturnOp::create(builder, op.getLoc(), value);
  Frame scalars(frame.run);
  for (int64_t element = 0, count = result.getNumElements(); element < count; ++element) {
    SmallVector<Tensor> arguments, yielded;
    for (const Tensor &operand : operands)
      arguments.push_back(gather(operand, {}, element, {}));
    if (int32_t status = scalars.runBlock(code, arguments, yielded))
      return status;
    scatter(result, yielded.front(), element, {});
  }
  return ADRT_OK;
}

int32_t mlir::ad::reference::runElementwise(ElementwiseOpInterface op, Frame &frame) {
  SmallVector<Tensor> operands;
  if (int32_t status = broadcastOperands(op, frame, operands))
    return status;
  std::optional<ElementType> type = elementTypeOf(op->getResult(0).getType());
  if (operands.empty() || !type)
    return frame.refuse(op, "expected operands, and elements that the reference interpreter knows");
  Tensor result(*type, operands.front().getShape());
  if (ScalarEvaluator function = op.getScalarEvaluator())
    evaluate(function, operands, result);
  else if (int32_t status = executeCode(op, frame, operands, result))
    return status;
  return frame.set(op->getResult(0), result);
}
