/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The host memory of a program's results: memory of the host's choice (`outputs`), or buffers that a context
   keeps from run to run until the host takes them. */
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

  /// Takes the memory of result `index` of the last run, which the results of that run point to.
  Buffer take(size_t index);
  /// Memory for result `index` of the next run, unless there is some already.
  void offer(size_t index, Buffer memory);
  /// Host memory that results are written to, by number. `data` is null where the program allocates; it also
  /// allocates where the shape differs. It overlaps nothing that the program reads.
  std::vector<adrt_tensor> outputs;

  Slot &slot(size_t index);
  /// The host's memory for a result of this shape, or null.
  void *output(size_t index, int32_t type, int32_t rank, const int64_t *shape) const;

private:
  std::vector<std::unique_ptr<Slot>> slots;
};

} // namespace adrt

#endif // ADJOINT_RUNTIME_HOST_RESULTMEMORY_H
