/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The memory of one program on its device: the arena, numbered buffers, results, and copies of arguments and
   of static data. Blocks are reused from run to run. Copies of static data stay valid, since the device
   belongs to one program. Internal to the runtime. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_DEVICEMEMORY_H
#define ADJOINT_LIB_RUNTIME_HOST_DEVICEMEMORY_H

#include "TensorMaps.h"
#include "adjoint/Runtime/Host/Device.h"

#include <map>
#include <memory>
#include <vector>

namespace adrt {

class DeviceMemory {
public:
  explicit DeviceMemory(std::shared_ptr<Device> device) : device(std::move(device)) {}

  Device &getDevice() { return *device; }
  bool isOf(const std::shared_ptr<Device> &other) const { return device == other; }

  /// Before each run: arena blocks are free again.
  void beginRun() { arenasUsed = 0; }

  /// Each returns null when there is not enough memory, or when bytes are negative.
  void *arena(int64_t bytes);
  void *buffer(int32_t number, int64_t bytes) { return buffers[number].reserve(*device, bytes); }
  void *result(int32_t number, int64_t bytes) { return results[number].reserve(*device, bytes); }
  void *argument(int32_t number, int64_t bytes) { return arguments[number].reserve(*device, bytes); }
  /// The caller writes the data unless it is `known` to be on the device.
  void *constant(const void *data, int64_t bytes, bool &known);

  int64_t getBytes() const;
  TensorMaps &getMaps() { return maps; }

private:
  /// Memory that grows and never shrinks.
  class Block {
  public:
    Block() = default;
    ~Block();
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
    void *reserve(Device &device, int64_t bytes);
    void *data() const { return memory; }
    int64_t capacity() const { return size; }

  private:
    Device *owner = nullptr;
    void *memory = nullptr;
    int64_t size = 0;
  };

  std::shared_ptr<Device> device; // outlives the blocks
  std::vector<std::unique_ptr<Block>> arenas;
  size_t arenasUsed = 0;
  std::map<int32_t, Block> buffers, results, arguments;
  std::map<const void *, Block> constants;
  TensorMaps maps;
};

} // namespace adrt

#endif // ADJOINT_LIB_RUNTIME_HOST_DEVICEMEMORY_H
