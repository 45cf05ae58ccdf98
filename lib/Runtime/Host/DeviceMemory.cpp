/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "DeviceMemory.h"

using namespace adrt;

DeviceMemory::Block::~Block() {
  if (memory)
    owner->release(memory);
}

void *DeviceMemory::Block::reserve(Device &device, int64_t bytes) {
  if (bytes < 0)
    return nullptr;
  if (memory && bytes <= size)
    return memory;
  // The old block is freed first: its content is not needed, and both blocks may not fit.
  if (memory)
    owner->release(memory);
  owner = &device;
  memory = device.allocate(bytes);
  size = memory ? bytes : 0;
  return memory;
}

void *DeviceMemory::arena(int64_t bytes) {
  if (arenasUsed == arenas.size())
    arenas.push_back(std::make_unique<Block>());
  void *memory = arenas[arenasUsed]->reserve(*device, bytes);
  arenasUsed += memory != nullptr;
  return memory;
}

void *DeviceMemory::constant(const void *data, int64_t bytes, bool &known) {
  Block &block = constants[data];
  known = block.data() && bytes <= block.capacity();
  return block.reserve(*device, bytes);
}

int64_t DeviceMemory::getBytes() const {
  int64_t bytes = 0;
  for (const std::unique_ptr<Block> &block : arenas)
    bytes += block->capacity();
  for (const auto *blocks : {&buffers, &results, &arguments})
    for (const auto &[number, block] : *blocks)
      bytes += block.capacity();
  for (const auto &[data, block] : constants)
    bytes += block.capacity();
  return bytes;
}
