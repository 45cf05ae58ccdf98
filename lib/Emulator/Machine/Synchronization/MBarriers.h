/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The operations of mbarriers that asynchronous copies use. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_MBARRIERS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_MBARRIERS_H

#include "../State/Worker.h"

namespace adsim {

/// The mbarrier at `pointer` in shared memory of the cluster; null after a failure.
MBarrier *findMBarrier(Thread &self, const void *pointer, const char *what, uint32_t site);
/// `bytes` of a copy have landed: decreases the transaction count, which may complete the phase.
void completeTransactions(Worker &worker, MBarrier &barrier, uint32_t bytes);
/// `count` arrivals of `self`. False after a failure.
bool arrive(Thread &self, MBarrier &barrier, uint32_t count, MBarrierScope scope, uint32_t site);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_MBARRIERS_H
