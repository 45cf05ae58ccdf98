/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Support/MemoryLimit.h"
#include "adjoint/Support/ControlGroups.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sys/sysinfo.h>

using namespace adrt;

static std::atomic<int64_t> inUse{0}, limit{0};

// A group without a limit says "max", or a number near the largest.
static int64_t limitOf(const ControlGroup &group) {
  int64_t bytes = 0;
  std::ifstream(group.folder + (group.isVersion2 ? "/memory.max" : "/memory.limit_in_bytes")) >> bytes;
  return bytes > 0 ? bytes : INT64_MAX;
}

int64_t adrt::findMemoryOfMachine(const std::string &root) {
  struct sysinfo machine;
  int64_t bytes = INT64_MAX;
  if (sysinfo(&machine) == 0)
    bytes = static_cast<int64_t>((machine.totalram + machine.totalswap) * machine.mem_unit);
  for (const ControlGroup &group : findControlGroups("memory", root))
    bytes = std::min(bytes, limitOf(group));
  return bytes;
}

void adrt::setMemoryLimit(int64_t bytes) { limit = bytes; }

int64_t adrt::getMemoryLimit() {
  static const int64_t machine = findMemoryOfMachine();
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
