// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Texts.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>

using namespace mlir;
using namespace mlir::ad;

std::string print::sizeText(int64_t size) { return ShapedType::isDynamic(size) ? "?" : std::to_string(size); }

std::string print::listOf(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + sizeText(size);
  return "[" + text + "]";
}

ArrayRef<int64_t> print::sizesOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); }

std::string print::shapeOf(Value tensor) { return listOf(sizesOf(tensor)); }

std::string print::countText(ArrayRef<int64_t> sizes) {
  return ShapedType::isDynamicShape(sizes) ? "?" : std::to_string(ShapedType::getNumElements(sizes));
}

// The fewest digits that give back the number, laid out as Python does: 1.0, -0.01, 1e-05.
template <typename Float> static std::string shortest(Float value) {
  char text[64];
  auto scientific = std::to_chars(text, std::end(text), value, std::chars_format::scientific);
  StringRef digits(text, scientific.ptr - text), power = digits.rsplit('e').second;
  power.consume_front("+");
  int exponent = 0;
  if (power.getAsInteger(10, exponent) || exponent < -4 || exponent >= 16)
    return digits.str(); // also inf and nan
  auto fixed = std::to_chars(text, std::end(text), value, std::chars_format::fixed);
  std::string result(text, fixed.ptr);
  return result.find('.') == std::string::npos ? result + ".0" : result;
}

static std::string numberText(Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return llvm::toString(integer.getValue(), 10, /*Signed=*/!integer.getType().isInteger(1));
  APFloat number = cast<FloatAttr>(value).getValue();
  if (&number.getSemantics() == &APFloat::IEEEdouble())
    return shortest(number.convertToDouble());
  bool lossy;
  number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
  return shortest(number.convertToFloat());
}

std::optional<std::string> print::literalOf(Operation *op) {
  DenseElementsAttr value;
  if (!op || !matchPattern(op, m_Constant(&value)) || !value.isSplat())
    return std::nullopt;
  return numberText(value.getSplatValue<Attribute>());
}

std::string print::boundText(Value index) {
  std::optional<int64_t> bound = getConstantIntValue(index);
  return bound ? std::to_string(*bound) : "?";
}
