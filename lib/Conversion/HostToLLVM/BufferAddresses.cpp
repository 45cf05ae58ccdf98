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

static bool isInArena(const PlannedPlace &buffer) { return buffer.home == Home::pool && buffer.number == 0; }

void BufferAddresses::bindArena() {
  arena = call("adrt_arena", pointerType, {context, i64(plan.pools().front())});
  entry.guardMemory(arena, largestUser(isInArena));
}

Location BufferAddresses::largestUser(function_ref<bool(const PlannedPlace &)> matches) {
  Operation *user = plan.largestUser(entry.source, matches);
  return user ? user->getLoc() : loc;
}

Value BufferAddresses::stackVariable(int64_t buffer) {
  const PlannedPlace &planned = plan[buffer];
  if (options.device || !(isInArena(planned) || planned.home == Home::result) ||
      planned.bytes > kMaxVariableBytes || planned.bytes <= 0)
    return Value();
  auto [variable, isNew] = stackVariables.try_emplace(buffer, Value());
  if (isNew && stackBytes + planned.bytes <= kMaxStackBytes) {
    constexpr unsigned alignment = 64; // as in the arena
    variable->second = entry.stackSlot(builder.getI8Type(), planned.bytes, alignment);
    stackBytes += planned.bytes;
  }
  return variable->second;
}

// The product of two sizes, or the largest number if it has no place in 64 bits: nobody has so much memory.
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

// The runtime keeps the pools of dynamic size and grows them.
HostTensor BufferAddresses::tensorIn(int64_t buffer, RankedTensorType type, ArrayRef<Value> sizes) {
  HostTensor tensor{nullptr, SmallVector<Value>(sizes), type, buffer};
  const PlannedPlace &planned = plan[buffer];
  if ((tensor.pointer = stackVariable(buffer)))
    return tensor;
  auto at = [&](Value base, Value offset) {
    return LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(), base, ValueRange{offset});
  };
  if (planned.home == Home::argument) {
    tensor.pointer = values.tensor(entry.source.getArgument(planned.number)).pointer;
  } else if (planned.home == Home::result) {
    tensor.pointer = resultMemory[planned.number];
  } else if (isInArena(planned)) {
    tensor.pointer = at(arena, i64(planned.offset));
  } else {
    Value unit = poolUnit(tensor);
    auto bytes = [&](int64_t perElement) -> Value { return saturatedProduct(unit, i64(perElement)); };
    Value pool =
        call("adrt_buffer", pointerType, {context, i32(planned.number), bytes(plan.pools()[planned.number])});
    entry.guardMemory(pool, loc);
    tensor.pointer = at(pool, bytes(planned.offset));
  }
  return tensor;
}

// The pool after those of the plan.
Value BufferAddresses::scratch(Value bytes) {
  Value pool = i32(plan.pools().size());
  return call("adrt_buffer", pointerType, {context, pool, toI64(bytes)});
}
