/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The checks of every access to memory, by any instruction: bounds, unwritten bytes, races. All functions
   return false after a failure, which the worker has recorded. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_ACCESS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_ACCESS_H

#include "../State/Worker.h"

namespace adsim {

/// One access: the thread, the clocks of the accesses that happened before it, the site and the kind of
/// access.
struct Accessor {
  Thread *thread;
  const ThreadClock *genericClock, *asyncClock;
  uint32_t site;
  uint8_t flags = 0;   ///< RecordFlags
  uint32_t number = 0; ///< of a copy in flight

  Accessor(Thread &thread, uint32_t site, unsigned flags, uint32_t number = 0)
      : thread(&thread), genericClock(&thread.genericClock), asyncClock(&thread.asyncClock), site(site),
        flags(static_cast<uint8_t>(flags)), number(number) {}
  bool writes() const { return flags & RecordWrite; }
};

/// Checks bounds, unwritten bytes (for reads) and races. A write marks its bytes as written unless its copy
/// is in flight.
bool accessShared(Cta &cta, uint64_t offset, uint64_t bytes, const Accessor &by);
bool accessGlobal(const void *pointer, uint64_t bytes, const Accessor &by);
/// Checks only the bounds.
bool checkGlobalBounds(const void *pointer, uint64_t bytes, const Accessor &by);
/// Replaces the pending records of copy `number` by `record`.
void completeShared(Cta &cta, uint64_t offset, uint64_t bytes, uint32_t number, const Record &record);
void completeGlobal(Worker &worker, const void *pointer, uint64_t bytes, uint32_t number,
                    const Record &record);
/// The shadow record of the access.
Record makeRecord(const Accessor &by);

/// The CTA whose shared memory contains the operand `pointer` of an instruction. Null after a failure.
Cta *requireShared(Thread &self, const void *pointer, const char *what, uint32_t site,
                   bool wholeCluster = false);

/// Checks that the CTA still runs: its shared memory ends with its last thread. False after a failure.
bool requireRunning(Thread &self, const Cta &cta, const char *what, uint32_t site);

/// The CTA and the thread of a record, for messages.
std::string describeOwner(const Worker &worker, const Record &record);
std::string sharedAddress(const Cta &cta, uint64_t offset);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_ACCESS_H
