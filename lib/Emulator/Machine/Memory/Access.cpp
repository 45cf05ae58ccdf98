/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Bounds, unwritten bytes and races. */
#include "Access.h"

#include <algorithm>

using namespace adsim;

namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string describeAccess(uint8_t flags) {
  std::string text = flags & RecordAsync ? "asynchronous " : "";
  text += flags & RecordAtomic ? "atomic " : "";
  return text + (flags & RecordWrite ? "write" : "read");
}

std::string triple(uint64_t x, uint64_t y, uint64_t z) {
  return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
}

/// Walks the words of a range with the mask of the bytes in each.
template <typename Visit> bool forWords(uint64_t begin, uint64_t bytes, const Visit &visit) {
  uint64_t end = begin + bytes;
  for (uint64_t word = begin & ~uint64_t(3); word < end; word += 4) {
    unsigned mask = 0xf;
    if (word < begin)
      mask &= 0xfu << (begin - word);
    if (word + 4 > end)
      mask &= 0xfu >> (word + 4 - end);
    if (!visit(word, static_cast<uint8_t>(mask & 0xf)))
      return false;
  }
  return true;
}

/// Whether an earlier access happened before the access `by`.
struct Ordered {
  const Accessor &by;
  uint32_t cluster;

  /// An asynchronous write also follows asynchronous operations that an mbarrier has reported as complete.
  bool isComplete(const Record &old) const {
    constexpr unsigned asyncWrite = RecordAsync | RecordWrite;
    return old.is(RecordAsync) && (by.flags & asyncWrite) == asyncWrite &&
           by.thread->completed.at(old.slot) >= old.tick;
  }

  bool operator()(const Record &old) const {
    if (old.is(RecordPending))
      return false;
    if (old.cluster == cluster)
      return by.genericClock->covers(by.thread->slot, old.slot, old.tick) || isComplete(old);
    if (!by.thread->clusterClocks)
      return false;
    auto found = by.thread->clusterClocks->find(old.cluster);
    return found != by.thread->clusterClocks->end() && found->second.at(old.slot) >= old.tick;
  }
};

void reportRace(const Accessor &by, const Record &old, const std::string &where) {
  Worker &worker = *by.thread->worker;
  std::string what = describeAccess(by.flags) + " of " + where;
  what +=
      old.is(RecordPending)
          ? " while an asynchronous " + std::string(old.is(RecordWrite) ? "write" : "read") + " is in flight"
          : " is not ordered after a" + std::string(old.flags & (RecordAsync | RecordAtomic) ? "n " : " ") +
                describeAccess(old.flags);
  worker.fail(Failure::Race, *by.thread, by.site, what, old.site,
              "the other access, by " + describeOwner(worker, old) + ", is");
}

void reportFence(const Accessor &by, const Record &old, const std::string &where) {
  Worker &worker = *by.thread->worker;
  worker.fail(Failure::MissingProxyFence, *by.thread, by.site,
              "the asynchronous proxy reads " + where +
                  ", written by the generic proxy without a fence.proxy.async in between",
              old.site, "the write, by " + describeOwner(worker, old) + ", is");
}

template <typename Where>
bool enterAccess(ShadowWord &word, Record record, const Accessor &by, const Where &where) {
  uint32_t cluster = record.cluster;
  if (const Record *old = word.access(record, Ordered{by, cluster})) {
    reportRace(by, *old, where());
    return false;
  }
  if (!record.is(RecordAsync) || record.is(RecordWrite))
    return true;
  auto unfenced = [&](const Record &old) {
    return !old.is(RecordAsync) && old.cluster == cluster &&
           !by.asyncClock->covers(by.thread->slot, old.slot, old.tick);
  };
  if (const Record *old = word.findWrite(record.mask, unfenced)) {
    reportFence(by, *old, where());
    return false;
  }
  return true;
}

} // namespace

std::string adsim::describeOwner(const Worker &worker, const Record &record) {
  const LaunchState &state = worker.state;
  const Dim3 &clusters = state.clusters, &cluster = state.cluster, &block = state.launch.block;
  uint64_t number = record.cluster, rank = record.thread / state.blockThreads,
           tid = record.thread % state.blockThreads;
  uint64_t x = number % clusters.x * cluster.x + rank % cluster.x;
  uint64_t y = number / clusters.x % clusters.y * cluster.y + rank / cluster.x % cluster.y;
  uint64_t z = number / clusters.x / clusters.y * cluster.z + rank / cluster.x / cluster.y;
  return "CTA " + triple(x, y, z) + ", thread " +
         triple(tid % block.x, tid / block.x % block.y, tid / block.x / block.y);
}

std::string adsim::sharedAddress(const Cta &cta, uint64_t offset) {
  return "shared memory at " + std::to_string(offset) +
         (cta.rank ? " of CTA rank " + std::to_string(cta.rank) : "");
}

Record adsim::makeRecord(const Accessor &by) {
  const Thread &thread = *by.thread;
  Record record;
  record.cluster = static_cast<uint32_t>(thread.worker->clusterNumber);
  record.slot = record.thread = thread.slot;
  record.tick = by.flags & RecordPending ? by.number : by.genericClock->own;
  record.site = by.site;
  record.flags = by.flags;
  return record;
}

static bool checkSharedBounds(Cta &cta, uint64_t offset, uint64_t bytes, const Accessor &by) {
  Worker &worker = *by.thread->worker;
  if (offset + bytes <= worker.state.sharedBytes && offset + bytes >= offset)
    return true;
  auto signedOffset = static_cast<int64_t>(offset);
  worker.fail(Failure::OutOfBounds, *by.thread, by.site,
              describeAccess(by.flags) + " of " + std::to_string(bytes) + " bytes of " +
                  sharedAddress(cta, signedOffset < 0 ? 0 : offset) +
                  (signedOffset < 0 ? " (" + std::to_string(signedOffset) + ")" : "") + ", which has " +
                  std::to_string(worker.state.sharedBytes) + " bytes");
  return false;
}

static bool writeShared(Cta &cta, uint64_t offset, uint64_t bytes, const Accessor &by) {
  if (!cta.mbarriers.empty() && cta.barrierBytes.any(offset, bytes)) {
    by.thread->worker->fail(Failure::MBarrierMisuse, *by.thread, by.site,
                            describeAccess(by.flags) + " of " + sharedAddress(cta, offset) +
                                ", which holds an mbarrier");
    return false;
  }
  if (!(by.flags & RecordPending))
    cta.written.set(offset, bytes);
  // Threads may write tiles in any layout.
  for (uint64_t chunk = offset / 16; !cta.tileSwizzles.empty() && chunk <= (offset + bytes - 1) / 16; ++chunk)
    cta.tileSwizzles[chunk] = 0;
  return true;
}

bool adsim::accessShared(Cta &cta, uint64_t offset, uint64_t bytes, const Accessor &by) {
  Worker &worker = *by.thread->worker;
  if (!checkSharedBounds(cta, offset, bytes, by))
    return false;
  if (worker.races) {
    Record record = makeRecord(by);
    bool fine = forWords(offset, bytes, [&](uint64_t word, uint8_t mask) {
      record.mask = mask;
      return enterAccess(cta.shadow[word / 4], record, by, [&] { return sharedAddress(cta, word); });
    });
    if (!fine)
      return false;
  }
  if (by.writes())
    return writeShared(cta, offset, bytes, by);
  if (cta.written.all(offset, bytes))
    return true;
  uint64_t missing = cta.written.firstMissing(offset, bytes);
  worker.fail(Failure::UnwrittenRead, *by.thread, by.site,
              std::string("nothing has been written to ") + sharedAddress(cta, missing) + ", which is read");
  return false;
}

bool adsim::checkGlobalBounds(const void *pointer, uint64_t bytes, const Accessor &by) {
  Worker &worker = *by.thread->worker;
  auto distance = [&](const MemoryRange &range) {
    return static_cast<uint64_t>(static_cast<const char *>(pointer) - static_cast<const char *>(range.base));
  };
  auto inside = [&](const MemoryRange &range) {
    return distance(range) < range.bytes && bytes <= range.bytes - distance(range);
  };
  auto allows = [&](const MemoryRange &range) { return inside(range) && (range.writable || !by.writes()); };
  if (worker.lastRange && allows(*worker.lastRange))
    return true;
  const std::vector<MemoryRange> &ranges = worker.state.ranges;
  auto next =
      std::upper_bound(ranges.begin(), ranges.end(), pointer, [](const void *at, const MemoryRange &range) {
        return std::less<>()(at, range.base);
      });
  const MemoryRange *nearest = next == ranges.begin() ? nullptr : &*std::prev(next);
  bool readOnly = false;
  while (next != ranges.begin()) { // ranges may overlap
    --next;
    readOnly |= inside(*next);
    if (!allows(*next))
      continue;
    worker.lastRange = &*next;
    return true;
  }
  if (readOnly) {
    worker.fail(Failure::OutOfBounds, *by.thread, by.site, "write of a buffer that may only be read");
    return false;
  }
  std::string near = nearest ? ", " + std::to_string(distance(*nearest)) +
                                   " bytes after the start of a buffer of " + std::to_string(nearest->bytes)
                             : "";
  worker.fail(Failure::OutOfBounds, *by.thread, by.site,
              describeAccess(by.flags) + " of " + std::to_string(bytes) + " bytes of global memory at " +
                  hex(reinterpret_cast<uint64_t>(pointer)) + near);
  return false;
}

bool adsim::accessGlobal(const void *pointer, uint64_t bytes, const Accessor &by) {
  if (!checkGlobalBounds(pointer, bytes, by))
    return false;
  Worker &worker = *by.thread->worker;
  if (!worker.races)
    return true;
  Record record = makeRecord(by);
  return forWords(reinterpret_cast<uint64_t>(pointer), bytes, [&](uint64_t word, uint8_t mask) {
    record.mask = mask;
    return enterAccess(worker.globalShadow.word(word), record, by, [&] {
      const auto *base = static_cast<const char *>(worker.lastRange->base);
      return "global memory, byte " + std::to_string(word - reinterpret_cast<uint64_t>(base)) +
             " of a buffer of " + std::to_string(worker.lastRange->bytes) + ",";
    });
  });
}

void adsim::completeShared(Cta &cta, uint64_t offset, uint64_t bytes, uint32_t number, const Record &record) {
  forWords(offset, bytes, [&](uint64_t word, uint8_t) {
    cta.shadow[word / 4].complete(number, record);
    return true;
  });
}

void adsim::completeGlobal(Worker &worker, const void *pointer, uint64_t bytes, uint32_t number,
                           const Record &record) {
  forWords(reinterpret_cast<uint64_t>(pointer), bytes, [&](uint64_t word, uint8_t) {
    worker.globalShadow.word(word).complete(number, record);
    return true;
  });
}

bool adsim::requireRunning(Thread &self, const Cta &cta, const char *what, uint32_t site) {
  if (!cta.live)
    self.worker->fail(Failure::OutOfBounds, self, site,
                      std::string(what) + " is in shared memory of rank " + std::to_string(cta.rank) +
                          " of the cluster, whose threads have left the kernel");
  return cta.live != 0;
}

Cta *adsim::requireShared(Thread &self, const void *pointer, const char *what, uint32_t site,
                          bool wholeCluster) {
  Cta *cta = ctaOf(*self.worker, pointer);
  if (cta && (wholeCluster || cta == self.cta))
    return requireRunning(self, *cta, what, site) ? cta : nullptr;
  self.worker->fail(Failure::OutOfBounds, self, site,
                    std::string(what) + " is not in shared memory of the " +
                        (wholeCluster ? "cluster" : "CTA"));
  return nullptr;
}
