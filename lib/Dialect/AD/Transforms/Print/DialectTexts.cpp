// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How --ad-print-graph names operations in its usual form: as programs are written.

#include "OperationTexts.h"
#include "Texts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

// Attributes that are printed without their name.
static bool isPlain(StringRef name) {
  return llvm::is_contained({"name", "permutation", "predicate", "callee"}, name);
}

// Attributes of the numerics contract, the value of a constant, and the sizes of groups of operands.
static bool isHidden(StringRef name) {
  return name == "allow" || name == "order" || name == "value" || name.ends_with("SegmentSizes");
}

static std::string attributeText(Attribute value) {
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return print::listOf(list);
  std::string text;
  llvm::raw_string_ostream os(text);
  value.print(os, /*elideType=*/true);
  // Of an enumeration, `#ad<predicate lt>`, the case alone.
  StringRef inner = text;
  return inner.consume_front("#ad<") && inner.consume_back(">") ? inner.split(' ').second.str() : text;
}

static std::string attributesOf(Operation *op) {
  std::string text;
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName();
    if (isHidden(name) || name.contains('.'))
      continue;
    text += isPlain(name) ? "" : " " + name.str();
    if (!isa<UnitAttr>(attribute.getValue()))
      text += " " + attributeText(attribute.getValue());
  }
  return text;
}

static std::string boundsOf(scf::ForOp loop) {
  return (loop.getUnsignedCmp() ? " unsigned " : " ") + print::boundText(loop.getLowerBound()) + " to " +
         print::boundText(loop.getUpperBound()) + " step " + print::boundText(loop.getStep());
}

static std::string detailsOf(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return " " + print::literalOf(op).value_or("dense");
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return boundsOf(loop);
  std::optional<std::string> axes = print::axesOf(op);
  return axes ? *axes : attributesOf(op);
}

std::string print::describeInDialect(Operation *op, bool inPlace) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName() << detailsOf(op) << (inPlace ? " in place" : "");
  if (op->getNumResults() > 0 && op->getNumRegions() == 0)
    os << " : " << op->getResultTypes();
  return text;
}
