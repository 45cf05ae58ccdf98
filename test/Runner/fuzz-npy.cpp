// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The libFuzzer entry of the .npy reader: any bytes give a header or an error with a message.
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Npy.h"

#include <cstdint>
#include <cstdlib>

using namespace mlir::ad::runner;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::Expected<NpyHeader> header = parseNpy({reinterpret_cast<const char *>(data), size});
  if (!header) {
    auto [code, message] = consumeExitError(header.takeError());
    if (code != ExitUsage || message.empty())
      std::abort();
    return 0;
  }
  // The bytes that the header announces can be read; a stream may end within a value.
  if (header->dataOffset + static_cast<uint64_t>(header->dataBytes + header->partialBytes) != size)
    std::abort();
  return 0;
}
