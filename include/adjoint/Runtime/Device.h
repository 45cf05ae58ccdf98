/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What runs the kernels of a program: an emulated GPU, or a real one. A device has memory of its own, which
   only these functions reach, and does what it is asked in order. */
#ifndef ADJOINT_RUNTIME_DEVICE_H
#define ADJOINT_RUNTIME_DEVICE_H

#include "adjoint/Runtime/adrt.h"

#include <functional>
#include <string>

namespace adrt {

/// How a request to a device ended; what was asked for before may show here.
struct Outcome {
  int32_t status = ADRT_OK;
  std::string message;  ///< lower case, without a final period
  std::string location; ///< FILE:LINE:COLUMN of the instruction, where the device knows it

  bool ok() const { return status == ADRT_OK; }
  static Outcome failed(std::string message, std::string location = "") {
    return {ADRT_HOST_ERROR, std::move(message), std::move(location)};
  }
};

/// One per context: not for several threads at a time.
class Device {
public:
  virtual ~Device() = default;

  /// At least `bytes` bytes, 256-byte aligned and of any content; null when there is not enough memory.
  virtual void *allocate(int64_t bytes) = 0;
  /// Gives memory back, when what was asked for before is done.
  virtual void release(void *memory) = 0;

  /// From the host's memory, to it, and inside the device's. The host's memory is free again on return.
  virtual Outcome write(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome read(void *target, const void *source, int64_t bytes) = 0;
  virtual Outcome copy(void *target, const void *source, int64_t bytes) = 0;
  /// Sets every byte.
  virtual Outcome fill(void *target, uint8_t value, int64_t bytes) = 0;

  /// Fills `map` for kernels that have tiles of a tensor brought, as adrt_tensor_map says.
  virtual Outcome describe(void *map, const adrt_tensor &tensor, const uint32_t *box,
                           uint32_t swizzleBytes) = 0;

  /// Kernels have the numbers in which the device was given them.
  virtual Outcome launch(int32_t kernel, const adrt_grid &grid, void *const *arguments, int32_t count) = 0;
  /// Waits for everything.
  virtual Outcome synchronize() = 0;

  /// Asked now and then during long work, which ends when the answer is true. May be empty.
  std::function<bool()> interrupted;
  /// What the kernels belong to; its owner compares it.
  const void *program = nullptr;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_DEVICE_H
