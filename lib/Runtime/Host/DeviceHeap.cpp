/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Runtime/Host/DeviceHeap.h"

#include <algorithm>

using namespace adrt;

uint64_t DeviceHeap::addUser() {
  std::lock_guard<std::mutex> lock(mutex);
  idle[++users];
  return users;
}

void DeviceHeap::removeUser(uint64_t user) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = idle.find(user);
  if (found == idle.end())
    return;
  for (const auto &[result, block] : found->second)
    device->release(block.data);
  idle.erase(found);
}

void DeviceHeap::freeIdle() {
  for (auto &[user, blocks] : idle) {
    for (const auto &[result, block] : blocks)
      device->release(block.data);
    blocks.clear();
  }
}

/// The kept block of a result if it is large enough, and not much too large.
std::pair<void *, int64_t> DeviceHeap::takeIdle(HeapUse use, int64_t bytes) {
  auto user = idle.find(use.user);
  if (user == idle.end())
    return {nullptr, 0};
  auto found = user->second.find(use.result);
  if (found == user->second.end())
    return {nullptr, 0};
  Idle block = found->second;
  user->second.erase(found);
  constexpr int64_t smallBytes = 4096;
  if (bytes <= block.bytes && block.bytes / 2 <= std::max(bytes, smallBytes))
    return {block.data, block.bytes};
  device->release(block.data);
  return {nullptr, 0};
}

void *DeviceHeap::allocateOrFreeIdle(int64_t bytes) {
  if (void *memory = device->allocate(bytes))
    return memory;
  freeIdle();
  return device->allocate(bytes);
}

std::shared_ptr<DeviceBlock> DeviceHeap::allocate(int64_t bytes, const std::string &purpose, Outcome &outcome,
                                                  HeapUse use) {
  std::lock_guard<std::mutex> lock(mutex);
  outcome = {};
  auto [data, size] = takeIdle(use, bytes);
  if (!data) {
    data = bytes < 0 ? nullptr : allocateOrFreeIdle(bytes);
    size = bytes;
  }
  if (!data) {
    bool isSize = bytes >= 0 && bytes != INT64_MAX;
    outcome = device->explainFailure(purpose + " of " +
                                     (isSize ? std::to_string(bytes) + " bytes" : "unrepresentable size"));
    return nullptr;
  }
  usedBytes += size;
  return std::make_shared<DeviceBlock>(shared_from_this(), data, size, use, nullptr);
}

std::shared_ptr<DeviceBlock> DeviceHeap::adopt(void *data, int64_t bytes, std::function<void()> release,
                                               Outcome &outcome) {
  std::lock_guard<std::mutex> lock(mutex);
  outcome = device->requireMemory(data, bytes);
  if (!outcome.ok())
    return nullptr;
  usedBytes += bytes;
  return std::make_shared<DeviceBlock>(shared_from_this(), data, bytes, HeapUse(), std::move(release));
}

void DeviceHeap::takeBack(DeviceBlock &block) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    usedBytes -= block.bytes;
    if (!block.release) {
      auto user = idle.find(block.use.user);
      if (user == idle.end()) {
        device->release(block.data);
        return;
      }
      auto [kept, isNew] = user->second.try_emplace(block.use.result, Idle{block.data, block.bytes});
      if (!isNew) {
        device->release(kept->second.data);
        kept->second = {block.data, block.bytes};
      }
      return;
    }
  }
  block.release(); // of another library, which may use this heap
}

/// Programs run on streams of their own, so that work must be done before they begin.
Outcome DeviceHeap::finished(const Outcome &begun) { return begun.ok() ? device->synchronize() : begun; }

Outcome DeviceHeap::write(const DeviceBlock &target, const void *source, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return finished(device->write(target.data, source, bytes));
}

Outcome DeviceHeap::read(void *target, const DeviceBlock &source, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return device->read(target, source.data, bytes);
}

Outcome DeviceHeap::copy(const DeviceBlock &target, const DeviceBlock &source, int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  return finished(device->copy(target.data, source.data, bytes));
}

Outcome DeviceHeap::waitForForeignStream(uintptr_t stream) {
  std::lock_guard<std::mutex> lock(mutex);
  return device->waitForForeignStream(stream);
}

int64_t DeviceHeap::getUsedBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  return usedBytes;
}

int64_t DeviceHeap::getIdleBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  int64_t bytes = 0;
  for (const auto &[user, blocks] : idle)
    for (const auto &[result, block] : blocks)
      bytes += block.bytes;
  return bytes;
}
