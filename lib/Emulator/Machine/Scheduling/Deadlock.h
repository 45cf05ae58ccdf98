/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Threads that leave the kernel, and deadlocks. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_DEADLOCK_H
#define ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_DEADLOCK_H

#include "../State/Worker.h"

namespace adsim {

struct Deadlock {
  Failure failure = Failure::Deadlock;
  const Thread *thread = nullptr; ///< one of the waiting threads
  std::string text;
  uint32_t otherSite = noSite;
  std::string otherText;
};

/// What the threads wait for, when none can continue.
Deadlock explainDeadlock(const Worker &worker);

/// Called when a thread has left the kernel: barriers no longer wait for it.
void exitThread(Thread &self);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_DEADLOCK_H
