/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The functions that emulated kernels call. The first argument is the running thread, the last one the site
   of the instruction; what stands between follows the instruction's operands. Numbers are those of Abi.h. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_FUNCTIONS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_FUNCTIONS_H

#include "State.h"

namespace adsim {
void synchronizeAtomic(Thread &self, const void *pointer, uint32_t flags);
} // namespace adsim

extern "C" {

// Memory.cpp, Synchronize.cpp
adsim::Thread *adsim_self();
void adsim_access(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site);
void adsim_access_masked(adsim::Thread *, const char *pointer, uint64_t mask, uint32_t elementBytes,
                         uint32_t flags, uint32_t site);
void adsim_access_range(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site);
void adsim_atomic(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site);
void adsim_fence(adsim::Thread *, uint32_t kind, uint32_t site);
void adsim_divisor(adsim::Thread *, uint32_t zero, uint32_t site);
void adsim_trap(adsim::Thread *, uint32_t site);

// Barriers.cpp
uint32_t adsim_barrier(adsim::Thread *, uint32_t id, uint32_t threads, uint32_t reduction, uint32_t predicate,
                       uint32_t site);
void adsim_barrier_arrive(adsim::Thread *, uint32_t id, uint32_t threads, uint32_t site);
void adsim_cluster_arrive(adsim::Thread *, uint32_t relaxed, uint32_t site);
void adsim_cluster_wait(adsim::Thread *, uint32_t site);

// Warps.cpp
uint32_t adsim_shuffle(adsim::Thread *, uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp,
                       uint32_t kind, uint32_t *valid, uint32_t site);
uint32_t adsim_vote(adsim::Thread *, uint32_t mask, uint32_t predicate, uint32_t kind, uint32_t site);
uint32_t adsim_match(adsim::Thread *, uint32_t mask, uint64_t value, uint32_t all, uint32_t *equal,
                     uint32_t site);
uint32_t adsim_redux(adsim::Thread *, uint32_t mask, uint32_t value, uint32_t kind, uint32_t absolute,
                     uint32_t nan, uint32_t site);
uint32_t adsim_elect(adsim::Thread *, uint32_t mask, uint32_t site);
void adsim_warp_sync(adsim::Thread *, uint32_t mask, uint32_t site);

} // extern "C"

#endif // ADJOINT_LIB_EMULATOR_MACHINE_FUNCTIONS_H
