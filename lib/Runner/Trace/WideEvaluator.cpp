// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An operation is copied into a block of its own, without what only rounds, and its types are widened.
#include "adjoint/Runner/Trace/WideEvaluator.h"
#include "../Session/CheckGradients.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "adjoint/Numerics/Casts.h"
#include "adjoint/Runner/Trace/LoopPosition.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad::runner;
using mlir::ad::numerics::ElementType;
namespace reference = mlir::ad::reference;

double mlir::ad::runner::elementAt(const reference::Tensor &tensor, int64_t element) {
  int64_t size = ad::numerics::sizeInBytes(tensor.getType());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes() + element * size, static_cast<size_t>(size));
  return ad::numerics::toDouble(tensor.getType(), bits);
}

bool mlir::ad::runner::isFloat(const reference::Tensor &tensor) {
  return ad::numerics::isFloat(tensor.getType());
}

reference::Tensor mlir::ad::runner::widen(const reference::Tensor &tensor) {
  if (!isFloat(tensor) || tensor.getType() == ElementType::F64)
    return tensor;
  reference::Tensor wide(ElementType::F64, tensor.getShape());
  for (int64_t i = 0, count = tensor.getNumElements(); i < count; ++i)
    wide.data<double>()[i] = elementAt(tensor, i);
  return wide;
}

static Type wideType(Type type) {
  if (!isa<FloatType>(getElementTypeOrSelf(type)))
    return type;
  Type f64 = Float64Type::get(type.getContext());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.clone(f64) : f64;
}

bool WideEvaluator::computes(Operation *op) {
  if (isa<ad::CastOp, ad::ConvertOp, arith::SIToFPOp, arith::UIToFPOp>(op))
    return true;
  // Integers may come from comparisons of floats. Bits are those of the written type.
  return op->getNumOperands() > 0 &&
         !isa<ad::BitcastOp, ad::FeedOp, ad::RngBitsOp, ad::RngUniformOp, ad::RngNormalOp>(op);
}

Block &WideEvaluator::wideForm(Operation *op) {
  std::unique_ptr<Block> &form = forms[op];
  if (form)
    return *form;
  form = std::make_unique<Block>();
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(form.get());
  IRMapping arguments;
  for (Value operand : op->getOperands())
    arguments.map(operand, form->addArgument(wideType(operand.getType()), op->getLoc()));
  SmallVector<Value> results = withoutRounding(builder, op, form->getArguments());
  if (results.empty())
    results = builder.clone(*op, arguments)->getResults();
  for (Operation &part : *form)
    widenToF64(&part);
  func::ReturnOp::create(builder, op->getLoc(), results);
  return *form;
}

FailureOr<SmallVector<reference::Tensor>> WideEvaluator::evaluate(Operation *op,
                                                                  ArrayRef<reference::Tensor> operands) {
  if (refused.contains(op))
    return failure();
  std::string reason;
  FailureOr<SmallVector<reference::Tensor>> results = runner.run(wideForm(op), operands, reason);
  if (mlir::failed(results)) {
    refused.insert(op);
    failures.push_back(executionText(op, {}) + ": " + reason);
  }
  return results;
}
