// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise operations on constants, by their scalar functions, so that folding gives the bits that the
// compiled program would.

#include "Elementwise.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

/// Larger results stay operations: constants cost memory, and time in every pass.
static constexpr int64_t kMaxFoldedElements = 4096;

// The bits of all elements, of one for a splat.
static SmallVector<uint64_t> bitsOf(DenseElementsAttr attr) {
  SmallVector<uint64_t> bits;
  if (attr.isSplat()) {
    if (isa<FloatType>(attr.getElementType()))
      bits.push_back(attr.getSplatValue<APFloat>().bitcastToAPInt().getZExtValue());
    else
      bits.push_back(attr.getSplatValue<APInt>().getZExtValue());
  } else if (isa<FloatType>(attr.getElementType())) {
    for (const APFloat &value : attr.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt().getZExtValue());
  } else {
    for (const APInt &value : attr.getValues<APInt>())
      bits.push_back(value.getZExtValue());
  }
  return bits;
}

static DenseElementsAttr fromBits(RankedTensorType type, ArrayRef<uint64_t> bits) {
  Type element = type.getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  auto integers = llvm::map_to_vector(
      bits, [&](uint64_t b) { return APInt(width, b, /*isSigned=*/false, /*implicitTrunc=*/true); });
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType)
    return DenseElementsAttr::get(type, integers);
  return DenseElementsAttr::get(type, llvm::map_to_vector(integers, [&](const APInt &value) {
                                  return APFloat(floatType.getFloatSemantics(), value);
                                }));
}

// For each element of the result, the linear index of the operand's element: broadcast dimensions have stride
// 0.
static SmallVector<int64_t> broadcastIndices(RankedTensorType from, RankedTensorType to) {
  SmallVector<int64_t> strides(to.getRank(), 0);
  int64_t stride = 1, lead = to.getRank() - from.getRank();
  for (int64_t dimension = from.getRank() - 1; dimension >= 0; --dimension) {
    int64_t size = from.getDimSize(dimension);
    strides[lead + dimension] = size == 1 ? 0 : stride;
    stride *= size;
  }
  SmallVector<int64_t> indices(to.getNumElements()), position(to.getRank(), 0);
  for (int64_t &index : indices) {
    index = 0;
    for (auto [own, step] : llvm::zip_equal(position, strides))
      index += own * step;
    for (int64_t dimension = to.getRank() - 1; dimension >= 0; --dimension) {
      if (++position[dimension] < to.getDimSize(dimension))
        break;
      position[dimension] = 0;
    }
  }
  return indices;
}

DenseElementsAttr ad::evaluateElementwise(Operation *op, ArrayRef<Attribute> operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return nullptr;
  bool splat = true;
  SmallVector<SmallVector<uint64_t>> bits;
  for (Attribute operand : operands) {
    auto dense = dyn_cast_or_null<DenseElementsAttr>(operand);
    if (!dense || (!dense.isSplat() && type.getNumElements() > kMaxFoldedElements))
      return nullptr;
    splat &= dense.isSplat();
    bits.push_back(bitsOf(dense));
  }
  ScalarEvaluator function = cast<ElementwiseOpInterface>(op).getScalarEvaluator();
  if (!function)
    return nullptr;

  SmallVector<SmallVector<int64_t>> indices;
  int64_t count = splat ? 1 : type.getNumElements();
  for (auto [operand, values] : llvm::zip_equal(op->getOperands(), bits))
    indices.push_back(values.size() == 1 ? SmallVector<int64_t>(count, 0)
                                         : broadcastIndices(cast<RankedTensorType>(operand.getType()), type));
  SmallVector<uint64_t> results(count), arguments(operands.size());
  for (int64_t element = 0; element < count; ++element) {
    for (size_t i = 0; i < arguments.size(); ++i)
      arguments[i] = bits[i][indices[i][element]];
    results[element] = function(arguments);
  }
  return fromBits(type, results);
}
