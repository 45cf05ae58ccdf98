/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   The checks that every access to memory passes, whoever makes it: bounds, unwritten bytes, races. All return
   false after a failure, which the worker has recorded. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_ACCESS_H
#define ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_ACCESS_H

#include "../State.h"

namespace adsim {

/// Who accesses, and what is known to have happened before.
struct Accessor {
  Thread *thread;
  const Knowledge *seen, *fenced;
  uint32_t site;
  uint8_t flags = 0;   ///< RecordFlags
  uint32_t number = 0; ///< of a pending copy

  Accessor(Thread &thread, uint32_t site, unsigned flags, uint32_t number = 0)
      : thread(&thread), seen(&thread.seen), fenced(&thread.fenced), site(site),
        flags(static_cast<uint8_t>(flags)), number(number) {}
  bool writes() const { return flags & RecordWrite; }
};

/// Bounds, unwritten bytes (for reads), races. A write marks its bytes as written unless it is pending.
bool accessShared(Cta &cta, uint64_t offset, uint64_t bytes, const Accessor &by);
bool accessGlobal(const void *pointer, uint64_t bytes, const Accessor &by);
/// Only that global memory may be touched there.
bool checkGlobalBounds(const void *pointer, uint64_t bytes, const Accessor &by);
/// The pending records of copy `number` become those of `slot` at `tick`.
void completeShared(Cta &cta, uint64_t offset, uint64_t bytes, uint32_t number, const Record &record);
void completeGlobal(Worker &worker, const void *pointer, uint64_t bytes, uint32_t number,
                    const Record &record);
/// A record of what `by` does now.
Record makeRecord(const Accessor &by);

/// A pointer that must be to shared memory of this CTA; for operands of instructions. Null after a failure.
Cta *requireShared(Thread &self, const void *pointer, const char *what, uint32_t site,
                   bool wholeCluster = false);

/// Shared memory goes with the CTA's last thread. False after a failure.
bool requireRunning(Thread &self, const Cta &cta, const char *what, uint32_t site);

/// Knowledge passes from one thread to others.
void release(Thread &self);
void acquire(Thread &self, const Clock &seen, const Clock &fenced, const Foreign &foreign);
Foreign joinForeign(const Foreign &a, const Foreign &b);
/// What `number` of the grid's clusters is, for messages.
std::string describeOwner(const Worker &worker, const Record &record);
std::string sharedAddress(const Cta &cta, uint64_t offset);

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_MEMORY_ACCESS_H
