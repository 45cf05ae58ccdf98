/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Shadow memory: the last accesses to each word. A record is kept while a later access can still race with
   it. Each record has a mask of bytes, since adjacent threads write halves of one word. */
#ifndef ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_SHADOWMEMORY_H
#define ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_SHADOWMEMORY_H

#include "VectorClock.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace adsim {

enum RecordFlags : uint8_t {
  RecordWrite = 1,
  RecordAtomic = 2,
  RecordPending = 4, ///< of an asynchronous copy that no thread has waited for; `tick` is its number
  RecordAsync = 8,   ///< by the asynchronous proxy
};

/// One access to bytes of a word.
struct Record {
  uint32_t cluster = 0; ///< ordinal in the grid
  uint32_t slot = 0;
  uint32_t tick = 0;
  uint32_t site = 0;
  uint32_t thread = 0; ///< number in the cluster of the thread that issued it
  uint8_t mask = 0;    ///< of bytes; 0: no record
  uint8_t flags = 0;

  bool is(RecordFlags flag) const { return flags & flag; }
};

/// The records of one word.
class ShadowWord {
public:
  /// The first record that `record` races with. If there is none, `record` is stored and the result is null.
  template <typename After> const Record *access(const Record &record, const After &after);
  /// Replaces the pending records of copy `number` by `record`, with their bytes.
  void complete(uint32_t number, const Record &record);
  /// The first write under `mask` for which `wanted` holds.
  template <typename Wanted> const Record *findWrite(uint8_t mask, const Wanted &wanted) const;

private:
  struct Spill {
    std::vector<Record> writes, reads;
    size_t pruneAt = 16;
  };
  static bool conflicts(const Record &old, const Record &record) {
    return (old.mask & record.mask) && ((old.flags | record.flags) & RecordWrite) &&
           !(old.is(RecordAtomic) && record.is(RecordAtomic));
  }
  void enterWrite(const Record &record);
  template <typename After> void enterRead(const Record &record, const After &after);
  Spill &spilled() {
    if (!spill)
      spill = std::make_unique<Spill>();
    return *spill;
  }

  Record write, read;
  std::unique_ptr<Spill> spill;
};

template <typename After> const Record *ShadowWord::access(const Record &record, const After &after) {
  if (conflicts(write, record) && !after(write))
    return &write;
  if (spill)
    for (const Record &old : spill->writes)
      if (conflicts(old, record) && !after(old))
        return &old;
  if (!record.is(RecordWrite)) {
    enterRead(record, after);
    return nullptr;
  }
  if (conflicts(read, record) && !after(read))
    return &read;
  if (spill)
    for (const Record &old : spill->reads)
      if (conflicts(old, record) && !after(old))
        return &old;
  enterWrite(record);
  return nullptr;
}

template <typename After> void ShadowWord::enterRead(const Record &record, const After &after) {
  auto replaces = [&](const Record &old) {
    return (old.mask & ~record.mask) == 0 && !old.is(RecordPending) &&
           old.is(RecordAtomic) == record.is(RecordAtomic) && after(old);
  };
  if (!read.mask || replaces(read)) {
    read = record;
    return;
  }
  Spill &more = spilled();
  if (!more.reads.empty() && replaces(more.reads.back())) {
    more.reads.back() = record;
    return;
  }
  if (more.reads.size() >= more.pruneAt) {
    size_t kept = 0;
    for (const Record &old : more.reads)
      if (!replaces(old))
        more.reads[kept++] = old;
    more.reads.resize(kept);
    more.pruneAt = 2 * kept + 16;
  }
  more.reads.push_back(record);
}

template <typename Wanted> const Record *ShadowWord::findWrite(uint8_t mask, const Wanted &wanted) const {
  if ((write.mask & mask) && wanted(write))
    return &write;
  if (spill)
    for (const Record &old : spill->writes)
      if ((old.mask & mask) && wanted(old))
        return &old;
  return nullptr;
}

/// The words of global memory that a launch has accessed, in pages.
class GlobalShadow {
public:
  ShadowWord &word(uint64_t address);
  void clear() {
    pages.clear();
    lastPage = nullptr;
  }

private:
  static constexpr uint64_t pageWords = 256;
  struct Page {
    ShadowWord words[pageWords];
  };
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  uint64_t lastNumber = 0;
  Page *lastPage = nullptr;
};

/// Which bytes of shared memory have been written.
class WrittenBytes {
public:
  void reset(uint64_t bytes) { bits.assign((bytes + 63) / 64 + 1, 0); }
  void set(uint64_t offset, uint64_t bytes);
  void clear(uint64_t offset, uint64_t bytes);
  bool all(uint64_t offset, uint64_t bytes) const {
    uint64_t low = offset & 63;
    if (low + bytes <= 64)
      return ((~bits[offset >> 6] >> low) & lowMask(bytes)) == 0;
    return allSlow(offset, bytes);
  }
  bool any(uint64_t offset, uint64_t bytes) const;
  /// The first byte of the range that is not written.
  uint64_t firstMissing(uint64_t offset, uint64_t bytes) const;

private:
  static uint64_t lowMask(uint64_t bytes) { return bytes >= 64 ? ~uint64_t(0) : (uint64_t(1) << bytes) - 1; }
  bool allSlow(uint64_t offset, uint64_t bytes) const;
  std::vector<uint64_t> bits;
};

} // namespace adsim

#endif // ADJOINT_LIB_EMULATOR_MACHINE_CHECKS_SHADOWMEMORY_H
