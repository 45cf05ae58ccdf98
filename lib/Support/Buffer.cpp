/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions. */
#include "adjoint/Support/Buffer.h"
#include "adjoint/Support/MemoryLimit.h"

#include <cstdlib>
#include <sys/mman.h>

using namespace adrt;

// Blocks of at least this size use huge pages, which need fewer page faults and TLB entries.
static constexpr int64_t hugePage = 2 << 20, largeBytes = 2 * hugePage;

void Buffer::Free::operator()(void *pointer) const {
  std::free(pointer);
  giveMemory(bytes);
}

void *Buffer::reserve(int64_t bytes, int64_t offset) {
  if (bytes < 0 || bytes > INT64_MAX - 2 * hugePage)
    return nullptr;
  if (memory && bytes <= size && offset == start)
    return data();
  int64_t unit = bytes < largeBytes ? Buffer::alignment : hugePage, needed = bytes + offset;
  int64_t rounded = needed == 0 ? unit : (needed + unit - 1) / unit * unit;
  // The old block is freed first: its content is not needed, and both may not fit.
  memory.reset();
  size = 0;
  if (!takeMemory(rounded))
    return nullptr;
  memory = {std::aligned_alloc(static_cast<size_t>(unit), static_cast<size_t>(rounded)), Free{rounded}};
  if (!memory) {
    giveMemory(rounded);
    return nullptr;
  }
  start = offset;
  size = rounded - offset;
  // This is advice: without huge pages the block has pages of 4 KiB.
  if (unit == hugePage)
    (void)::madvise(memory.get(), static_cast<size_t>(rounded), MADV_HUGEPAGE);
  return data();
}

int64_t adrt::elementSize(int32_t type) {
  static constexpr int8_t sizes[] = {8, 4, 2, 2, 1, 1, 1, 1, 4, 8};
  return type >= ADRT_F64 && type <= ADRT_I64 ? sizes[type] : 0;
}

const char *adrt::typeName(int32_t type) {
  static constexpr const char *names[] = {"f64",    "f32", "f16", "bf16", "f8E4M3FN",
                                          "f8E5M2", "i1",  "i8",  "i32",  "i64"};
  return type >= ADRT_F64 && type <= ADRT_I64 ? names[type] : "unknown";
}

int64_t adrt::byteSize(int32_t type, int32_t rank, const int64_t *shape) {
  int64_t bytes = elementSize(type);
  if (bytes == 0 || rank < 0)
    return -1;
  bool empty = false;
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 0)
      return -1;
    if (shape[axis] == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, shape[axis], &bytes))
      return -1;
  }
  return empty ? 0 : bytes;
}
