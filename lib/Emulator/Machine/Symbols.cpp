/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The table that emulated kernels are linked against. */
#include "Functions.h"

using namespace adsim;

namespace {
template <typename Function> void *address(Function *function) { return reinterpret_cast<void *>(function); }
} // namespace

#define ADSIM_SYMBOL(name) {#name, address(name)}

adrt::SymbolTable adsim::getSymbols() {
  static const adrt::Symbol symbols[] = {
      ADSIM_SYMBOL(adsim_self),           ADSIM_SYMBOL(adsim_access),
      ADSIM_SYMBOL(adsim_access_masked),  ADSIM_SYMBOL(adsim_access_range),
      ADSIM_SYMBOL(adsim_atomic),         ADSIM_SYMBOL(adsim_fence),
      ADSIM_SYMBOL(adsim_divisor),        ADSIM_SYMBOL(adsim_trap),
      ADSIM_SYMBOL(adsim_barrier),        ADSIM_SYMBOL(adsim_barrier_arrive),
      ADSIM_SYMBOL(adsim_cluster_arrive), ADSIM_SYMBOL(adsim_cluster_wait),
      ADSIM_SYMBOL(adsim_shuffle),        ADSIM_SYMBOL(adsim_vote),
      ADSIM_SYMBOL(adsim_match),          ADSIM_SYMBOL(adsim_redux),
      ADSIM_SYMBOL(adsim_elect),          ADSIM_SYMBOL(adsim_warp_sync),
  };
  return {symbols, sizeof(symbols) / sizeof(symbols[0])};
}
