/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Arriving at warp-synchronous and warpgroup-synchronous instructions. */
#include "Rendezvous.h"

using namespace adsim;

Rendezvous &adsim::warpRendezvous(Thread &self, uint32_t mask, const char *what, uint32_t site) {
  Worker &worker = *self.worker;
  if (!(mask >> self.lane & 1)) {
    worker.fail(Failure::Divergence, self, site,
                std::string(what) + " by lane " + std::to_string(self.lane) + ", which its mask leaves out");
    worker.leave(self);
  }
  Rendezvous *free = nullptr;
  for (const auto &rendezvous : self.warp->rendezvousPoints) {
    if (rendezvous->present ? rendezvous->mask == mask : rendezvous->mask == mask || !free)
      free = rendezvous.get();
    if (rendezvous->present && rendezvous->mask == mask)
      return *rendezvous;
    if (rendezvous->present & mask) {
      worker.fail(Failure::Divergence, self, site,
                  std::string(what) + " with another mask than that of other lanes", rendezvous->site,
                  "they wait");
      worker.leave(self);
    }
  }
  if (!free || free->present) {
    self.warp->rendezvousPoints.push_back(std::make_unique<Rendezvous>());
    free = self.warp->rendezvousPoints.back().get();
  }
  free->mask = mask;
  return *free;
}

static bool allPresent(const Thread &self, const Rendezvous &rendezvous) {
  if (!rendezvous.mask)
    return rendezvous.members.size() == warpgroupThreads;
  uint32_t needed = rendezvous.mask & self.warp->lanes & ~self.warp->exited;
  return (needed & ~rendezvous.present) == 0;
}

bool adsim::joinRendezvous(Thread &self, Rendezvous &rendezvous, uint32_t index, const char *what,
                           uint32_t site, void *input, void *output) {
  Worker &worker = *self.worker;
  if (!rendezvous.members.empty() && rendezvous.site != site) {
    worker.fail(Failure::Divergence, self, site,
                std::string(what) + " while other lanes are at another instruction", rendezvous.site,
                "they wait");
    worker.leave(self);
  }
  rendezvous.site = site;
  rendezvous.inputs[index] = input;
  rendezvous.outputs[index] = output;
  rendezvous.members.push_back(&self);
  if (rendezvous.mask)
    rendezvous.present |= 1u << index;
  uint32_t generation = rendezvous.generation;
  while (!allPresent(self, rendezvous)) {
    worker.block(self, what, site, 0, /*ofWarp=*/true);
    if (rendezvous.generation != generation)
      return false;
  }
  return true;
}

void adsim::finishRendezvous(Thread &self, Rendezvous &rendezvous) {
  for (Thread *member : rendezvous.members)
    if (member != &self)
      self.worker->makeReady(*member);
  rendezvous.members.clear();
  rendezvous.present = 0;
  ++rendezvous.generation;
}
