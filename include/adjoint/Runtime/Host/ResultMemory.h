/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The host memory of the results of a program: memory that the host provides (`outputs`), or buffers that a
   context reuses from run to run until the host takes them. */
#ifndef ADJOINT_RUNTIME_HOST_RESULTMEMORY_H
#define ADJOINT_RUNTIME_HOST_RESULTMEMORY_H

#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/Buffer.h"

#include <memory>
#include <vector>

namespace adrt {

class ResultMemory {
public:
  struct Slot {
    Buffer data;
    std::vector<int64_t> shape;
  };

  /// Moves out the memory of result `index` of the last run; the results of that run point to it.
  Buffer take(size_t index);
  /// Provides memory for result `index` of the next run, unless it has memory already.
  void offer(size_t index, Buffer memory);
  /// Host memory that results are written to, by number. The program allocates a result where `data` is null
  /// or the shape differs. The memory overlaps no memory that the program reads. A result whose output is in
  /// device memory, which has no `data`, stays on the device.
  std::vector<adrt_tensor> outputs;

  Slot &slot(size_t index);
  /// The output for a result of this shape, or null.
  void *output(size_t index, int32_t type, int32_t rank, const int64_t *shape) const;
  bool staysOnDevice(size_t index) const {
    return index < outputs.size() && outputs[index].memory == ADRT_DEVICE_MEMORY;
  }

private:
  std::vector<std::unique_ptr<Slot>> slots;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_RESULTMEMORY_H
