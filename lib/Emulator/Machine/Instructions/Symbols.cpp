/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The symbol table that emulated kernels are linked against. */
#include "../Functions.h"
#include "adjoint/Emulator/Machine.h"

using namespace adsim;

namespace {
template <typename Function> void *address(Function *function) { return reinterpret_cast<void *>(function); }
} // namespace

#define ADSIM_SYMBOL(name) {#name, address(name)}

static const adrt::Symbol symbols[] = {
    ADSIM_SYMBOL(adsim_self),
    ADSIM_SYMBOL(adsim_access),
    ADSIM_SYMBOL(adsim_access_masked),
    ADSIM_SYMBOL(adsim_access_range),
    ADSIM_SYMBOL(adsim_atomic),
    ADSIM_SYMBOL(adsim_fence),
    ADSIM_SYMBOL(adsim_divisor),
    ADSIM_SYMBOL(adsim_trap),
    ADSIM_SYMBOL(adsim_barrier),
    ADSIM_SYMBOL(adsim_barrier_arrive),
    ADSIM_SYMBOL(adsim_cluster_arrive),
    ADSIM_SYMBOL(adsim_cluster_wait),
    ADSIM_SYMBOL(adsim_shuffle),
    ADSIM_SYMBOL(adsim_vote),
    ADSIM_SYMBOL(adsim_match),
    ADSIM_SYMBOL(adsim_redux),
    ADSIM_SYMBOL(adsim_elect),
    ADSIM_SYMBOL(adsim_warp_sync),
    ADSIM_SYMBOL(adsim_mbarrier_init),
    ADSIM_SYMBOL(adsim_mbarrier_inval),
    ADSIM_SYMBOL(adsim_mbarrier_expect),
    ADSIM_SYMBOL(adsim_mbarrier_complete),
    ADSIM_SYMBOL(adsim_mbarrier_arrive),
    ADSIM_SYMBOL(adsim_mbarrier_wait),
    ADSIM_SYMBOL(adsim_cp_async),
    ADSIM_SYMBOL(adsim_cp_async_commit),
    ADSIM_SYMBOL(adsim_cp_async_wait),
    ADSIM_SYMBOL(adsim_cp_async_arrive),
    ADSIM_SYMBOL(adsim_tensor_load),
    ADSIM_SYMBOL(adsim_tensor_store),
    ADSIM_SYMBOL(adsim_bulk_load),
    ADSIM_SYMBOL(adsim_bulk_store),
    ADSIM_SYMBOL(adsim_bulk_shared),
    ADSIM_SYMBOL(adsim_bulk_commit),
    ADSIM_SYMBOL(adsim_bulk_wait),
    ADSIM_SYMBOL(adsim_ldmatrix),
    ADSIM_SYMBOL(adsim_stmatrix),
    ADSIM_SYMBOL(adsim_mma),
    ADSIM_SYMBOL(adsim_wgmma),
    ADSIM_SYMBOL(adsim_wgmma_commit),
    ADSIM_SYMBOL(adsim_wgmma_wait),
    ADSIM_SYMBOL(adsim_wgmma_fence),
    ADSIM_SYMBOL(adsim_accumulators),
    ADSIM_SYMBOL(adsim_set_max_registers),
    ADSIM_SYMBOL(adsim_ex2_approx),
    ADSIM_SYMBOL(adsim_lg2_approx),
    ADSIM_SYMBOL(adsim_rcp_approx),
    ADSIM_SYMBOL(adsim_rsqrt_approx),
    ADSIM_SYMBOL(adsim_sqrt_approx),
    ADSIM_SYMBOL(adsim_sin_approx),
    ADSIM_SYMBOL(adsim_cos_approx),
    ADSIM_SYMBOL(adsim_tanh_approx),
    ADSIM_SYMBOL(adsim_to_tf32),
    ADSIM_SYMBOL(adsim_mapa),
#if defined(__FLT16_MAX__)
    {"__truncsfhf2", address(adsim_narrow_f32)},
    {"__truncdfhf2", address(adsim_narrow_f64)},
    {"__extendhfsf2", address(adsim_widen_f16)},
#endif
};

adrt::SymbolTable adsim::getSymbols() { return {symbols, sizeof(symbols) / sizeof(symbols[0])}; }
