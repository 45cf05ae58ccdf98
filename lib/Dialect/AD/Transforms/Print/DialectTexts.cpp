// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How --ad-print-graph names operations in its usual form: as programs are written.

#include "Texts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

// Attributes whose value says what it is.
static bool isPlain(StringRef name) {
  return llvm::is_contained({"name", "permutation", "predicate", "callee"}, name);
}

// What the contract adds to each operation, and what is no part of what it computes.
static bool isHidden(StringRef name) {
  return name == "allow" || name == "order" || name == "value" || name.ends_with("SegmentSizes");
}

static std::string attributeText(Attribute value) {
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return print::listOf(list);
  if (auto predicate = dyn_cast<ComparePredicateAttr>(value))
    return stringifyEnum(predicate.getValue()).str();
  if (auto form = dyn_cast<GeluFormAttr>(value))
    return stringifyEnum(form.getValue()).str();
  std::string text;
  llvm::raw_string_ostream os(text);
  value.print(os, /*elideType=*/true);
  return text;
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

static std::string axesOf(DotOp dot) {
  std::string text;
  if (!dot.getLhsBatch().empty())
    text += " batch " + print::listOf(dot.getLhsBatch()) + " x " + print::listOf(dot.getRhsBatch());
  return text + " contract " + print::listOf(dot.getLhsContract()) + " x " +
         print::listOf(dot.getRhsContract());
}

static std::string boundsOf(scf::ForOp loop) {
  auto text = [](Value index) {
    std::optional<int64_t> bound = getConstantIntValue(index);
    return bound ? std::to_string(*bound) : std::string("?");
  };
  return " " + text(loop.getLowerBound()) + " to " + text(loop.getUpperBound()) + " step " +
         text(loop.getStep());
}

static std::string detailsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([](ConstantOp constant) { return " " + print::literalOf(constant).value_or("dense"); })
      .Case([](DotOp dot) { return axesOf(dot); })
      .Case([](scf::ForOp loop) { return boundsOf(loop); })
      .Default([](Operation *other) { return attributesOf(other); });
}

std::string print::describeInDialect(Operation *op, bool inPlace) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName() << detailsOf(op) << (inPlace ? " in place" : "");
  if (op->getNumResults() > 0 && op->getNumRegions() == 0)
    os << " : " << op->getResultTypes();
  return text;
}
