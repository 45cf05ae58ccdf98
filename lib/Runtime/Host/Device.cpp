/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The error of a lack of memory, the clock of devices that have none of their own, and counts of copies. */
#include "adjoint/Runtime/Host/Device.h"

#include <atomic>

using namespace adrt;

static std::atomic<uint64_t> copiesToDevice{0}, copiesToHost{0};

TransferCounts adrt::getTransferCounts() { return {copiesToDevice, copiesToHost}; }
void adrt::countCopyToDevice() { ++copiesToDevice; }
void adrt::countCopyToHost() { ++copiesToHost; }

static Outcome lackOfMemory(const std::string &wanted, const MemoryCount &memory) {
  std::string there = memory.text();
  return Outcome::failed(wanted + (there.empty() ? "" : ": ") + there);
}

Outcome Streams::explainHostFailure(const std::string &purpose) const {
  return lackOfMemory("there is not enough memory for " + purpose, countHostMemory());
}

Outcome Device::explainFailure(const std::string &purpose) const {
  return lackOfMemory("the device has not enough memory for " + purpose, countMemory());
}

Outcome Device::startClock() {
  Outcome outcome = synchronize();
  clockStart = std::chrono::steady_clock::now();
  return outcome;
}

Outcome Device::stopClock(double &seconds) {
  Outcome outcome = synchronize();
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - clockStart).count();
  return outcome;
}
