/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   cp.async.bulk and cp.async.bulk.tensor: contiguous bytes and tiles of tensors, which the asynchronous proxy
   copies between global and shared memory. A load completes transactions of an mbarrier. A store belongs to a
   bulk group of its thread. */
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Memory/MemoryOrder.h"
#include "../Numbers.h"
#include "../Synchronization/MBarriers.h"

#include <algorithm>
#include <cstring>

using namespace adsim;

namespace {

uint64_t offsetIn(const Cta &cta, const char *pointer) { return static_cast<uint64_t>(pointer - cta.shared); }

/// The part of one row of a tile that is inside the tensor.
struct Row {
  char *global;        ///< address of the first element inside
  uint32_t first;      ///< byte offset of that element in the row
  uint32_t bytes;      ///< 0: the whole row is outside
  uint32_t tileOffset; ///< of the row
};

template <typename Visit> bool forRows(const BulkCopy &copy, const Visit &visit) {
  const TensorMap &map = copy.map;
  if (!copy.tiled)
    return visit(Row{copy.global, 0, copy.bytes, 0});
  uint32_t rowBytes = map.rowBytes(), rows = copy.bytes / rowBytes;
  int64_t begin = std::max<int64_t>(0, -static_cast<int64_t>(copy.coordinates[0]));
  int64_t end = std::min<int64_t>(map.box[0], static_cast<int64_t>(map.sizes[0]) - copy.coordinates[0]);
  for (uint32_t row = 0; row < rows; ++row) {
    bool inside = begin < end;
    char *at = map.base + (copy.coordinates[0] + begin) * map.elementBytes;
    uint32_t rest = row;
    for (uint32_t axis = 1; axis < map.rank; ++axis) {
      int64_t index = copy.coordinates[axis] + static_cast<int64_t>(rest % map.box[axis]);
      rest /= map.box[axis];
      inside &= index >= 0 && static_cast<uint64_t>(index) < map.sizes[axis];
      at += index * static_cast<int64_t>(map.strides[axis]);
    }
    auto bytes = static_cast<uint32_t>(inside ? (end - begin) * map.elementBytes : 0);
    if (!visit(Row{at, static_cast<uint32_t>(begin * map.elementBytes), bytes, row * rowBytes}))
      return false;
  }
  return true;
}

void roundToTF32(char *words, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += sizeof(uint32_t)) {
    uint32_t bits;
    std::memcpy(&bits, words + at, sizeof(bits));
    bits = toTF32(bits);
    std::memcpy(words + at, &bits, sizeof(bits));
  }
}

/// Copies a row between global memory and its swizzled chunks in shared memory.
void moveRow(const BulkCopy &copy, const Row &row) {
  constexpr uint32_t chunkBytes = 16;
  for (uint32_t done = 0; done < row.bytes;) {
    uint32_t at = row.first + done, step = std::min(row.bytes - done, chunkBytes - at % chunkBytes);
    char *shared = reinterpret_cast<char *>(
        swizzle(reinterpret_cast<uint64_t>(copy.shared + row.tileOffset + at), copy.map.swizzleBytes));
    if (copy.toGlobal)
      std::memcpy(row.global + done, shared, step);
    else
      std::memcpy(shared, row.global + done, step);
    if (copy.map.tf32)
      roundToTF32(shared, step);
    done += step;
  }
}

void moveBytes(const BulkCopy &copy) {
  if (copy.from) {
    std::memcpy(copy.shared, copy.from, copy.bytes);
  } else if (!copy.tiled) {
    std::memcpy(copy.toGlobal ? copy.global : copy.shared, copy.toGlobal ? copy.shared : copy.global,
                copy.bytes);
  } else {
    if (!copy.toGlobal) // elements outside the tensor are zero
      std::memset(copy.shared, 0, copy.bytes);
    forRows(copy, [&](const Row &row) {
      moveRow(copy, row);
      return true;
    });
  }
}

bool forGlobal(const BulkCopy &copy, const Accessor &by) {
  return forRows(copy, [&](const Row &row) { return !row.bytes || accessGlobal(row.global, row.bytes, by); });
}

/// Checks source and target, and stores pending records for both.
bool enter(BulkCopy &copy) {
  Thread &self = *copy.issuer;
  unsigned common = RecordAsync | RecordPending;
  Accessor reads(self, copy.site, common, copy.number),
      writes(self, copy.site, common | RecordWrite, copy.number);
  uint64_t offset = offsetIn(*copy.target, copy.shared);
  if (copy.from)
    return accessShared(*self.cta, offsetIn(*self.cta, copy.from), copy.bytes, reads) &&
           accessShared(*copy.target, offset, copy.bytes, writes);
  if (copy.toGlobal)
    return accessShared(*copy.target, offset, copy.bytes, reads) && forGlobal(copy, writes);
  return forGlobal(copy, reads) && accessShared(*copy.target, offset, copy.bytes, writes);
}

void completeLoad(Worker &worker, const BulkCopy &copy) {
  // A thread that waits for the phase of the mbarrier is ordered after the copy.
  Record record = makeRecord(Accessor(*copy.issuer, copy.site, RecordAsync | RecordWrite));
  record.slot = copy.barrier->slot;
  record.tick = copy.barrier->phase + 1;
  completeShared(*copy.target, offsetIn(*copy.target, copy.shared), copy.bytes, copy.number, record);
  record.flags = RecordAsync;
  if (copy.from) {
    completeShared(*copy.issuer->cta, offsetIn(*copy.issuer->cta, copy.from), copy.bytes, copy.number,
                   record);
    return;
  }
  forRows(copy, [&](const Row &row) {
    if (row.bytes)
      completeGlobal(worker, row.global, row.bytes, copy.number, record);
    return true;
  });
}

void completeStore(Worker &worker, const BulkCopy &copy, bool readOnly) {
  Thread &self = *copy.issuer;
  Record record = makeRecord(Accessor(self, copy.site, RecordAsync));
  completeShared(*copy.target, offsetIn(*copy.target, copy.shared), copy.bytes, copy.number, record);
  if (readOnly)
    return;
  record.flags = RecordAsync | RecordWrite;
  forRows(copy, [&](const Row &row) {
    if (row.bytes)
      completeGlobal(worker, row.global, row.bytes, copy.number, record);
    return true;
  });
}

/// Records the swizzle of a tile, which `wgmma` compares with that of its descriptor.
void noteSwizzle(const Worker &worker, const BulkCopy &copy) {
  constexpr uint64_t chunkBytes = 16;
  std::vector<uint8_t> &swizzles = copy.target->tileSwizzles;
  if (swizzles.empty())
    swizzles.resize(worker.state.sharedBytes / chunkBytes + 1);
  auto first = swizzles.begin() + static_cast<ptrdiff_t>(offsetIn(*copy.target, copy.shared) / chunkBytes);
  auto value = static_cast<uint8_t>(copy.tiled ? copy.map.swizzleBytes + 1 : 0);
  std::fill_n(first, copy.bytes / chunkBytes, value);
}

void land(Worker &worker, BulkCopy &copy) {
  if (copy.landed)
    return;
  copy.landed = true;
  moveBytes(copy);
  if (copy.toGlobal)
    return;
  copy.target->written.set(offsetIn(*copy.target, copy.shared), copy.bytes);
  noteSwizzle(worker, copy);
  if (worker.races)
    completeLoad(worker, copy);
  completeTransactions(worker, *copy.barrier, copy.bytes);
}

/// Starts a checked copy.
void submit(Thread &self, const std::shared_ptr<BulkCopy> &copy) {
  Worker &worker = *self.worker;
  ++worker.statistics.bulkCopies;
  worker.statistics.bulkBytes += copy->bytes;
  copy->number = worker.nextCopy++;
  if (!enter(*copy))
    return;
  if (worker.races)
    release(self); // later accesses of this thread are not ordered before the copy
  if (copy->toGlobal)
    self.openBulkStores.push_back(copy);
  if (worker.state.launch.schedule == Schedule::Eager)
    land(worker, *copy);
  else
    worker.bulkQueue.push_back(copy);
}

bool require(Thread &self, bool condition, uint32_t site, const std::string &what) {
  if (!condition)
    self.worker->fail(Failure::InvalidInstruction, self, site, what);
  return condition;
}

bool requireAligned(Thread &self, const void *pointer, uint64_t alignment, uint32_t site, const char *what) {
  uint64_t over = reinterpret_cast<uint64_t>(pointer) % alignment;
  if (over)
    self.worker->fail(Failure::Misaligned, self, site,
                      std::string(what) + " is " + std::to_string(over) + " beyond a multiple of " +
                          std::to_string(alignment));
  return !over;
}

bool readMap(Thread &self, const void *pointer, uint32_t rank, uint32_t site, TensorMap &map) {
  std::memcpy(static_cast<void *>(&map), pointer, sizeof(map));
  return require(self, map.magic == TensorMap::expectedMagic, site,
                 "the operand is no tensor map of the emulator") &&
         require(self, map.rank == rank, site,
                 std::to_string(rank) + " coordinates for a tensor of rank " + std::to_string(map.rank));
}

std::shared_ptr<BulkCopy> makeCopy(Thread &self, char *shared, uint32_t bytes, uint32_t site) {
  auto copy = std::make_shared<BulkCopy>();
  copy->issuer = &self;
  copy->shared = shared;
  copy->bytes = bytes;
  copy->site = site;
  copy->target = requireShared(self, shared, "the tile", site, /*wholeCluster=*/true);
  return copy->target ? copy : nullptr;
}

/// Counts the sectors of global memory that a copy accesses, and the minimum for its bytes. A multicast load
/// reads its sectors once.
void countTraffic(Worker &worker, const BulkCopy &copy) {
  constexpr uint64_t sectorBytes = 32;
  if (!worker.traffic.isEnabled() || copy.from)
    return;
  uint64_t sectors = 0, bytes = 0;
  forRows(copy, [&](const Row &row) {
    auto first = reinterpret_cast<uint64_t>(row.global);
    sectors += row.bytes ? (first + row.bytes - 1) / sectorBytes - first / sectorBytes + 1 : 0;
    bytes += row.bytes;
    return true;
  });
  worker.traffic.addRequest(copy.site, /*shared=*/false, static_cast<uint32_t>(sectors),
                            static_cast<uint32_t>((bytes + sectorBytes - 1) / sectorBytes));
}

/// Starts a load into one CTA, or with a multicast mask to the same offset in several CTAs.
void submitLoad(Thread &self, const BulkCopy &pattern, const char *mbarrier, uint32_t mask) {
  Worker &worker = *self.worker;
  uint64_t shared = offsetIn(*pattern.target, pattern.shared);
  uint32_t ranks = mask ? mask : 1u << pattern.target->rank;
  countTraffic(worker, pattern);
  for (uint32_t rank = 0; ranks && !worker.failed; ++rank, ranks >>= 1) {
    if (!(ranks & 1))
      continue;
    if (!require(self, rank < worker.ctas.size(), pattern.site,
                 "multicast to a CTA that the cluster does not have"))
      return;
    auto copy = std::make_shared<BulkCopy>(pattern);
    copy->target = &worker.ctas[rank];
    if (!requireRunning(self, *copy->target, "the tile", pattern.site))
      return;
    copy->shared = copy->target->shared + shared;
    const char *at = mask ? copy->target->shared + offsetIn(*self.cta, mbarrier) : mbarrier;
    copy->barrier = findMBarrier(self, at, "reports to", pattern.site);
    if (copy->barrier)
      submit(self, copy);
  }
}

} // namespace

bool Worker::landOneCopy() {
  if (bulkQueue.empty())
    return false;
  bool shuffled = state.launch.schedule == Schedule::Shuffled;
  size_t index = shuffled ? random.below(bulkQueue.size()) : 0;
  std::shared_ptr<BulkCopy> copy = std::move(bulkQueue[index]);
  bulkQueue.erase(bulkQueue.begin() + static_cast<ptrdiff_t>(index));
  land(*this, *copy);
  return true;
}

static void tensorLoad(Thread &self, char *shared, const void *map, const char *mbarrier,
                       const int32_t *coordinates, uint32_t rank, uint32_t mask, uint32_t site) {
  constexpr uint64_t tileAlignment = 128;
  TensorMap read;
  if (!readMap(self, map, rank, site, read) || !requireAligned(self, shared, tileAlignment, site, "the tile"))
    return;
  std::shared_ptr<BulkCopy> copy = makeCopy(self, shared, read.boxBytes(), site);
  if (!copy)
    return;
  copy->map = read;
  copy->tiled = true;
  std::copy_n(coordinates, rank, copy->coordinates);
  submitLoad(self, *copy, mbarrier, mask);
}

void adsim_tensor_load(Thread *self, char *shared, const void *map, const char *mbarrier,
                       const int32_t *coordinates, uint32_t rank, uint32_t mask, uint32_t predicate,
                       uint32_t site) {
  if (predicate)
    tensorLoad(*self, shared, map, mbarrier, coordinates, rank, mask, site);
  if (self->worker->failed)
    self->worker->leave(*self);
}

static void tensorStore(Thread &self, const void *map, char *shared, const int32_t *coordinates,
                        uint32_t rank, uint32_t site) {
  constexpr uint64_t tileAlignment = 128;
  TensorMap read;
  if (!readMap(self, map, rank, site, read) ||
      !requireAligned(self, shared, tileAlignment, site, "the tile") ||
      !require(self, !read.tf32, site, "a store by a tensor map of tf32, which the emulator does not have"))
    return;
  std::shared_ptr<BulkCopy> copy = makeCopy(self, shared, read.boxBytes(), site);
  if (!copy)
    return;
  copy->map = read;
  copy->tiled = copy->toGlobal = true;
  std::copy_n(coordinates, rank, copy->coordinates);
  countTraffic(*self.worker, *copy);
  submit(self, copy);
}

void adsim_tensor_store(Thread *self, const void *map, char *shared, const int32_t *coordinates,
                        uint32_t rank, uint32_t predicate, uint32_t site) {
  if (predicate)
    tensorStore(*self, map, shared, coordinates, rank, site);
  if (self->worker->failed)
    self->worker->leave(*self);
}

/// Loads, stores and copies of contiguous bytes; a null `mbarrier` means a store.
static void bulkRow(Thread &self, char *shared, char *other, const char *mbarrier, uint32_t bytes,
                    uint32_t mask, bool fromShared, uint32_t site) {
  constexpr uint64_t rowAlignment = 16;
  if (!require(self, bytes && bytes % rowAlignment == 0, site,
               "a bulk copy of " + std::to_string(bytes) + " bytes, expected a multiple of 16") ||
      !requireAligned(self, shared, rowAlignment, site, "the address in shared memory") ||
      !requireAligned(self, other, rowAlignment, site, "the other address"))
    return;
  std::shared_ptr<BulkCopy> copy = makeCopy(self, shared, bytes, site);
  if (!copy)
    return;
  (fromShared ? copy->from : copy->global) = other;
  copy->toGlobal = !mbarrier;
  if (mbarrier)
    return submitLoad(self, *copy, mbarrier, mask);
  countTraffic(*self.worker, *copy);
  submit(self, copy);
}

void adsim_bulk_load(Thread *self, char *shared, char *global, const char *mbarrier, uint32_t bytes,
                     uint32_t mask, uint32_t site) {
  bulkRow(*self, shared, global, mbarrier, bytes, mask, /*fromShared=*/false, site);
  if (self->worker->failed)
    self->worker->leave(*self);
}

void adsim_bulk_store(Thread *self, char *global, char *shared, uint32_t bytes, uint32_t site) {
  bulkRow(*self, shared, global, nullptr, bytes, 0, /*fromShared=*/false, site);
  if (self->worker->failed)
    self->worker->leave(*self);
}

void adsim_bulk_shared(Thread *self, char *target, char *source, const char *mbarrier, uint32_t bytes,
                       uint32_t site) {
  bulkRow(*self, target, source, mbarrier, bytes, 0, /*fromShared=*/true, site);
  if (self->worker->failed)
    self->worker->leave(*self);
}

void adsim_bulk_commit(Thread *self, uint32_t) {
  self->bulkStoreGroups.push_back(std::move(self->openBulkStores));
  self->openBulkStores.clear();
}

void adsim_bulk_wait(Thread *self, uint32_t count, uint32_t readOnly, uint32_t) {
  Worker &worker = *self->worker;
  size_t done = self->bulkStoreGroups.size() > count ? self->bulkStoreGroups.size() - count : 0;
  for (size_t group = 0; group < done; ++group)
    for (const std::shared_ptr<BulkCopy> &copy : self->bulkStoreGroups[group]) {
      land(worker, *copy);
      if (worker.races)
        completeStore(worker, *copy, readOnly);
    }
  if (!readOnly) // after wait_group.read, a later wait_group still has to complete the writes
    self->bulkStoreGroups.erase(self->bulkStoreGroups.begin(),
                                self->bulkStoreGroups.begin() + static_cast<ptrdiff_t>(done));
}
