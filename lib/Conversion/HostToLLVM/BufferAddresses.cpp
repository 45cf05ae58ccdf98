// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Arena, pools of dynamic size, stack variables.

#include "BufferAddresses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

// Two cache lines, or four vectors of 16 elements. All variables together are a small part of a stack.
static constexpr int64_t kMaxVariableBytes = 256, kMaxStackBytes = 16 << 10;

static bool isInArena(BufferAttr buffer) { return buffer.getStorage() == StorageKind::arena; }

static bool isResult(BufferAttr buffer) { return buffer.getStorage() == StorageKind::result; }

void BufferAddresses::bindArena() {
  arena = call("adrt_arena", pointerType, {context, i64(plan.getPoolBytes(0))});
  entry.guardMemory(arena, largestUser(isInArena));
}

Location BufferAddresses::largestUser(function_ref<bool(BufferAttr)> matches) {
  Location found = loc;
  int64_t largest = -1;
  entry.source.walk([&](Operation *op) {
    if (!isa<LaunchOp, FeedOp, arith::SelectOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op))
      return;
    for (Value result : op->getResults())
      if (int64_t buffer = plan.bufferOf(result);
          buffer >= 0 && matches(plan.getBuffer(buffer)) && plan.getBuffer(buffer).getBytes() > largest) {
        largest = plan.getBuffer(buffer).getBytes();
        found = op->getLoc();
      }
  });
  return found;
}

Value BufferAddresses::stackVariable(int64_t buffer) {
  BufferAttr planned = plan.getBuffer(buffer);
  bool hasStaticSize = isInArena(planned) || (isResult(planned) && hasStaticShape(planned.getNumber()));
  if (options.device || !hasStaticSize || planned.getBytes() > kMaxVariableBytes || planned.getBytes() <= 0)
    return Value();
  auto [variable, isNew] = stackVariables.try_emplace(buffer, Value());
  if (isNew && stackBytes + planned.getBytes() <= kMaxStackBytes) {
    constexpr unsigned alignment = 64; // as in the arena
    variable->second = entry.stackSlot(builder.getI8Type(), planned.getBytes(), alignment);
    stackBytes += planned.getBytes();
  }
  return variable->second;
}

// The product of two sizes, or the largest number if it overflows 64 bits: no memory is that large.
Value BufferAddresses::saturatedProduct(Value a, Value b) {
  auto product = arith::MulUIExtendedOp::create(builder, loc, a, b);
  auto compare = [&](arith::CmpIPredicate predicate, Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, value, i64(0));
  };
  Value large = arith::OrIOp::create(builder, loc, compare(arith::CmpIPredicate::ne, product.getHigh()),
                                     compare(arith::CmpIPredicate::slt, product.getLow()));
  return arith::SelectOp::create(builder, loc, large, i64(std::numeric_limits<int64_t>::max()),
                                 product.getLow());
}

// Elements along the dynamic axes, rounded up.
Value BufferAddresses::poolUnit(const HostTensor &tensor) {
  Value count = i64(1);
  for (auto [axis, size] : llvm::enumerate(tensor.sizes))
    if (tensor.type.isDynamicDim(axis))
      count = saturatedProduct(count, toI64(size));
  Value units = builder.createOrFold<arith::CeilDivUIOp>(loc, count, i64(kUnitMultiple));
  return saturatedProduct(units, i64(kUnitMultiple));
}

bool BufferAddresses::hasStaticShape(int64_t result) const {
  return cast<RankedTensorType>(entry.source.getResultTypes()[result]).hasStaticShape();
}

Value BufferAddresses::allocateResult(int64_t number, const HostTensor &like, Location user) {
  Value data = call("adrt_result", pointerType,
                    {context, entry.result(number), i32(number),
                     i32(TensorDescriptors::elementNumber(like.type.getElementType())),
                     i32(like.type.getRank()), descriptors.shapeArray(like)});
  entry.guardMemory(data, user);
  return data;
}

void BufferAddresses::bindStaticResults() {
  for (BufferAttr buffer : plan.getBuffers()) {
    int64_t number = buffer.getNumber();
    if (!isResult(buffer) || !hasStaticShape(number))
      continue;
    auto type = cast<RankedTensorType>(entry.source.getResultTypes()[number]);
    HostTensor described{nullptr, values.sizesOf(type, {}), type, -1};
    resultMemory[number] = allocateResult(number, described, largestUser([&](BufferAttr other) {
                                            return isResult(other) && other.getNumber() == number;
                                          }));
  }
}

// The runtime keeps the pools of dynamic size and grows them.
HostTensor BufferAddresses::tensorIn(int64_t buffer, RankedTensorType type, ArrayRef<Value> sizes) {
  HostTensor tensor{nullptr, SmallVector<Value>(sizes), type, buffer};
  BufferAttr planned = plan.getBuffer(buffer);
  if ((tensor.pointer = stackVariable(buffer)))
    return tensor;
  auto at = [&](Value base, Value offset) {
    return LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(), base, ValueRange{offset});
  };
  if (planned.getStorage() == StorageKind::argument) {
    tensor.pointer = values.tensor(entry.source.getArgument(planned.getNumber())).pointer;
  } else if (isResult(planned)) {
    bool isThere = hasStaticShape(planned.getNumber());
    tensor.pointer =
        isThere ? resultMemory[planned.getNumber()] : allocateResult(planned.getNumber(), tensor, loc);
  } else if (isInArena(planned)) {
    tensor.pointer = at(arena, i64(planned.getOffset()));
  } else {
    Value unit = poolUnit(tensor);
    auto bytes = [&](int64_t perElement) -> Value { return saturatedProduct(unit, i64(perElement)); };
    Value pool = call("adrt_buffer", pointerType,
                      {context, i32(planned.getNumber()), bytes(plan.getPoolBytes(planned.getNumber()))});
    entry.guardMemory(pool, loc);
    tensor.pointer = at(pool, bytes(planned.getOffset()));
  }
  return tensor;
}

// The pool after those of the plan.
Value BufferAddresses::scratch(Value bytes) {
  Value pool = i32(plan.getPoolCount());
  return call("adrt_buffer", pointerType, {context, pool, toI64(bytes)});
}
