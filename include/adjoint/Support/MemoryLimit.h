/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   How much memory the tensors of this process may have together. Linux grants more than there is, and kills the
   process when it uses it; with a limit the program that needs too much ends with an error. */
#ifndef ADJOINT_SUPPORT_MEMORYLIMIT_H
#define ADJOINT_SUPPORT_MEMORYLIMIT_H

#include <cstdint>
#include <string>

namespace adrt {

/// Bytes of all Buffers together. Until it is set, the limit is the memory of the machine, or of its container (MemoryCount.h). Thread-safe.
void setMemoryLimit(int64_t bytes);
int64_t getMemoryLimit();
/// Bytes that Buffers have.
int64_t getMemoryInUse();

/// Counts memory of a Buffer; false if it would exceed the limit. Thread-safe.
bool takeMemory(int64_t bytes);
void giveMemory(int64_t bytes);

/// Why `bytes` more bytes were refused: "4096 bytes; 100 of 2000 bytes are in use".
std::string describeLackOfMemory(int64_t bytes);

} // namespace adrt

#endif // ADJOINT_SUPPORT_MEMORYLIMIT_H
