/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   cp.async: copies of up to 16 bytes, in groups that their thread waits for. In the lazy schedule a copy
   lands when its thread waits for it. */
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Synchronization/MBarriers.h"

#include <algorithm>
#include <cstring>

using namespace adsim;

namespace {

uint64_t offsetIn(const Cta &cta, const char *pointer) { return static_cast<uint64_t>(pointer - cta.shared); }

void land(Thread &self, CpAsyncCopy &copy) {
  if (copy.landed)
    return;
  copy.landed = true;
  std::memcpy(copy.destination, copy.source, copy.sourceBytes);
  std::memset(copy.destination + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
  self.cta->written.set(offsetIn(*self.cta, copy.destination), copy.bytes);
}

/// The thread has waited for the copies: their records become accesses of the thread.
void complete(Thread &self, std::vector<CpAsyncCopy> &copies) {
  Worker &worker = *self.worker;
  for (CpAsyncCopy &copy : copies) {
    land(self, copy);
    if (!worker.races)
      continue;
    Record write = makeRecord(Accessor(self, copy.site, RecordWrite));
    completeShared(*self.cta, offsetIn(*self.cta, copy.destination), copy.bytes, copy.number, write);
    if (copy.sourceBytes)
      completeGlobal(worker, copy.source, copy.sourceBytes, copy.number,
                     makeRecord(Accessor(self, copy.site, 0)));
  }
}

bool check(Thread &self, const CpAsyncCopy &copy) {
  Worker &worker = *self.worker;
  uint64_t from = reinterpret_cast<uint64_t>(copy.source), to = reinterpret_cast<uint64_t>(copy.destination);
  if (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16)
    worker.fail(Failure::InvalidInstruction, self, copy.site,
                "cp.async of " + std::to_string(copy.bytes) + " bytes, expected 4, 8 or 16");
  else if (copy.sourceBytes > copy.bytes)
    worker.fail(Failure::InvalidInstruction, self, copy.site,
                "cp.async reads " + std::to_string(copy.sourceBytes) + " bytes for a copy of " +
                    std::to_string(copy.bytes));
  else if (from % copy.bytes || to % copy.bytes)
    worker.fail(Failure::Misaligned, self, copy.site,
                std::string("cp.async ") + (to % copy.bytes ? "to shared" : "from global") + " memory at " +
                    std::to_string((to % copy.bytes ? to : from) % copy.bytes) + " beyond a multiple of " +
                    std::to_string(copy.bytes));
  return !worker.failed;
}

} // namespace

void adsim_cp_async(Thread *self, char *destination, const char *source, uint32_t bytes, uint32_t sourceBytes,
                    uint32_t site) {
  Worker &worker = *self->worker;
  CpAsyncCopy copy{destination, source, bytes, sourceBytes, site, worker.nextCopy++, false};
  ++worker.statistics.asyncCopies;
  Accessor writes(*self, site, RecordWrite | RecordPending, copy.number),
      reads(*self, site, RecordPending, copy.number);
  if (!check(*self, copy) || !accessShared(*self->cta, offsetIn(*self->cta, destination), bytes, writes) ||
      (sourceBytes && !accessGlobal(source, sourceBytes, reads)))
    worker.leave(*self);
  if (worker.traffic.isEnabled()) {
    auto lanes = static_cast<uint32_t>(__builtin_popcount(self->warp->lanes));
    worker.traffic.add(self->slot / warpLanes, self->lane, lanes, site, reinterpret_cast<uint64_t>(source),
                       bytes,
                       /*shared=*/false);
    worker.traffic.add(self->slot / warpLanes, self->lane, lanes, site,
                       reinterpret_cast<uint64_t>(destination), bytes,
                       /*shared=*/true);
  }
  Schedule schedule = worker.state.launch.schedule;
  if (schedule == Schedule::Eager || (schedule == Schedule::Shuffled && worker.random.below(2)))
    land(*self, copy);
  self->openCpAsync.push_back(copy);
}

void adsim_cp_async_commit(Thread *self, uint32_t) {
  self->cpAsyncGroups.push_back(std::move(self->openCpAsync));
  self->openCpAsync.clear();
}

void adsim_cp_async_wait(Thread *self, uint32_t count, uint32_t) {
  std::vector<std::vector<CpAsyncCopy>> &groups = self->cpAsyncGroups;
  if (groups.size() <= count)
    return;
  auto done = groups.begin() + static_cast<ptrdiff_t>(groups.size() - count);
  std::for_each(groups.begin(), done, [&](std::vector<CpAsyncCopy> &group) { complete(*self, group); });
  groups.erase(groups.begin(), done);
}

void adsim_cp_async_arrive(Thread *self, const void *pointer, uint32_t noIncrement, uint32_t site) {
  MBarrier *barrier = findMBarrier(*self, pointer, "arrives at", site);
  if (!barrier)
    self->worker->leave(*self);
  adsim_cp_async_commit(self, site);
  adsim_cp_async_wait(self, 0, site);
  if (!noIncrement)
    ++barrier->pendingCount;
  if (!arrive(*self, *barrier, 1, MBarrierScope::Cta, site))
    self->worker->leave(*self);
}
