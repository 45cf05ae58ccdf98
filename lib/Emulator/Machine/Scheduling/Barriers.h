/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   What barriers and meetings of warps share. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_BARRIERS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_BARRIERS_H

#include "../Memory/Access.h"

namespace adsim {

/// Completes barriers that only waited for threads that have left.
void barriersAfterExit(Thread &self);

/// Waits until all threads of `meeting` that are left have come, with one operand and one result each. True
/// for the one that has to do the work, which then calls `dismiss`.
bool meet(Thread &self, Meeting &meeting, uint32_t index, const char *what, uint32_t site, void *input,
          void *output);
void dismiss(Thread &self, Meeting &meeting);
/// The meeting of the lanes in `mask`.
Meeting &warpMeeting(Thread &self, uint32_t mask, const char *what, uint32_t site);

/// A collective of the lanes in `mask`: the last lane calls `perform(meeting)` for all.
template <typename Perform>
void collective(Thread &self, uint32_t mask, const char *what, uint32_t site, void *input, void *output,
                const Perform &perform) {
  Meeting &meeting = warpMeeting(self, mask, what, site);
  if (!meet(self, meeting, self.lane, what, site, input, output))
    return;
  perform(meeting);
  if (self.worker->failed)
    self.worker->leave(self);
  dismiss(self, meeting);
}

/// What the threads of a gather know becomes known to all of them.
struct Exchange {
  ClockGather seen, fenced;
  Foreign foreign;
  void add(const Thread &thread);
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_SCHEDULING_BARRIERS_H
