// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ad;

ArrayAttr ad::unitsToAttribute(MLIRContext *context, ArrayRef<UnitSpace> spaces) {
  Builder builder(context);
  SmallVector<Attribute> all;
  for (const UnitSpace &space : spaces) {
    SmallVector<Attribute> parts = {builder.getI64IntegerAttr(space.result)};
    for (const UnitLoop &loop : space.loops) {
      SmallVector<int64_t> numbers = {loop.step};
      llvm::append_range(numbers, loop.axes);
      parts.push_back(builder.getDenseI64ArrayAttr(numbers));
    }
    all.push_back(builder.getArrayAttr(parts));
  }
  return builder.getArrayAttr(all);
}

static std::optional<UnitLoop> loopFromAttribute(Attribute attribute) {
  auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!numbers || numbers.size() < 2 || numbers[0] < 1 ||
      llvm::any_of(numbers.asArrayRef(), [](int64_t number) { return number < 0; }))
    return std::nullopt;
  return UnitLoop{llvm::to_vector(numbers.asArrayRef().drop_front()), numbers[0]};
}

static std::optional<UnitSpace> spaceFromAttribute(Attribute attribute) {
  auto parts = dyn_cast<ArrayAttr>(attribute);
  auto result = parts && !parts.empty() ? dyn_cast<IntegerAttr>(parts[0]) : IntegerAttr();
  if (!result || !result.getType().isInteger(64) || result.getInt() < 0)
    return std::nullopt;
  UnitSpace space{result.getInt(), {}};
  for (Attribute part : parts.getValue().drop_front()) {
    std::optional<UnitLoop> loop = loopFromAttribute(part);
    if (!loop)
      return std::nullopt;
    space.loops.push_back(std::move(*loop));
  }
  return space;
}

std::optional<WorkUnits> ad::unitsFromAttribute(Attribute attribute) {
  auto spaces = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!spaces)
    return std::nullopt;
  WorkUnits units;
  for (Attribute each : spaces) {
    std::optional<UnitSpace> space = spaceFromAttribute(each);
    if (!space)
      return std::nullopt;
    units.push_back(std::move(*space));
  }
  return units;
}
