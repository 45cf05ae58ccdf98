/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Memory of dense tensors: sizes of the element types of adrt.h, and aligned blocks. */
#ifndef ADJOINT_SUPPORT_BUFFER_H
#define ADJOINT_SUPPORT_BUFFER_H

#include "adjoint/Runtime/adrt.h"

#include <cstdint>
#include <memory>

namespace adrt {

/// A 64-byte aligned block. It keeps its memory when a smaller size is requested.
class Buffer {
public:
  static constexpr int64_t alignment = 64;
  /// At least `bytes` bytes, or null when there is not enough memory, by the limit of MemoryLimit.h too, or
  /// `bytes` is negative. They begin `offset` bytes after a multiple of the alignment; offset < alignment.
  void *reserve(int64_t bytes, int64_t offset = 0);
  void *data() const { return memory ? static_cast<char *>(memory.get()) + start : nullptr; }
  int64_t capacity() const { return size; }

private:
  struct Free {
    Free() : bytes(0) {}
    explicit Free(int64_t bytes) : bytes(bytes) {}
    int64_t bytes; // which count towards the limit of MemoryLimit.h
    void operator()(void *pointer) const;
  };
  std::unique_ptr<void, Free> memory;
  int64_t start = 0; // of the data in the memory
  int64_t size = 0;  // of the data
};

/// Bytes of a dense tensor, or -1 when the type is unknown, a size is negative or the product overflows.
int64_t byteSize(int32_t type, int32_t rank, const int64_t *shape);
/// Bytes of one element, or 0 for an unknown type.
int64_t elementSize(int32_t type);
/// The element type as MLIR writes it, e.g. f8E4M3FN.
const char *typeName(int32_t type);

} // namespace adrt

#endif // ADJOINT_SUPPORT_BUFFER_H
