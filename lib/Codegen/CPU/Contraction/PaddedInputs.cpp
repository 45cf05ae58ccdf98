// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PaddedInputs.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

tensor::InsertSliceOp cpu::paddingOf(Value tensor) {
  auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>();
  auto isOne = [](OpFoldResult stride) { return isConstantIntValue(stride, 1); };
  auto isKnown = [](OpFoldResult offset) { return getConstantIntValue(offset).has_value(); };
  bool isPadding = insert && insert.getDest().getDefiningOp<linalg::FillOp>() &&
                   insert.getSourceType().hasStaticShape() && insert.getDestType().hasStaticShape() &&
                   insert.getSourceType().getRank() == insert.getDestType().getRank() &&
                   llvm::all_of(insert.getMixedStrides(), isOne) &&
                   llvm::all_of(insert.getMixedOffsets(), isKnown);
  return isPadding ? insert : tensor::InsertSliceOp();
}

static SmallVector<bool> paddedAxes(tensor::InsertSliceOp padding) {
  SmallVector<bool> padded;
  for (auto [inside, whole] :
       llvm::zip_equal(padding.getSourceType().getShape(), padding.getDestType().getShape()))
    padded.push_back(inside != whole);
  return padded;
}

static bool isReadByConvolutions(Value tensor) {
  return llvm::all_of(tensor.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    return generic && generic.isDpsInput(&use) && isConvolution(generic);
  });
}

// Whole rows of the padded tensor.
static bool isPartOfRows(tensor::ExtractSliceOp slice) {
  auto isOne = [](OpFoldResult stride) { return isConstantIntValue(stride, 1); };
  auto isKnown = [](OpFoldResult offset) { return getConstantIntValue(offset).has_value(); };
  return slice.getType().hasStaticShape() && slice.getType().getRank() == slice.getSourceType().getRank() &&
         llvm::all_of(slice.getMixedStrides(), isOne) && llvm::all_of(slice.getMixedOffsets(), isKnown) &&
         slice.getType().getShape().back() == slice.getSourceType().getShape().back();
}

void PaddedInputs::bind() {
  for (auto insert : kernel.getBody().getOps<tensor::InsertSliceOp>()) {
    tensor::InsertSliceOp padding = paddingOf(insert.getResult());
    auto found = buffers.find(insert.getSource());
    if (!padding || found == buffers.end())
      continue;
    Value number = padding.getDest().getDefiningOp<linalg::FillOp>().getInputs()[0];
    if (!matchPattern(scalars.lookupOrDefault(number), m_PosZeroFloat()) || paddedAxes(padding).back())
      continue;
    PaddedInput input{found->second, {}, {}, nullptr};
    for (OpFoldResult offset : padding.getMixedOffsets())
      input.low.push_back(*getConstantIntValue(offset));
    bindPart(insert.getResult(), input, padding.getDestType().getShape());
    for (Operation *user : insert->getUsers()) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (!slice || !isPartOfRows(slice))
        continue;
      PaddedInput part = input;
      for (auto [low, offset] : llvm::zip_equal(part.low, slice.getMixedOffsets()))
        low -= *getConstantIntValue(offset);
      bindPart(slice.getResult(), part, slice.getType().getShape());
    }
  }
}

// A padded tensor, or a part of one, whose element 0 is `low` elements before that of the tensor inside.
void PaddedInputs::bindPart(Value tensor, PaddedInput input, ArrayRef<int64_t> shape) {
  if (!isReadByConvolutions(tensor))
    return;
  for (auto [low, size, inside] : llvm::zip_equal(input.low, shape, input.inside.shape))
    input.isPaddedAlong.push_back(low > 0 || size - low > inside);
  input.zeros = zerosFor(input.inside);
  padded[tensor] = input;
}

// As many zeros as a row has elements.
Value PaddedInputs::zerosFor(const Buffer &inside) {
  Type memory = memoryType(inside.element);
  int64_t elements = llvm::alignTo(inside.shape.back(), vectorLanes);
  Value zeros = stackMemory.allocate(memory, elements);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8Type(), 0);
  Value bytes = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), elements * memoryBytes(memory));
  LLVM::MemsetOp::create(builder, loc, zeros, zero, bytes, /*isVolatile=*/false);
  return zeros;
}

const PaddedInput *PaddedInputs::find(Value tensor) const {
  auto found = padded.find(tensor);
  return found == padded.end() ? nullptr : &found->second;
}

std::pair<Position, Value> PaddedInputs::positionInside(tensor::InsertSliceOp padding,
                                                        const Position &position) {
  Position inside;
  Value isInside;
  auto spread = [&](Value value, bool asVector) { return asVector ? laneValues.splat(value, lanes) : value; };
  for (auto [axis, index] : llvm::enumerate(position)) {
    if (!paddedAxes(padding)[axis]) {
      inside.push_back(index);
      continue;
    }
    bool isVector = !index.isUniform();
    Value low = indexConstant(*getConstantIntValue(padding.getMixedOffsets()[axis]));
    Value size = indexConstant(padding.getSourceType().getDimSize(axis));
    Value whole = isVector ? laneValues.laneVector(index) : index.base;
    Value shifted = binary<arith::SubIOp>(whole, spread(low, isVector));
    Value fits =
        builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, shifted, spread(size, isVector));
    Value chosen =
        builder.createOrFold<arith::SelectOp>(loc, fits, shifted, spread(indexConstant(0), isVector));
    inside.push_back(isVector ? Index{nullptr, 0, chosen} : Index{chosen, 0, nullptr});
    if (isInside && isa<VectorType>(isInside.getType()) != isVector)
      (isVector ? isInside : fits) = laneValues.splat(isVector ? isInside : fits, lanes);
    isInside = both(isInside, fits);
  }
  return {inside, isInside};
}

Value PaddedInputs::choose(Value isInside, Value element, Value number) {
  Type written = getElementTypeOrSelf(element);
  Value chosen = movable(element), other = movable(number);
  if (isa<VectorType>(chosen.getType()) || isa<VectorType>(isInside.getType())) {
    chosen = laneValues.splat(chosen, lanes);
    other = laneValues.splat(other, lanes);
  }
  return fromMemory(arith::SelectOp::create(builder, loc, isInside, chosen, other), written);
}
