/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Memory on a device that outlives programs: of tensors that stay there from one call to the next. Programs
   of the target access it like memory of their own. All functions are thread-safe, and their work is done
   when they return. */
#ifndef ADJOINT_RUNTIME_HOST_DEVICEHEAP_H
#define ADJOINT_RUNTIME_HOST_DEVICEHEAP_H

#include "adjoint/Runtime/Host/Device.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace adrt {

class DeviceBlock;

/// Result `result` of a user of a heap (DeviceHeap::addUser); no user keeps memory by default.
struct HeapUse {
  uint64_t user = 0;
  int32_t result = 0;
};

class DeviceHeap : public std::enable_shared_from_this<DeviceHeap> {
public:
  /// `device` has no kernels; programs of `target` access its memory.
  DeviceHeap(std::string target, std::unique_ptr<Device> device)
      : target(std::move(target)), device(std::move(device)) {}
  ~DeviceHeap() { freeIdle(); }
  DeviceHeap(const DeviceHeap &) = delete;
  DeviceHeap &operator=(const DeviceHeap &) = delete;
  const std::string &getTarget() const { return target; }

  /// A program that allocates its results again and again. Freed memory of a result is kept for the next one,
  /// one block for each result: allocations of drivers take long, and a result that has few addresses is
  /// replayed without updates of graphs.
  uint64_t addUser();
  void removeUser(uint64_t user);

  /// At least `bytes` bytes for `purpose`, e.g. "a result", 256-byte aligned. Null, with the reason in
  /// `outcome`, when there is not enough memory.
  std::shared_ptr<DeviceBlock> allocate(int64_t bytes, const std::string &purpose, Outcome &outcome,
                                        HeapUse use = {});
  /// Memory of another library; `release` is called when no block refers to it any more. Null, with the
  /// reason in `outcome`, for memory that is not on the device; `release` is not called then.
  std::shared_ptr<DeviceBlock> adopt(void *data, int64_t bytes, std::function<void()> release,
                                     Outcome &outcome);

  Outcome write(const DeviceBlock &target, const void *source, int64_t bytes);
  Outcome read(void *target, const DeviceBlock &source, int64_t bytes);
  Outcome copy(const DeviceBlock &target, const DeviceBlock &source, int64_t bytes);
  /// See Device::waitForForeignStream.
  Outcome waitForForeignStream(uintptr_t stream);

  /// The bytes of all blocks that exist, and those that are kept for the results of users.
  int64_t getUsedBytes() const;
  int64_t getIdleBytes() const;

private:
  friend class DeviceBlock;
  struct Idle {
    void *data;
    int64_t bytes;
  };

  void takeBack(DeviceBlock &block);
  std::pair<void *, int64_t> takeIdle(HeapUse use, int64_t bytes);
  void *allocateOrFreeIdle(int64_t bytes);
  void freeIdle();
  Outcome finished(const Outcome &begun);

  const std::string target;
  mutable std::mutex mutex;
  std::unique_ptr<Device> device;
  std::map<uint64_t, std::map<int32_t, Idle>> idle; // by user and result
  uint64_t users = 0;
  int64_t usedBytes = 0;
};

/// A block of a heap, freed when the last owner forgets it.
class DeviceBlock {
public:
  DeviceBlock(std::shared_ptr<DeviceHeap> heap, void *data, int64_t bytes, HeapUse use,
              std::function<void()> release)
      : heap(std::move(heap)), data(data), bytes(bytes), use(use), release(std::move(release)) {}
  ~DeviceBlock() { heap->takeBack(*this); }
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;

  DeviceHeap &getHeap() const { return *heap; }
  void *getData() const { return data; }
  int64_t getBytes() const { return bytes; }
  /// Another library may have enqueued work on the memory when it is freed, so that no result reuses it.
  void lend() { use = {}; }

private:
  friend class DeviceHeap;
  std::shared_ptr<DeviceHeap> heap;
  void *data;
  int64_t bytes;
  HeapUse use;
  std::function<void()> release; // empty for memory of the heap
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_DEVICEHEAP_H
