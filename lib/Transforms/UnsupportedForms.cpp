// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Transforms/UnsupportedForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;

static std::string findRounding(Operation *op) {
  auto rounds = dyn_cast<arith::ArithRoundingModeInterface>(op);
  auto mode = rounds ? rounds.getRoundingModeAttr() : arith::RoundingModeAttr();
  if (!mode || mode.getValue() == arith::RoundingMode::to_nearest_even)
    return "";
  return ("rounds " + arith::stringifyRoundingMode(mode.getValue()) +
          ", but all targets round to_nearest_even; leave out the mode")
      .str();
}

static bool dividesByOther(AffineExpr expr) {
  auto isPositive = [](AffineExpr divisor) {
    auto constant = dyn_cast<AffineConstantExpr>(divisor);
    return constant && constant.getValue() > 0;
  };
  WalkResult result = expr.walk([&](AffineExpr part) {
    bool divides = part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::CeilDiv ||
                   part.getKind() == AffineExprKind::Mod;
    return divides && !isPositive(cast<AffineBinaryOpExpr>(part).getRHS()) ? WalkResult::interrupt()
                                                                           : WalkResult::advance();
  });
  return result.wasInterrupted();
}

// Folds of upstream end the process for some other quotients.
static std::string findQuotient(Operation *op) {
  WalkResult result = op->getAttrDictionary().walk([](AffineMapAttr map) {
    return llvm::any_of(map.getValue().getResults(), dividesByOther) ? WalkResult::interrupt()
                                                                     : WalkResult::advance();
  });
  return result.wasInterrupted() ? "expected index maps that divide by positive constants only" : "";
}

std::string ad::findUnsupportedForm(Operation *op) {
  std::string rounding = findRounding(op);
  return rounding.empty() ? findQuotient(op) : rounding;
}
