/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The functions that emulated kernels call, one for each kind of instruction. The first argument is the
   running thread, and the last argument is the site of the instruction. The arguments in between are the
   operands of the instruction, in their order. Enumerators are passed as the numbers of Abi.h. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_FUNCTIONS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_FUNCTIONS_H

#include <cstdint>

namespace adsim {
struct Thread;
} // namespace adsim

extern "C" {

// Instructions/Accesses.cpp, Memory/MemoryOrder.cpp
adsim::Thread *adsim_self();
void adsim_access(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site);
void adsim_access_masked(adsim::Thread *, const char *pointer, uint64_t mask, uint32_t elementBytes,
                         uint32_t flags, uint32_t site);
void adsim_access_range(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site);
void adsim_atomic(adsim::Thread *, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site);
void adsim_fence(adsim::Thread *, uint32_t kind, uint32_t site);
void adsim_divisor(adsim::Thread *, uint32_t zero, uint32_t site);
void adsim_trap(adsim::Thread *, uint32_t site);

// Synchronization/Barriers.cpp
uint32_t adsim_barrier(adsim::Thread *, uint32_t id, uint32_t threads, uint32_t reduction, uint32_t predicate,
                       uint32_t site);
void adsim_barrier_arrive(adsim::Thread *, uint32_t id, uint32_t threads, uint32_t site);
void adsim_cluster_arrive(adsim::Thread *, uint32_t relaxed, uint32_t site);
void adsim_cluster_wait(adsim::Thread *, uint32_t site);

// Instructions/Warps.cpp
uint32_t adsim_shuffle(adsim::Thread *, uint32_t mask, uint32_t value, uint32_t offset, uint32_t clamp,
                       uint32_t kind, uint32_t *valid, uint32_t site);
uint32_t adsim_vote(adsim::Thread *, uint32_t mask, uint32_t predicate, uint32_t kind, uint32_t site);
uint32_t adsim_match(adsim::Thread *, uint32_t mask, uint64_t value, uint32_t all, uint32_t *equal,
                     uint32_t site);
uint32_t adsim_redux(adsim::Thread *, uint32_t mask, uint32_t value, uint32_t kind, uint32_t absolute,
                     uint32_t nan, uint32_t site);
uint32_t adsim_elect(adsim::Thread *, uint32_t mask, uint32_t site);
void adsim_warp_sync(adsim::Thread *, uint32_t mask, uint32_t site);

// Synchronization/MBarriers.cpp
void adsim_mbarrier_init(adsim::Thread *, const void *pointer, uint32_t count, uint32_t predicate,
                         uint32_t site);
void adsim_mbarrier_inval(adsim::Thread *, const void *pointer, uint32_t site);
void adsim_mbarrier_expect(adsim::Thread *, const void *pointer, uint32_t bytes, uint32_t site);
void adsim_mbarrier_complete(adsim::Thread *, const void *pointer, uint32_t bytes, uint32_t site);
uint64_t adsim_mbarrier_arrive(adsim::Thread *, const void *pointer, uint32_t count, uint32_t bytes,
                               uint32_t drop, uint32_t scope, uint32_t predicate, uint32_t site);
uint32_t adsim_mbarrier_wait(adsim::Thread *, const void *pointer, uint64_t phase, uint32_t byParity,
                             uint32_t kind, uint32_t scope, uint32_t site);

// Copies/CpAsync.cpp
void adsim_cp_async(adsim::Thread *, char *destination, const char *source, uint32_t bytes,
                    uint32_t sourceBytes, uint32_t site);
void adsim_cp_async_commit(adsim::Thread *, uint32_t site);
void adsim_cp_async_wait(adsim::Thread *, uint32_t count, uint32_t site);
void adsim_cp_async_arrive(adsim::Thread *, const void *pointer, uint32_t noIncrement, uint32_t site);

// Copies/BulkCopies.cpp
void adsim_tensor_load(adsim::Thread *, char *shared, const void *map, const char *mbarrier,
                       const int32_t *coordinates, uint32_t rank, uint32_t mask, uint32_t predicate,
                       uint32_t site);
void adsim_tensor_store(adsim::Thread *, const void *map, char *shared, const int32_t *coordinates,
                        uint32_t rank, uint32_t predicate, uint32_t site);
void adsim_bulk_load(adsim::Thread *, char *shared, char *global, const char *mbarrier, uint32_t bytes,
                     uint32_t mask, uint32_t site);
void adsim_bulk_store(adsim::Thread *, char *global, char *shared, uint32_t bytes, uint32_t site);
void adsim_bulk_shared(adsim::Thread *, char *target, char *source, const char *mbarrier, uint32_t bytes,
                       uint32_t site);
void adsim_bulk_commit(adsim::Thread *, uint32_t site);
void adsim_bulk_wait(adsim::Thread *, uint32_t count, uint32_t readOnly, uint32_t site);

// Instructions/Matrices.cpp, Instructions/Wgmma.cpp
void adsim_ldmatrix(adsim::Thread *, const char *row, uint32_t *out, uint32_t count, uint32_t transposed,
                    uint32_t site);
void adsim_stmatrix(adsim::Thread *, char *row, uint32_t *in, uint32_t count, uint32_t transposed,
                    uint32_t site);
void adsim_mma(adsim::Thread *, uint32_t *in, uint32_t *out, uint32_t shape, uint32_t kinds, uint32_t site);
void adsim_wgmma(adsim::Thread *, uint32_t *accumulators, uint32_t *registersA, uint64_t descriptorA,
                 uint64_t descriptorB, uint32_t columns, uint32_t kinds, uint32_t flags,
                 uint32_t accumulatorsNumber, uint32_t site);
void adsim_wgmma_commit(adsim::Thread *, uint32_t site);
void adsim_wgmma_wait(adsim::Thread *, uint32_t count, uint32_t site);

// Instructions/Registers.cpp
void adsim_wgmma_fence(adsim::Thread *, uint32_t site);
void adsim_accumulators(adsim::Thread *, uint32_t number, uint32_t writes, uint32_t site);
void adsim_set_max_registers(adsim::Thread *, uint32_t count, uint32_t increases, uint32_t site);

// Instructions/Scalars.cpp
float adsim_ex2_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_lg2_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_rcp_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_rsqrt_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_sqrt_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_sin_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_cos_approx(adsim::Thread *, float value, uint32_t ftz);
float adsim_tanh_approx(adsim::Thread *, float value, uint32_t ftz);
uint32_t adsim_to_tf32(adsim::Thread *, float value, uint32_t even);
#if defined(__FLT16_MAX__)
_Float16 adsim_narrow_f32(float value);
_Float16 adsim_narrow_f64(double value);
float adsim_widen_f16(_Float16 value);
#endif
char *adsim_mapa(adsim::Thread *, char *pointer, uint32_t rank, uint32_t site);

} // extern "C"

#endif // ADJOINT_LIB_EMULATOR_MACHINE_FUNCTIONS_H
