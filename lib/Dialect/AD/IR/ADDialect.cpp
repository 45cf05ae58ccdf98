// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `ad` dialect: registration, constants, and the checks of its attributes on functions and modules.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::ad;

#include "adjoint/Dialect/AD/IR/ADDialect.cpp.inc"

namespace {
/// Functions are inlined before anything else happens to them, so every operation may move with its function.
struct ADInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void ADDialect::initialize() {
  registerAttributes();
  registerElementwiseOps();
  registerCreationOps();
  registerShapeOps();
  registerContractionOps();
  registerReductionOps();
  registerNNOps();
  registerControlOps();
  registerDifferentiationOps();
  registerKernelOps();
  addInterfaces<ADInlinerInterface>();
}

Operation *ADDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (elements && isa<RankedTensorType>(type) && elements.getShapedType() == type)
    return ConstantOp::create(builder, loc, elements);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

LogicalResult ad::verifyKnownAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    if (attribute.getName().getValue().contains('.'))
      continue;
    auto error = op->emitOpError("has no attribute '") << attribute.getName().getValue() << "'";
    SmallVector<StringRef> known;
    for (StringAttr name : op->getName().getAttributeNames())
      if (!name.getValue().ends_with("SegmentSizes"))
        known.push_back(name);
    if (known.empty())
      return error << "; it takes none without a dialect's prefix";
    error << ", expected one of ";
    llvm::interleaveComma(known, error);
    return error;
  }
  return success();
}

LogicalResult ADDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kNumericsAttr || name == kAdjointNumericsAttr) {
    if (!isa<NumericsAttr>(attribute.getValue()))
      return op->emitOpError("expected '")
             << name << "' to be #ad.numerics, but got " << attribute.getValue();
    if (!isa<ModuleOp, FunctionOpInterface>(op))
      return op->emitOpError("expected '") << name << "' on a function or module only";
    return success();
  }
  if (name == kNameAttr || name == kDonatedAttr || name == kParameterAttr)
    return op->emitOpError("expected '") << name << "' on an argument or result of a function only";
  return success();
}

// A name is a non-empty string that no value before it in the same list has.
static LogicalResult verifyName(Operation *op, Attribute value, unsigned index, StringRef kind,
                                function_ref<Attribute(unsigned)> nameOf) {
  auto name = dyn_cast<StringAttr>(value);
  if (!name || name.empty())
    return op->emitOpError("expected '") << ADDialect::kNameAttr << "' of " << kind << " " << index
                                         << " to be a string that is not empty, but got " << value;
  for (unsigned other = 0; other < index; ++other)
    if (nameOf(other) == value)
      return op->emitOpError("expected distinct names, but ")
             << kind << "s " << other << " and " << index << " are both named " << value;
  return success();
}

static LogicalResult verifyDonated(FunctionOpInterface function, unsigned argument, Attribute value) {
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || !integer.getType().isInteger(64))
    return function->emitOpError("expected '")
           << ADDialect::kDonatedAttr << "' of argument " << argument << " to be an i64, but got " << value;
  int64_t result = integer.getInt(), count = function.getNumResults();
  if (result < 0 || result >= count)
    return function->emitOpError("expected '")
           << ADDialect::kDonatedAttr << "' of argument " << argument << " to name one of " << count
           << " results, but got " << result;
  Type from = function.getArgumentTypes()[argument], to = function.getResultTypes()[result];
  if (from != to)
    return function->emitOpError("expected donated argument ")
           << argument << " and result " << result << " to have the same type, but got " << from << " and "
           << to;
  for (unsigned other = 0; other < argument; ++other)
    if (function.getArgAttr(other, ADDialect::kDonatedAttr) == value)
      return function->emitOpError("expected result ")
             << result << " to take one buffer, but arguments " << other << " and " << argument
             << " are both donated to it";
  return success();
}

LogicalResult ADDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                  NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  StringRef name = attribute.getName();
  if (!function)
    return op->emitOpError("expected '") << name << "' on an argument of a function only";
  if (name == kNameAttr)
    return verifyName(op, attribute.getValue(), index, "argument",
                      [&](unsigned other) { return function.getArgAttr(other, kNameAttr); });
  if (name == kDonatedAttr)
    return verifyDonated(function, index, attribute.getValue());
  if (name == kParameterAttr) {
    if (isa<UnitAttr>(attribute.getValue()))
      return success();
    return op->emitOpError("expected '") << name << "' without a value, but got " << attribute.getValue();
  }
  return op->emitOpError("expected ad.name, ad.donated or ad.parameter on argument ")
         << index << ", but got '" << name << "'";
}

LogicalResult ADDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == kNameAttr)
    return verifyName(op, attribute.getValue(), index, "result",
                      [&](unsigned other) { return function.getResultAttr(other, kNameAttr); });
  return op->emitOpError("expected ad.name on result ")
         << index << ", but got '" << attribute.getName().getValue() << "'";
}
