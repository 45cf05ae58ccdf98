/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The checks before each load, store and atomic, and before integer divisions and traps. */
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Memory/MemoryOrder.h"

using namespace adsim;

namespace {

void reportMisaligned(Thread &self, const void *pointer, uint64_t bytes, uint64_t alignment, uint32_t flags,
                      uint32_t site) {
  uint64_t over = reinterpret_cast<uint64_t>(pointer) % alignment;
  self.worker->fail(Failure::Misaligned, self, site,
                    std::string(flags & AccessWrite ? "write" : "read") + " of " + std::to_string(bytes) +
                        " bytes at an address that is " + std::to_string(over) + " beyond a multiple of " +
                        std::to_string(alignment));
}

unsigned recordFlags(uint32_t flags) {
  return (flags & AccessWrite ? RecordWrite : 0u) | (flags & AccessAtomic ? RecordAtomic : 0u);
}

/// The memory that a pointer refers to; a null CTA means global memory.
struct Target {
  bool local = false;
  Cta *cta = nullptr;
};

bool findTarget(Thread &self, const void *pointer, uint32_t flags, uint32_t site, Target &target) {
  Worker &worker = *self.worker;
  switch (flags & accessSpaceMask) {
  case AccessShared:
    target.cta = self.cta; // accessShared checks the distance
    return true;
  case AccessCluster:
    target.cta = requireShared(self, pointer, "the address", site, /*wholeCluster=*/true);
    return target.cta;
  case AccessGeneric:
    target.cta = ctaOf(worker, pointer);
    target.local = !target.cta && worker.ownsStack(self, pointer);
    return true;
  default:
    return true;
  }
}

bool access(Thread &self, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site) {
  Worker &worker = *self.worker;
  constexpr uint64_t pollEvery = 1 << 16;
  if (++worker.accesses % pollEvery == 0 && worker.poll(self))
    return false;
  uint64_t alignment = uint64_t(1) << (flags >> accessAlignShift);
  if (reinterpret_cast<uint64_t>(pointer) & (alignment - 1)) {
    reportMisaligned(self, pointer, bytes, alignment, flags, site);
    return false;
  }
  Target target;
  if (!findTarget(self, pointer, flags, site, target))
    return false;
  if (target.local)
    return true;
  if (worker.traffic.isEnabled() && !(flags & AccessAtomic))
    worker.traffic.add(self.slot / warpLanes, self.lane,
                       static_cast<uint32_t>(__builtin_popcount(self.warp->lanes)), site,
                       reinterpret_cast<uint64_t>(pointer), static_cast<uint32_t>(bytes), target.cta);
  Accessor by(self, site, recordFlags(flags));
  if (!target.cta)
    return accessGlobal(pointer, bytes, by);
  return accessShared(
      *target.cta, static_cast<uint64_t>(static_cast<const char *>(pointer) - target.cta->shared), bytes, by);
}

} // namespace

void adsim_access(Thread *self, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site) {
  ++(flags & AccessWrite ? self->worker->statistics.stores : self->worker->statistics.loads);
  if (!access(*self, pointer, bytes, flags, site))
    self->worker->leave(*self);
}

void adsim_access_masked(Thread *self, const char *pointer, uint64_t mask, uint32_t elementBytes,
                         uint32_t flags, uint32_t site) {
  ++(flags & AccessWrite ? self->worker->statistics.stores : self->worker->statistics.loads);
  for (; mask; mask &= mask - 1)
    if (!access(*self, pointer + static_cast<size_t>(__builtin_ctzll(mask)) * elementBytes, elementBytes,
                flags, site))
      self->worker->leave(*self);
}

void adsim_access_range(Thread *self, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site) {
  if (bytes && !access(*self, pointer, bytes, flags, site))
    self->worker->leave(*self);
}

void adsim_atomic(Thread *self, const void *pointer, uint64_t bytes, uint32_t flags, uint32_t site) {
  Worker &worker = *self->worker;
  ++worker.statistics.atomics;
  // A thread that spins on a variable has to let other threads run.
  if (worker.statistics.atomics % 64 == 0) {
    worker.makeReady(*self);
    worker.block(*self, "an atomic variable", site);
  }
  if (!access(*self, pointer, bytes, flags, site))
    worker.leave(*self);
  if (worker.races)
    synchronizeAtomic(*self, pointer, flags);
}

void adsim_divisor(Thread *self, uint32_t zero, uint32_t site) {
  if (!zero)
    return;
  self->worker->fail(Failure::DivisionByZero, *self, site,
                     "the divisor of integers is zero, or the quotient overflows");
  self->worker->leave(*self);
}

void adsim_trap(Thread *self, uint32_t site) {
  self->worker->fail(Failure::Trap, *self, site, "the kernel stopped itself");
  self->worker->leave(*self);
}

Thread *adsim_self() { return &currentThread(); }
