/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The rules of wgmma.fence, wgmma.wait_group and setmaxnreg for registers, as the PTX ISA has them. */
#include "Registers.h"
#include "../Scheduling/Barriers.h"
#include "Functions.h"

#include <algorithm>

using namespace adsim;

void WgmmaState::wait(uint32_t count) { retired = std::max(retired, committed - std::min(committed, count)); }

namespace {

Accumulators &accumulatorsOf(Thread &self, uint32_t number) {
  for (Accumulators &known : self.wgmma.accumulators)
    if (known.number == number)
      return known;
  self.wgmma.accumulators.emplace_back();
  self.wgmma.accumulators.back().number = number;
  return self.wgmma.accumulators.back();
}

/// The registers of one SM, which a CTA of the largest size may have to itself.
constexpr uint32_t registersOfMachine = 64 * 1024, mostRegisters = 255, registerStep = 8;

} // namespace

bool adsim::useAccumulators(Thread &self, uint32_t number, uint32_t shape, uint32_t site) {
  WgmmaState &state = self.wgmma;
  Accumulators &own = accumulatorsOf(self, number);
  bool otherShape = own.group && own.shape != shape;
  if (state.fences == own.accessFence) {
    self.worker->fail(Failure::RegisterMisuse, self, site,
                      own.accessSite == noSite
                          ? "wgmma without a wgmma.fence before it"
                          : "wgmma without a wgmma.fence behind the last access to its accumulators",
                      own.accessSite, own.accessSite == noSite ? "" : "the access stands");
    return false;
  }
  if (otherShape && state.fences == own.fence) {
    self.worker->fail(Failure::RegisterMisuse, self, site,
                      "wgmma without a wgmma.fence behind one of another shape with the same accumulators",
                      own.productSite, "the other one stands");
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
  uint32_t most = std::min(registersOfMachine / std::max(state.blockThreads, 1u), mostRegisters);
  return most / registerStep * registerStep;
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
                own.productSite, "the wgmma stands");
    worker.leave(*self);
  }
  own.accessFence = self->wgmma.fences;
  own.accessSite = site;
}

/// Changes the registers of a whole warp; an increase waits until others have given up enough.
static void setRegisters(Thread &self, const Meeting &warp, uint32_t count, bool increases, uint32_t site) {
  Worker &worker = *self.worker;
  Cta &cta = *self.cta;
  uint32_t before = self.registerCount;
  uint64_t lanes = warp.members.size();
  // The assembler may have given less to the kernel than fits, unless the kernel says how much.
  bool mayHaveFewer = !worker.state.code.registers && !self.hasSetRegisters;
  if (increases ? count < before && !mayHaveFewer : count > before) {
    worker.fail(Failure::RegisterMisuse, self, site,
                std::string("setmaxnreg.") + (increases ? "inc" : "dec") + " to " + std::to_string(count) +
                    " registers in a thread that has " + std::to_string(before));
    return;
  }
  while (count > before && cta.freeRegisters < lanes * (count - before) && !worker.failed) {
    cta.registerWaiters.push_back(&self);
    worker.block(self, "registers of others", site, count);
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
             [&](const Meeting &warp) { setRegisters(*self, warp, count, increases, site); });
}
