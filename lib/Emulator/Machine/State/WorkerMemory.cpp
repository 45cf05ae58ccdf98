/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The memory of workers. It is kept from launch to launch, since mapping and protecting stacks takes longer
   than a small kernel. */
#include "Worker.h"

#include <mutex>
#include <sys/mman.h>

using namespace adsim;

namespace {
/// The memory that no launch uses.
struct FreeList {
  std::mutex mutex;
  std::vector<std::unique_ptr<WorkerMemory>> memories;
};

FreeList &freeList() {
  static FreeList instance;
  return instance;
}
} // namespace

WorkerMemory::~WorkerMemory() {
  if (mapping)
    munmap(mapping, mapped);
}

bool WorkerMemory::reserveShared(uint32_t ctas) {
  size_t wanted = (ctas + 1) * sharedWindow;
  if (mapping && mapped >= wanted)
    return true;
  if (mapping)
    munmap(mapping, mapped);
  mapped = wanted;
  void *block =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  mapping = block == MAP_FAILED ? nullptr : static_cast<char *>(block);
  if (!mapping)
    return false;
  uint64_t over = reinterpret_cast<uint64_t>(mapping) % sharedWindow;
  sharedBase = mapping + (over ? sharedWindow - over : 0);
  return true;
}

bool WorkerMemory::reserve(uint32_t wanted, size_t stackBytes, uint32_t ctas) {
  if (threads.size() < wanted)
    threads = std::vector<Thread>(wanted);
  return stacks.reserve(wanted, stackBytes) && reserveShared(ctas);
}

std::unique_ptr<WorkerMemory> WorkerMemory::reuseOrCreate(uint32_t threads, size_t stackBytes,
                                                          uint32_t ctas) {
  std::unique_ptr<WorkerMemory> memory;
  {
    std::lock_guard<std::mutex> lock(freeList().mutex);
    if (!freeList().memories.empty()) {
      memory = std::move(freeList().memories.back());
      freeList().memories.pop_back();
    }
  }
  if (!memory)
    memory = std::make_unique<WorkerMemory>();
  return memory->reserve(threads, stackBytes, ctas) ? std::move(memory) : nullptr;
}

void WorkerMemory::recycle(std::unique_ptr<WorkerMemory> memory) {
  constexpr size_t maxKept = 16;
  // Clocks are counted without atomics, so they must not outlive the launch, and neither must pointers in
  // copies.
  for (Thread &thread : memory->threads)
    thread.reset();
  std::lock_guard<std::mutex> lock(freeList().mutex);
  if (freeList().memories.size() < maxKept)
    freeList().memories.push_back(std::move(memory));
}
