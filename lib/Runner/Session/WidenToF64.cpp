// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Replaces every float type of operations by f64. Casts between floats become casts from f64 to f64.
#include "adjoint/Runner/Session/CheckGradients.h"
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

void mlir::ad::runner::widenToF64(Operation *op) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](FloatType type) -> std::optional<Type> { return Float64Type::get(type.getContext()); });
  // Added last, since the replacer tries the last function first.
  replacer.addReplacement(widenConstant);
  replacer.recursivelyReplaceElementsIn(op, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}
