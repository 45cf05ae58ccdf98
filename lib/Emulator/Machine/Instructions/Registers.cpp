/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   wgmma.fence, the accumulators of wgmma, and setmaxnreg, by the rules of the PTX ISA. */
#include "Registers.h"
#include "../Functions.h"
#include "../Synchronization/Rendezvous.h"

#include <algorithm>

using namespace adsim;

namespace {

Accumulators &accumulatorsOf(Thread &self, uint32_t number) {
  for (Accumulators &known : self.wgmma.accumulators)
    if (known.number == number)
      return known;
  self.wgmma.accumulators.emplace_back();
  self.wgmma.accumulators.back().number = number;
  return self.wgmma.accumulators.back();
}

/// The registers of one SM. One CTA may use all of them.
constexpr uint32_t registersPerSM = 64 * 1024, maxRegisters = 255, registerStep = 8;

} // namespace

bool adsim::useAccumulators(Thread &self, uint32_t number, uint32_t shape, uint32_t site) {
  WgmmaState &state = self.wgmma;
  Accumulators &own = accumulatorsOf(self, number);
  bool otherShape = own.group && own.shape != shape;
  if (state.fences == own.accessFence) {
    self.worker->fail(Failure::RegisterMisuse, self, site,
                      own.accessSite == noSite
                          ? "wgmma without a wgmma.fence before it"
                          : "wgmma without a wgmma.fence after the last access to its accumulators",
                      own.accessSite, own.accessSite == noSite ? "" : "the access is");
    return false;
  }
  if (otherShape && state.fences == own.fence) {
    self.worker->fail(Failure::RegisterMisuse, self, site,
                      "wgmma without a wgmma.fence after one of another shape with the same accumulators",
                      own.productSite, "the other one is");
    return false;
  }
  own.group = state.committed + 1;
  own.shape = shape;
  own.fence = state.fences;
  own.productSite = site;
  return true;
}

uint32_t adsim::launchRegisters(const LaunchState &state) {
  if (state.code.registers)
    return state.code.registers;
  uint32_t limit = std::min(registersPerSM / std::max(state.blockThreads, 1u), maxRegisters);
  return limit / registerStep * registerStep;
}

void adsim_wgmma_fence(Thread *self, uint32_t) { ++self->wgmma.fences; }

void adsim_accumulators(Thread *self, uint32_t number, uint32_t writes, uint32_t site) {
  Worker &worker = *self->worker;
  if (!worker.races)
    return;
  Accumulators &own = accumulatorsOf(*self, number);
  if (own.group > self->wgmma.retired) {
    worker.fail(Failure::RegisterMisuse, *self, site,
                std::string(writes ? "write to" : "read of") +
                    " accumulators of a wgmma in flight; wgmma.wait_group has to come first",
                own.productSite, "the wgmma is");
    worker.leave(*self);
  }
  own.accessFence = self->wgmma.fences;
  own.accessSite = site;
}

/// Changes the register count of a whole warp. An increase waits until other warps have released enough.
static void setRegisters(Thread &self, const Rendezvous &warp, uint32_t count, bool increases,
                         uint32_t site) {
  Worker &worker = *self.worker;
  Cta &cta = *self.cta;
  uint32_t before = self.registerCount;
  uint64_t lanes = warp.members.size();
  // Without nvvm.maxnreg, ptxas may have assigned fewer registers than the maximum.
  bool mayHaveFewer = !worker.state.code.registers && !self.hasSetRegisters;
  if (increases ? count < before && !mayHaveFewer : count > before) {
    worker.fail(Failure::RegisterMisuse, self, site,
                std::string("setmaxnreg.") + (increases ? "inc" : "dec") + " to " + std::to_string(count) +
                    " registers in a thread that has " + std::to_string(before));
    return;
  }
  while (count > before && cta.freeRegisters < lanes * (count - before) && !worker.failed) {
    cta.registerWaiters.push_back(&self);
    worker.block(self, "registers of other warps", site, count);
  }
  cta.freeRegisters += lanes * before - lanes * count; // modulo 2^64
  for (Thread *member : warp.members) {
    member->registerCount = count;
    member->hasSetRegisters = true;
  }
  for (Thread *waiter : cta.registerWaiters)
    worker.makeReady(*waiter);
  cta.registerWaiters.clear();
}

void adsim_set_max_registers(Thread *self, uint32_t count, uint32_t increases, uint32_t site) {
  collective(*self, self->warp->lanes & ~self->warp->exited, "setmaxnreg", site, nullptr, nullptr,
             [&](const Rendezvous &warp) { setRegisters(*self, warp, count, increases, site); });
}
