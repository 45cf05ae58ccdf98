/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Runtime/Host/ResultMemory.h"

#include <algorithm>
#include <utility>

using namespace adrt;

ResultMemory::Slot &ResultMemory::slot(size_t index) {
  while (slots.size() <= index)
    slots.push_back(std::make_unique<Slot>());
  return *slots[index];
}

void *ResultMemory::output(size_t index, int32_t type, int32_t rank, const int64_t *shape) const {
  if (index >= outputs.size())
    return nullptr;
  const adrt_tensor &output = outputs[index];
  bool fits = output.type == type && output.rank == rank && std::equal(shape, shape + rank, output.shape);
  return fits ? output.data : nullptr;
}

void ResultMemory::offer(size_t index, Buffer memory) {
  Slot &result = slot(index);
  if (!result.data.data())
    result.data = std::move(memory);
}

Buffer ResultMemory::take(size_t index) {
  return index < slots.size() ? std::exchange(slots[index]->data, Buffer()) : Buffer();
}
