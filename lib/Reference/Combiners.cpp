// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Combiners.h"
#include "Scalars/ScalarValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::reference;

TypedAttr mlir::ad::reference::neutralOf(Operation *combiner) {
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

Tensor mlir::ad::reference::scalarOf(TypedAttr value) {
  auto number = dyn_cast<FloatAttr>(value);
  APInt bits = number ? number.getValue().bitcastToAPInt() : cast<IntegerAttr>(value).getValue();
  return withBits(*elementTypeOf(value.getType()), bits.getZExtValue());
}

OrderAttr mlir::ad::reference::orderOfKernel(linalg::GenericOp op) {
  if (auto kernel = op->getParentOfType<KernelOp>())
    return kernel.getOrderAttr();
  auto fusion = op->getParentOfType<FusionOp>();
  return fusion ? fusion.getOrderAttr() : OrderAttr();
}

JoinCode::JoinCode(Operation *combiner, Frame &frame) : frame(frame) {
  Type type = combiner->getResult(0).getType();
  Location loc = combiner->getLoc();
  OpBuilder builder(combiner->getContext());
  builder.setInsertionPointToEnd(&code);
  code.addArguments({type, type}, {loc, loc});
  StringRef name =
      isa<math::FmaOp>(combiner) ? arith::AddFOp::getOperationName() : combiner->getName().getStringRef();
  OperationState state(loc, name, code.getArguments(), type);
  func::ReturnOp::create(builder, loc, builder.create(state)->getResults());
}

Tensor JoinCode::join(const Tensor &left, const Tensor &right, int32_t &status) {
  SmallVector<Tensor> result;
  if (!status)
    status = frame.runBlock(code, {left, right}, result);
  return status ? left : result.front();
}
