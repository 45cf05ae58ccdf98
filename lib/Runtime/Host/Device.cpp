/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The clock of devices that have none of their own. */
#include "adjoint/Runtime/Host/Device.h"

using namespace adrt;

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
