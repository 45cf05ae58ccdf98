/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The blocks of memory of emulated devices: those of one device, and those that all may access. Internal to
   the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_SIM_SIMBLOCKS_H
#define ADJOINT_LIB_RUNTIME_SIM_SIMBLOCKS_H

#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

namespace adrt {

/// Blocks of memory by address, with the requested bytes.
using Blocks = std::map<void *, int64_t>;

inline bool contains(const Blocks &blocks, const void *memory, int64_t bytes) {
  auto after = blocks.upper_bound(const_cast<void *>(memory));
  if (after == blocks.begin())
    return false;
  auto block = std::prev(after);
  int64_t offset = static_cast<const char *>(memory) - static_cast<const char *>(block->first);
  return bytes >= 0 && offset <= block->second - bytes;
}

/// The memory that several devices access, each from a thread of its own.
class SharedBlocks {
public:
  void add(void *memory, int64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    blocks[memory] = bytes;
  }
  void remove(void *memory) {
    std::lock_guard<std::mutex> lock(mutex);
    blocks.erase(memory);
  }
  bool has(const void *memory, int64_t bytes) {
    std::lock_guard<std::mutex> lock(mutex);
    return contains(blocks, memory, bytes);
  }
  Blocks get() {
    std::lock_guard<std::mutex> lock(mutex);
    return blocks;
  }

private:
  std::mutex mutex;
  Blocks blocks;
};

inline SharedBlocks &sharedBlocks() {
  static SharedBlocks blocks;
  return blocks;
}

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_SIM_SIMBLOCKS_H
