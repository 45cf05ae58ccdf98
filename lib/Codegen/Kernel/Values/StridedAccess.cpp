// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements in reverse order or at small distances: whole vectors are loaded and shuffled. A gather loads each
// element by itself, and CPUs have no gather for 8 and 16 bits.

#include "MemoryAccess.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

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
