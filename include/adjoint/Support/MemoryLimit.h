/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How much memory the tensors of this process may have together. Linux grants more than there is, and kills
   the process when it uses it; with a limit the program that needs too much ends with an error. */
#ifndef ADJOINT_SUPPORT_MEMORYLIMIT_H
#define ADJOINT_SUPPORT_MEMORYLIMIT_H

#include "adjoint/Support/MemoryCount.h"

#include <cstdint>
#include <string>

namespace adrt {

/// The limit in bytes. 0, as at the start, is none but the memory that the machine or its container has free
/// (MemoryCount.h). All functions are thread-safe.
void setMemoryLimit(int64_t bytes);
/// The memory that tensors may still have, and its limit.
MemoryCount countTensorMemory();
/// Whether as many more bytes may be taken.
bool fitsMemory(int64_t bytes);

/// Counts memory of a tensor; false if there is not as much.
bool takeMemory(int64_t bytes);
void giveMemory(int64_t bytes);

/// Of bytes that were refused: "4096 bytes; 100 of 2000 bytes are free".
std::string describeLackOfMemory(int64_t bytes);

} // namespace adrt

#endif // ADJOINT_SUPPORT_MEMORYLIMIT_H
