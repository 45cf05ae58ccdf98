/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Warp-synchronous and warpgroup-synchronous instructions: each thread arrives with its operands, and the
   last one executes the instruction for all. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_RENDEZVOUS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_RENDEZVOUS_H

#include "../State/Worker.h"

namespace adsim {

/// Arrives, and waits until all threads that have not left the kernel have arrived. True for the thread that
/// has to execute the instruction; it calls `finishRendezvous` afterwards.
bool joinRendezvous(Thread &self, Rendezvous &rendezvous, uint32_t index, const char *what, uint32_t site,
                    void *input, void *output);
void finishRendezvous(Thread &self, Rendezvous &rendezvous);
/// The rendezvous of the lanes in `mask`.
Rendezvous &warpRendezvous(Thread &self, uint32_t mask, const char *what, uint32_t site);

/// A warp-synchronous instruction of the lanes in `mask`: the last lane calls `perform(rendezvous)` for all.
template <typename Perform>
void collective(Thread &self, uint32_t mask, const char *what, uint32_t site, void *input, void *output,
                const Perform &perform) {
  Rendezvous &rendezvous = warpRendezvous(self, mask, what, site);
  if (!joinRendezvous(self, rendezvous, self.lane, what, site, input, output))
    return;
  perform(rendezvous);
  if (self.worker->failed)
    self.worker->leave(self);
  finishRendezvous(self, rendezvous);
}

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_SYNCHRONIZATION_RENDEZVOUS_H
