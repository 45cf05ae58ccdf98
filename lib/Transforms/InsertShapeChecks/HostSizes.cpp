// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "HostSizes.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

KernelOp ad::kernelOf(LaunchOp launch) {
  return SymbolTable::lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
}

std::optional<TensorAxis> ad::axisOfLoop(linalg::LinalgOp op, ArrayRef<OpOperand *> operands, unsigned loop) {
  AffineExpr dim = getAffineDimExpr(loop, op.getContext());
  for (OpOperand *operand : operands)
    for (auto [axis, index] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults()))
      if (index == dim)
        return TensorAxis{operand->get(), static_cast<int64_t>(axis)};
  return std::nullopt;
}

HostSizes::HostSizes(LaunchOp launch, KernelOp kernel) : builder(launch), loc(launch.getLoc()) {
  known.map(kernel.getBody().getArguments(), launch.getInputs());
}

Value HostSizes::valueOf(Value scalar) {
  if (Value value = known.lookupOrNull(scalar))
    return value;
  Operation *op = scalar.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    bool exists = axis && *axis >= 0 && *axis < cast<RankedTensorType>(dim.getSource().getType()).getRank();
    return exists ? sizeOf(dim.getSource(), *axis) : Value();
  }
  if (!op || !isPure(op) || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return {};
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType()) || !valueOf(operand))
      return {};
    known.map(operand, valueOf(operand));
  }
  return builder.clone(*op, known)->getResult(0);
}

Value HostSizes::sizeOf(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return constant(type.getDimSize(axis));
  if (Value input = known.lookupOrNull(tensor))
    return builder.createOrFold<tensor::DimOp>(loc, input, axis);
  Operation *op = tensor.getDefiningOp();
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return valueOf(empty.getDynamicSize(axis));
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return sizeOf(linalgOp.getDpsInits()[cast<OpResult>(tensor).getResultNumber()], axis);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return sizeOf(insert.getDest(), axis);
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return sizeOf(cast.getSource(), axis);
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || slice.getSourceType().getRank() != type.getRank())
    return {};
  OpFoldResult size = slice.getMixedSizes()[axis];
  std::optional<int64_t> number = getConstantIntValue(size);
  return number ? constant(*number) : valueOf(cast<Value>(size));
}

Value HostSizes::extentOf(linalg::LinalgOp op, unsigned loop) {
  auto operands = llvm::to_vector(llvm::make_pointer_range(op->getOpOperands()));
  std::optional<TensorAxis> found = axisOfLoop(op, operands, loop);
  return found ? sizeOf(found->tensor, found->axis) : Value();
}

void HostSizes::require(Operation *checked, int32_t kind, Value condition, ValueRange values) {
  if (getConstantIntValue(getAsOpFoldResult(condition)) != 1)
    RequireOp::create(builder, checked->getLoc(), kind, condition, values, writtenName(checked));
}
