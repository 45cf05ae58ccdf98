// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Shadows are kept as long as their tensors are.
#include "adjoint/Runner/Trace/ShadowValues.h"
#include "adjoint/Runner/Trace/WideEvaluator.h"

using namespace mlir::ad::runner;
namespace reference = mlir::ad::reference;

bool ShadowValues::has(const reference::Tensor &tensor) const {
  auto found = entries.find(tensor.getStorage().get());
  return found != entries.end() && !found->second.storage.expired();
}

Tensors ShadowValues::get(const reference::Tensor &tensor) const {
  if (!has(tensor))
    return Tensors(count, widen(tensor));
  Tensors values = entries.find(tensor.getStorage().get())->second.values;
  for (reference::Tensor &value : values)
    value = value.reshaped(tensor.getShape());
  return values;
}

void ShadowValues::set(const reference::Tensor &tensor, Tensors values) {
  entries[tensor.getStorage().get()] = {tensor.getStorage(), std::move(values)};
  if (entries.size() >= nextSweep)
    dropDead();
}

void ShadowValues::dropDead() {
  llvm::SmallVector<const void *> dead;
  for (const auto &[storage, entry] : entries)
    if (entry.storage.expired())
      dead.push_back(storage);
  for (const void *storage : dead)
    entries.erase(storage);
  nextSweep = std::max<size_t>(nextSweep, 2 * entries.size());
}
