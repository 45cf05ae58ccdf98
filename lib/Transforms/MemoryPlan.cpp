// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Transforms/MemoryPlan.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr StringLiteral kBuffers = "ad.buffers", kArena = "ad.arena_bytes", kPools = "ad.pool_bytes";

void MemoryPlan::write(func::FuncOp function) const {
  Builder builder(function.getContext());
  SmallVector<int64_t> numbers;
  for (const PlannedPlace &place : places)
    numbers.append({static_cast<int64_t>(place.home), place.number, place.offset, place.bytes});
  function->setAttr(kBuffers, builder.getDenseI64ArrayAttr(numbers));
  function->setAttr(kArena, builder.getI64IntegerAttr(pools.front()));
  if (pools.size() > 1)
    function->setAttr(kPools, builder.getDenseI64ArrayAttr(ArrayRef(pools).drop_front()));
}

static bool isValid(const PlannedPlace &place, func::FuncOp function, ArrayRef<int64_t> pools) {
  auto isBelow = [&](int64_t limit) { return place.number >= 0 && place.number < limit; };
  if (place.offset < 0 || place.bytes < 0)
    return false;
  switch (place.home) {
  case Home::pool:
    return isBelow(pools.size()) && place.bytes <= pools[place.number] - place.offset;
  case Home::argument:
    return isBelow(function.getNumArguments()) && place.offset == 0;
  case Home::result:
    return isBelow(function.getNumResults()) && place.offset == 0 &&
           cast<ShapedType>(function.getResultTypes()[place.number]).hasStaticShape();
  }
  return false;
}

std::optional<MemoryPlan> MemoryPlan::read(func::FuncOp function) {
  auto numbers = function->getAttrOfType<DenseI64ArrayAttr>(kBuffers);
  auto arena = function->getAttrOfType<IntegerAttr>(kArena);
  if (!numbers || numbers.size() % 4 != 0 || !arena)
    return std::nullopt;
  MemoryPlan plan;
  plan.pools.front() = arena.getInt();
  if (auto pools = function->getAttrOfType<DenseI64ArrayAttr>(kPools))
    llvm::append_range(plan.pools, pools.asArrayRef());
  for (int64_t i = 0; i < numbers.size(); i += 4) {
    plan.places.push_back({static_cast<Home>(numbers[i]), numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    if (!isValid(plan.places.back(), function, plan.pools))
      return std::nullopt;
  }
  return plan;
}
