// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loads and stores of the kernel emitter: scalar, contiguous, strided or gathered, with and without a mask.

#include "MemoryAccess.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

Value MemoryAccess::fullMask() {
  if (mask)
    return mask;
  auto type = VectorType::get(lanes, builder.getI1Type());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getBoolAttr(true)));
}

// An index as the sum of a constant and a value, which is null if the index is a constant.
static std::pair<Value, int64_t> splitConstant(Value index) {
  APInt constant;
  int64_t sum = 0;
  for (auto add = index.getDefiningOp<arith::AddIOp>();
       add && matchPattern(add.getRhs(), m_ConstantInt(&constant));
       add = index.getDefiningOp<arith::AddIOp>()) {
    sum = wrappingSum(sum, constant.getSExtValue());
    index = add.getLhs();
  }
  if (matchPattern(index, m_ConstantInt(&constant)))
    return {nullptr, wrappingSum(sum, constant.getSExtValue())};
  return {index, sum};
}

// Horner's scheme over the axes. The constants of all indices are added last: the rows and vectors of a tile
// have one address, and constant distances from it. The lane part stays a constant `step` as long as the
// sizes after it are static; otherwise `vector` holds the whole index.
Value MemoryAccess::linearIndex(const Buffer &buffer, const Position &position, int64_t &step,
                                Value &vector) {
  if (flat) {
    step = position.front().step;
    vector = position.front().lanes;
    return position.front().base;
  }
  LinearSum sum{indexConstant(0), nullptr};
  for (auto [axis, index] : llvm::enumerate(position)) {
    if (buffer.rowShape()[axis] != 1)
      multiplyBySize(sum, buffer, axis);
    addIndex(sum, index);
  }
  Value base = binary<arith::AddIOp>(sum.base, indexConstant(sum.offset));
  step = sum.step;
  vector = sum.vector
               ? arith::AddIOp::create(builder, loc, sum.vector, laneValues.splat(base, lanes)).getResult()
               : Value();
  return base;
}

void MemoryAccess::multiplyBySize(LinearSum &sum, const Buffer &buffer, int64_t axis) {
  int64_t size = buffer.rowShape()[axis];
  Value sizeValue = ShapedType::isDynamic(size) ? buffer.rowSizes()[axis] : indexConstant(size);
  if (ShapedType::isDynamic(size))
    sum.base = binary<arith::AddIOp>(sum.base, indexConstant(std::exchange(sum.offset, 0)));
  sum.offset = wrappingProduct(sum.offset, size);
  sum.base = binary<arith::MulIOp>(sum.base, sizeValue);
  if (sum.vector) {
    sum.vector = arith::MulIOp::create(builder, loc, sum.vector, laneValues.splat(sizeValue, lanes));
  } else if (sum.step != 0 && ShapedType::isDynamic(size)) {
    Value stride = binary<arith::MulIOp>(indexConstant(sum.step), sizeValue);
    sum.vector =
        arith::MulIOp::create(builder, loc, laneValues.laneNumbers(), laneValues.splat(stride, lanes));
    sum.step = 0;
  } else {
    sum.step = wrappingProduct(sum.step, size);
  }
}

void MemoryAccess::addIndex(LinearSum &sum, const Index &index) {
  if (index.lanes || (sum.vector && index.step != 0)) {
    Value whole = laneValues.laneVector(index);
    if (!sum.vector && sum.step != 0)
      sum.vector = arith::MulIOp::create(builder, loc, laneValues.laneNumbers(),
                                         laneValues.splat(indexConstant(sum.step), lanes));
    sum.vector = sum.vector ? arith::AddIOp::create(builder, loc, sum.vector, whole) : whole;
    sum.step = 0;
    return;
  }
  auto [rest, constant] = splitConstant(index.base);
  if (rest)
    sum.base = binary<arith::AddIOp>(sum.base, rest);
  sum.offset = wrappingSum(sum.offset, constant);
  sum.step = wrappingSum(sum.step, index.step);
}

Value MemoryAccess::pointerAt(const Buffer &buffer, Value index) {
  Type pointer = buffer.pointer.getType(), memory = memoryType(buffer.element), wide = builder.getI64Type();
  auto at = [&](Type result, Type indexType, Value index) {
    Value cast = arith::IndexCastOp::create(builder, loc, indexType, index);
    return LLVM::GEPOp::create(builder, loc, result, memory, buffer.pointer, ValueRange{cast});
  };
  if (auto vectorType = dyn_cast<VectorType>(index.getType())) {
    Type pointers = LLVM::getVectorType(pointer, vectorType.getNumElements());
    return at(pointers, VectorType::get(vectorType.getShape(), wide), index);
  }
  auto [rest, constant] = splitConstant(index);
  if (!llvm::isInt<LLVM::kGEPConstantBitWidth>(constant))
    return at(pointer, wide, index);
  Value address = rest ? at(pointer, wide, rest) : buffer.pointer;
  if (constant == 0)
    return address;
  return LLVM::GEPOp::create(builder, loc, pointer, memory, address,
                             ArrayRef<LLVM::GEPArg>{int32_t(constant)});
}

Value MemoryAccess::load(const Buffer &buffer, const Position &position) {
  int64_t step;
  Value indices;
  Value base = linearIndex(buffer, position, step, indices);
  Type memory = memoryType(buffer.element);
  int64_t alignment = memoryBytes(memory);
  if (!indices && (step == 0 || lanes == 1)) {
    Value value = LLVM::LoadOp::create(builder, loc, memory, pointerAt(buffer, base), alignment);
    return fromMemory(value, buffer.element);
  }
  auto type = VectorType::get(lanes, memory);
  if (!indices && step == 1) {
    Value pointer = pointerAt(buffer, base);
    if (!mask)
      return fromMemory(LLVM::LoadOp::create(builder, loc, type, pointer, alignment), buffer.element);
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    Value value = LLVM::MaskedLoadOp::create(builder, loc, type, pointer, mask, zero,
                                             builder.getI32IntegerAttr(alignment));
    return fromMemory(value, buffer.element);
  }
  if (!indices && step == -1)
    return loadReversed(buffer, base);
  // The step of a slice may be the least number, which has no magnitude.
  if (!indices && !mask && step >= -longestShuffledStride && step <= longestShuffledStride)
    return loadStrided(buffer, base, step);
  if (!indices)
    indices = laneValues.laneVector({base, step, nullptr});
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value value = LLVM::masked_gather::create(builder, loc, type, pointerAt(buffer, indices), fullMask(), zero,
                                            builder.getI32IntegerAttr(alignment));
  return fromMemory(value, buffer.element);
}

void MemoryAccess::store(const Buffer &buffer, const Position &position, Value value) {
  int64_t step;
  Value indices;
  Value base = linearIndex(buffer, position, step, indices);
  value = toMemory(value);
  int64_t alignment = memoryBytes(buffer.element);
  if (!indices && lanes == 1) {
    LLVM::StoreOp::create(builder, loc, value, pointerAt(buffer, base), alignment);
    return;
  }
  value = laneValues.splat(value, lanes);
  if (!indices && step == 1) {
    Value pointer = pointerAt(buffer, base);
    if (mask)
      LLVM::MaskedStoreOp::create(builder, loc, value, pointer, mask, builder.getI32IntegerAttr(alignment));
    else
      LLVM::StoreOp::create(builder, loc, value, pointer, alignment);
    return;
  }
  if (!indices)
    indices = laneValues.laneVector({base, step, nullptr});
  LLVM::masked_scatter::create(builder, loc, value, pointerAt(buffer, indices), fullMask(),
                               builder.getI32IntegerAttr(alignment));
}

//===- Elements in reverse order or at small distances ---------------------===//

// Whole vectors are loaded and shuffled. A gather loads each element by itself, and CPUs have no gather for 8
// and 16 bits.

static SmallVector<int64_t> reversedLanes(int64_t lanes) {
  return llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, lanes)));
}

// Lane i is the element at `base` - i.
Value MemoryAccess::loadReversed(const Buffer &buffer, Value base) {
  SmallVector<int64_t> order = reversedLanes(lanes);
  Value first = binary<arith::SubIOp>(base, indexConstant(lanes - 1));
  Value active = mask ? Value(vector::ShuffleOp::create(builder, loc, mask, mask, order)) : Value();
  Buffer contiguous;
  contiguous.pointer = buffer.pointer;
  contiguous.element = memoryType(buffer.element);
  contiguous.shape = {ShapedType::kDynamic};
  contiguous.sizes = {indexConstant(0)};
  WithLanes activeCode(context, lanes, active);
  Value value = load(contiguous, {{first, 1, nullptr}});
  return fromMemory(vector::ShuffleOp::create(builder, loc, value, value, order), buffer.element);
}

// Lane i is the element at `base` + i * `step`. The last vector that is loaded ends with the last element, so
// that nothing past its end is read.
Value MemoryAccess::loadStrided(const Buffer &buffer, Value base, int64_t step) {
  int64_t distance = std::abs(step), span = (lanes - 1) * distance + 1;
  Type memory = memoryType(buffer.element);
  auto type = VectorType::get(lanes, memory);
  Value first = step < 0 ? binary<arith::AddIOp>(base, indexConstant((lanes - 1) * step)) : base;
  Value result;
  for (int64_t covered = 0; covered < span; covered += lanes) {
    int64_t start = std::min(covered, span - lanes);
    Value pointer = pointerAt(buffer, binary<arith::AddIOp>(first, indexConstant(start)));
    Value loaded = LLVM::LoadOp::create(builder, loc, type, pointer, memoryBytes(buffer.element));
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t element = (step < 0 ? lanes - 1 - lane : lane) * distance;
      bool isHere = element >= covered && element < covered + lanes;
      order.push_back(isHere ? lanes + element - start : lane);
    }
    result = vector::ShuffleOp::create(builder, loc, result ? result : loaded, loaded, order);
  }
  return fromMemory(result, buffer.element);
}
