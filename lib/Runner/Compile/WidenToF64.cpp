// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Replaces every float type of operations by f64. Casts between floats become casts from f64 to f64, and
// operations that are there to round are replaced by what they compute without rounding. Bits are those of
// the written type.
#include "../Session/CheckGradients.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "adjoint/Dialect/AD/IR/ScaledDot.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace {

llvm::APFloat widen(llvm::APFloat value) {
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

std::optional<std::pair<Attribute, WalkResult>> widenConstant(Attribute attribute) {
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    Type f64 = Float64Type::get(attribute.getContext());
    return std::pair<Attribute, WalkResult>(FloatAttr::get(f64, widen(number.getValue())),
                                            WalkResult::skip());
  }
  auto elements = dyn_cast<DenseFPElementsAttr>(attribute);
  if (!elements)
    return std::nullopt;
  Type f64 = Float64Type::get(attribute.getContext());
  auto wide =
      elements.mapValues(f64, [](const llvm::APFloat &value) { return widen(value).bitcastToAPInt(); });
  return std::pair<Attribute, WalkResult>(wide, WalkResult::skip());
}

} // namespace

// The scales cancel.
static SmallVector<Value> productWithoutRounding(OpBuilder &builder, ad::ScaledDotOp op, Value lhs,
                                                 Value rhs) {
  Value product = ad::DotOp::create(builder, op.getLoc(), op.getResult().getType(), lhs, rhs,
                                    op.getLhsBatch(), op.getRhsBatch(), op.getLhsContract(),
                                    op.getRhsContract(), op.getOrderAttr(), op.getAllowAttr());
  return {product, ad::largestMagnitude(builder, op.getLoc(), lhs),
          ad::largestMagnitude(builder, op.getLoc(), rhs)};
}

SmallVector<Value> mlir::ad::runner::withoutRounding(OpBuilder &builder, Operation *op, ValueRange operands) {
  if (auto product = dyn_cast<ScaledDotOp>(op))
    return productWithoutRounding(builder, product, operands[0], operands[1]);
  if (isa<CastStochasticOp>(op))
    return {operands[0]};
  return {};
}

static void replaceRounding(Operation *root) {
  SmallVector<Operation *> operations;
  root->walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : operations) {
    OpBuilder builder(op);
    SmallVector<Value> values = mlir::ad::runner::withoutRounding(builder, op, op->getOperands());
    if (values.empty())
      continue;
    op->replaceAllUsesWith(values);
    op->erase();
  }
}

namespace {
/// The types of a bitcast as they are written.
struct WrittenBits {
  ad::BitcastOp op;
  Type input, result;

  /// Gives the operation these types again, after all others are f64.
  void restore() {
    OpBuilder builder(op);
    Type wide = op.getType();
    Value rounded = ad::castTo(builder, op.getLoc(), op.getInput(), getElementTypeOrSelf(input));
    op.getInputMutable().assign(rounded);
    op.getResult().setType(cast<RankedTensorType>(result));
    builder.setInsertionPointAfter(op);
    Value made = ad::castTo(builder, op.getLoc(), op.getResult(), getElementTypeOrSelf(wide));
    if (made != op.getResult())
      op.getResult().replaceAllUsesExcept(made, made.getDefiningOp());
  }
};
} // namespace

void mlir::ad::runner::widenToF64(Operation *op) {
  replaceRounding(op);
  SmallVector<WrittenBits> bits;
  op->walk([&](ad::BitcastOp cast) { bits.push_back({cast, cast.getInput().getType(), cast.getType()}); });
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](FloatType type) -> std::optional<Type> { return Float64Type::get(type.getContext()); });
  // Added last, since the replacer tries the last function first.
  replacer.addReplacement(widenConstant);
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  for (WrittenBits &written : bits)
    written.restore();
}
