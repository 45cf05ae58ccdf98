/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Named barriers of a CTA, and the barrier of the cluster. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_BARRIERS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_BARRIERS_H

namespace adsim {

struct Thread;

/// Completes the barriers that have only waited for `self`, which has left the kernel.
void completeBarriersAfterExit(Thread &self);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_BARRIERS_H
