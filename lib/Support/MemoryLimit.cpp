/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Support/MemoryLimit.h"
#include "adjoint/Support/MemoryCount.h"

#include <atomic>

using namespace adrt;

static std::atomic<int64_t> inUse{0}, limit{0};

static int64_t memoryOfMachine() {
  int64_t bytes = countHostMemory().total;
  return bytes > 0 ? bytes : INT64_MAX;
}

void adrt::setMemoryLimit(int64_t bytes) { limit = bytes; }

int64_t adrt::getMemoryLimit() {
  static const int64_t machine = memoryOfMachine();
  int64_t given = limit;
  return given > 0 ? given : machine;
}

int64_t adrt::getMemoryInUse() { return inUse; }

bool adrt::takeMemory(int64_t bytes) {
  if (inUse.fetch_add(bytes) <= getMemoryLimit() - bytes)
    return true;
  giveMemory(bytes);
  return false;
}

void adrt::giveMemory(int64_t bytes) { inUse -= bytes; }

std::string adrt::describeLackOfMemory(int64_t bytes) {
  return std::to_string(bytes) + " bytes; " + std::to_string(getMemoryInUse()) + " of " +
         std::to_string(getMemoryLimit()) + " bytes are in use";
}
