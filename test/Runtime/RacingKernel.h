// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A kernel of the emulated GPU whose threads all write the word that its argument points to. It records the
// order in which its threads run.
#ifndef ADJOINT_TEST_RUNTIME_RACINGKERNEL_H
#define ADJOINT_TEST_RUNTIME_RACINGKERNEL_H

#include "../../lib/Emulator/Abi.h"
#include "adjoint/Emulator/Machine.h"

#include <vector>

namespace adsim {
struct Thread;
} // namespace adsim
extern "C" adsim::Thread *adsim_self();
extern "C" void adsim_access(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags,
                             uint32_t site);

namespace unit {

inline std::vector<uint32_t> threadsInOrder;

inline void writeSameWord(void **arguments) {
  adsim::Thread *self = adsim_self();
  threadsInOrder.push_back(reinterpret_cast<const uint32_t *>(self)[adsim::TidX]);
  adsim_access(self, *static_cast<void **>(arguments[0]), 4, adsim::AccessGlobal | adsim::AccessWrite, 0);
}

inline adsim::KernelCode racingKernel() {
  adsim::KernelCode code = {};
  code.name = code.kind = "racing";
  code.argumentCount = 1;
  code.entry = writeSameWord;
  return code;
}

} // namespace unit

#endif // ADJOINT_TEST_RUNTIME_RACINGKERNEL_H
