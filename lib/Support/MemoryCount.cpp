/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Support/MemoryCount.h"
#include "adjoint/Support/ControlGroups.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sys/resource.h>
#include <unistd.h>

using namespace adrt;

namespace {

/// The numbers of a file with lines of `NAME NUMBER` or `NAME: NUMBER kB`.
std::map<std::string, int64_t> readNumbers(const std::string &path) {
  std::map<std::string, int64_t> numbers;
  std::ifstream file(path);
  std::string name, rest;
  for (int64_t number; file >> name >> number; std::getline(file, rest))
    numbers[name] = number;
  return numbers;
}

/// The number in a file of one; negative without, which is written "max".
int64_t readNumber(const std::string &path) {
  int64_t number = -1;
  return std::ifstream(path) >> number ? number : -1;
}

/// A group has its limit and what it uses. The pages of files count as used, but the system takes them back.
MemoryCount countGroup(const ControlGroup &group) {
  const auto &[folder, isVersion2] = group;
  int64_t limit = readNumber(folder + (isVersion2 ? "/memory.max" : "/memory.limit_in_bytes"));
  int64_t used = readNumber(folder + (isVersion2 ? "/memory.current" : "/memory.usage_in_bytes"));
  if (limit < 0 || used < 0)
    return {};
  std::map<std::string, int64_t> statistics = readNumbers(folder + "/memory.stat");
  for (const char *kind : {"inactive_file", "active_file"})
    used -= statistics[isVersion2 ? kind : std::string("total_") + kind];
  return {std::max<int64_t>(limit - std::max<int64_t>(used, 0), 0), limit};
}

/// The address space that `ulimit -v` leaves.
MemoryCount countAddresses(const std::string &root) {
  struct rlimit limit;
  int64_t pages = readNumber(root + "/proc/self/statm");
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur > INT64_MAX || pages < 0)
    return {};
  auto total = static_cast<int64_t>(limit.rlim_cur);
  return {std::max<int64_t>(total - pages * ::sysconf(_SC_PAGESIZE), 0), total};
}

MemoryCount smaller(const MemoryCount &left, const MemoryCount &right) {
  return right.total < 0 ? left
                         : MemoryCount{std::min(left.free, right.free), std::min(left.total, right.total)};
}

} // namespace

std::string MemoryCount::text() const {
  if (free < 0 || total < 0)
    return "";
  return std::to_string(free) + " of " + std::to_string(total) + " bytes are free";
}

MemoryCount adrt::countHostMemory(const std::string &root) {
  std::map<std::string, int64_t> machine = readNumbers(root + "/proc/meminfo");
  if (!machine.count("MemAvailable:") || !machine.count("MemTotal:"))
    return {};
  constexpr int64_t unit = 1024;
  MemoryCount count{(machine["MemAvailable:"] + machine["SwapFree:"]) * unit,
                    (machine["MemTotal:"] + machine["SwapTotal:"]) * unit};
  for (const ControlGroup &group : findControlGroups("memory", root))
    count = smaller(count, countGroup(group));
  return smaller(count, countAddresses(root));
}
