/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Support/MemoryLimit.h"

#include <algorithm>
#include <atomic>

using namespace adrt;

static std::atomic<int64_t> inUse{0}, limit{0};

static int64_t memoryOfMachine() {
  static const int64_t bytes = countHostMemory().total;
  return bytes > 0 ? bytes : INT64_MAX;
}

// A sixteenth is for the rest of the process, and for others: the system ends processes before it has no
// memory left.
static MemoryCount countMachine() {
  constexpr int64_t kept = 16;
  MemoryCount memory = countHostMemory();
  if (memory.free > 0)
    memory.free = std::max<int64_t>(memory.free - memory.total / kept, 0);
  return memory;
}

void adrt::setMemoryLimit(int64_t bytes) { limit = bytes; }

MemoryCount adrt::countTensorMemory() {
  int64_t given = limit;
  return given > 0 ? MemoryCount{std::max<int64_t>(given - inUse, 0), given} : countMachine();
}

// What the machine has free is read from files, so that small sizes are only compared with all that it has.
bool adrt::fitsMemory(int64_t bytes) {
  constexpr int64_t large = 64 << 20;
  int64_t given = limit;
  if (bytes > (given > 0 ? given : memoryOfMachine()) - inUse)
    return false;
  int64_t free = given > 0 || bytes < large ? -1 : countMachine().free;
  return free < 0 || bytes <= free;
}

// Taken first, and given back: of two threads, one finds what the other has taken.
bool adrt::takeMemory(int64_t bytes) {
  if (!fitsMemory(bytes))
    return false;
  inUse += bytes;
  if (fitsMemory(0))
    return true;
  giveMemory(bytes);
  return false;
}

void adrt::giveMemory(int64_t bytes) { inUse -= bytes; }

std::string adrt::describeLackOfMemory(int64_t bytes) {
  std::string there = countTensorMemory().text();
  return std::to_string(bytes) + " bytes" + (there.empty() ? "" : "; " + there);
}
