/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The end of a thread and the end of progress. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_DEADLOCK_H
#define ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_DEADLOCK_H

#include "../State.h"

namespace adsim {

struct Deadlock {
  Failure failure = Failure::Deadlock;
  const Thread *thread = nullptr; ///< one of those that wait
  std::string text;
  uint32_t otherSite = noSite;
  std::string otherText;
};

/// Who waits for what, when nobody can go on.
Deadlock explainDeadlock(const Worker &worker);

/// A thread has left the kernel: barriers count on it no more.
void exitThread(Thread &self);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_DEADLOCK_H
