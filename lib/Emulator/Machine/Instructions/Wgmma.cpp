/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   wgmma: 64 rows by up to 256 columns, executed by the 128 threads of a warpgroup. The operands are in shared
   memory, given by matrix descriptors; A may also be in registers. The result is computed at once. For the
   race detector, the operands are read until a thread waits for the group. */
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Memory/MemoryOrder.h"
#include "../Numbers.h"
#include "../Synchronization/Rendezvous.h"
#include "Accumulate.h"
#include "Registers.h"

#include <algorithm>

using namespace adsim;

namespace {

constexpr uint32_t rows = 64, maxColumns = 256, bytesK = 32, maxK = 32, chunkBytes = 16;

/// One instruction, decoded from the numbers that the lowering passes.
struct Wgmma {
  ElementKind a, b, sum;
  uint32_t columns;
  bool transposedA, transposedB, scaleD, negateA, negateB;

  Wgmma(uint32_t columns, uint32_t kinds, uint32_t flags)
      : a(static_cast<ElementKind>(kinds & 0xff)), b(static_cast<ElementKind>(kinds >> 8 & 0xff)),
        sum(static_cast<ElementKind>(kinds >> 16 & 0xff)), columns(columns), transposedA(flags & 1),
        transposedB(flags & 2), scaleD(flags & 4), negateA(flags & 8), negateB(flags & 16) {}
  uint32_t elementBytes() const { return elementBits(a) / 8; }
  uint32_t sizeK() const { return bytesK / elementBytes(); }
};

struct WgmmaOperand {
  uint64_t descriptorA, descriptorB;
  const uint32_t *registersA;
};

const WgmmaOperand &operandOf(const Rendezvous &rendezvous, uint32_t index) {
  return *static_cast<const WgmmaOperand *>(rendezvous.inputs[index]);
}

/// A matrix descriptor. `mn` is the index along M of A, or along N of B.
struct Descriptor {
  uint32_t start, leading, stride, swizzleBytes;
  uint32_t baseOffset;

  explicit Descriptor(uint64_t bits) {
    static constexpr uint32_t swizzles[] = {0, 128, 64, 32};
    start = static_cast<uint32_t>(bits & 0x3fff) << 4;
    leading = static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4;
    stride = static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4;
    baseOffset = static_cast<uint32_t>(bits >> 49 & 7);
    swizzleBytes = swizzles[bits >> 62];
  }
  /// K-major: the offset of the 16-byte chunk of row `mn` that begins at byte `k`.
  uint32_t alongK(uint32_t mn, uint32_t k) const {
    uint32_t offset = swizzleBytes ? (mn >> 3) * stride + (mn & 7) * swizzleBytes + k
                                   : (mn >> 3) * stride + (mn & 7) * chunkBytes + (k >> 4) * leading;
    return swizzled(offset);
  }
  /// MN-major: the offset of the chunk with the elements mn to mn + 7, of 16 bits, at index `k`.
  uint32_t alongMN(uint32_t mn, uint32_t k) const {
    uint32_t perRow = swizzleBytes / 2;
    uint32_t offset =
        swizzleBytes ? mn / perRow * leading + (k >> 3) * stride + (k & 7) * swizzleBytes + mn % perRow * 2
                     : (mn >> 3) * stride + (k >> 3) * leading + (k & 7) * chunkBytes;
    return swizzled(offset);
  }
  uint32_t swizzled(uint32_t offset) const {
    return static_cast<uint32_t>(swizzle(start + offset, swizzleBytes));
  }
};

/// Reads a matrix in chunks of 16 bytes.
class MatrixReader {
public:
  MatrixReader(Thread &self, const Accessor &by, uint64_t bits, std::vector<PendingRange> &pending)
      : self(self), by(by), descriptor(bits), pending(pending) {}

  /// Calls put(mn, k, element) for `count` values of mn and all k. False after a failure.
  template <typename Put>
  bool read(const Wgmma &wgmma, ElementKind kind, uint32_t count, bool transposed, const Put &put);

private:
  const char *readChunk(uint32_t offset);
  bool checkSwizzle(uint32_t offset);
  Thread &self;
  const Accessor &by;
  Descriptor descriptor;
  std::vector<PendingRange> &pending;
};

bool MatrixReader::checkSwizzle(uint32_t offset) {
  const Cta &cta = *self.cta;
  uint32_t written = cta.tileSwizzles.empty() ? 0 : cta.tileSwizzles[offset / chunkBytes];
  if (!written || written == descriptor.swizzleBytes + 1)
    return true;
  self.worker->fail(Failure::SwizzleMismatch, self, by.site,
                    "the descriptor reads " + sharedAddress(cta, offset) + " with a swizzle of " +
                        std::to_string(descriptor.swizzleBytes) +
                        " bytes, the tensor map that filled it has one of " + std::to_string(written - 1));
  return false;
}

/// Converts the elements of 16 bytes to f32.
void widenChunk(ElementKind kind, const char *chunk, float *values) {
  uint16_t shorts[chunkBytes / 2];
  std::memcpy(shorts, chunk, sizeof(shorts));
  if (kind == ElementKind::BF16) {
    for (uint32_t e = 0; e < chunkBytes / 2; ++e)
      values[e] = fromBF16(shorts[e]);
    return;
  }
  if (kind == ElementKind::F16) {
    for (uint32_t e = 0; e < chunkBytes / 2; ++e)
      values[e] = fromF16(shorts[e]);
    return;
  }
  uint32_t bytes = elementBits(kind) / 8;
  for (uint32_t e = 0; e < chunkBytes / bytes; ++e) {
    uint32_t bits = 0;
    std::memcpy(&bits, chunk + static_cast<size_t>(e) * bytes, bytes);
    values[e] = factor(kind, bits);
  }
}

const char *MatrixReader::readChunk(uint32_t offset) {
  if (!accessShared(*self.cta, offset, chunkBytes, by) || !checkSwizzle(offset))
    return nullptr;
  if (self.worker->races)
    pending.push_back({offset, chunkBytes, by.number});
  return self.cta->shared + offset;
}

template <typename Put>
bool MatrixReader::read(const Wgmma &wgmma, ElementKind kind, uint32_t count, bool transposed,
                        const Put &put) {
  uint32_t bytes = wgmma.elementBytes(), each = chunkBytes / bytes;
  uint32_t outer = transposed ? count / each : count,
           inner = transposed ? wgmma.sizeK() : bytesK / chunkBytes;
  for (uint32_t i = 0; i < outer; ++i)
    for (uint32_t j = 0; j < inner; ++j) {
      const char *at =
          readChunk(transposed ? descriptor.alongMN(i * each, j) : descriptor.alongK(i, j * chunkBytes));
      if (!at)
        return false;
      float values[chunkBytes];
      widenChunk(kind, at, values);
      for (uint32_t e = 0; e < each; ++e)
        transposed ? put(i * each + e, j, values[e]) : put(i, j * each + e, values[e]);
    }
  return true;
}

struct Tiles {
  alignas(64) float a[rows][maxK];
  alignas(64) float b[maxK][maxColumns];
  alignas(64) float sums[rows][maxColumns];
  alignas(64) int32_t integers[rows][maxColumns];
};

/// Visits the accumulators of thread `index`: word, half of the word, row and column.
template <typename Visit> void forSums(const Wgmma &wgmma, uint32_t index, const Visit &visit) {
  uint32_t halves = wgmma.sum == ElementKind::F16 ? 2 : 1;
  uint32_t row = index / warpLanes * 16 + (index % warpLanes >> 2), column = (index & 3) * 2;
  for (uint32_t word = 0; word < wgmma.columns / 2 / halves; ++word)
    for (uint32_t half = 0; half < halves; ++half) {
      uint32_t number = word * halves + half;
      visit(word, half, row + (number >> 1 & 1) * 8, column + (number >> 2) * 8 + (number & 1));
    }
}

/// Visits pairs of adjacent f32 accumulators, which are contiguous in the registers and in the tile. A thread
/// has two pairs in each group of eight columns.
template <typename Move>
void forPairs(const Wgmma &wgmma, const Rendezvous &rendezvous, Tiles &tiles, const Move &move) {
  for (uint32_t index = 0; index < warpgroupThreads; ++index) {
    auto *words = static_cast<uint32_t *>(rendezvous.outputs[index]);
    uint32_t row = index / warpLanes * 16 + (index % warpLanes >> 2), column = (index & 3) * 2;
    float *upper = &tiles.sums[row][column], *lower = &tiles.sums[row + 8][column];
    for (uint32_t group = 0; group < wgmma.columns / 8; ++group) {
      move(upper + 8 * group, words + 4 * group);
      move(lower + 8 * group, words + 4 * group + 2);
    }
  }
}

void readSums(const Wgmma &wgmma, const Rendezvous &rendezvous, Tiles &tiles) {
  if (wgmma.sum == ElementKind::F32 && wgmma.scaleD) {
    forPairs(wgmma, rendezvous, tiles,
             [](float *sums, const uint32_t *words) { std::memcpy(sums, words, 8); });
    return;
  }
  for (uint32_t index = 0; index < warpgroupThreads; ++index) {
    const auto *words = static_cast<const uint32_t *>(rendezvous.outputs[index]);
    forSums(wgmma, index, [&](uint32_t word, uint32_t half, uint32_t row, uint32_t column) {
      uint32_t bits = wgmma.scaleD ? words[word] : 0;
      if (wgmma.sum == ElementKind::S32)
        tiles.integers[row][column] = static_cast<int32_t>(bits);
      else
        tiles.sums[row][column] = wgmma.sum == ElementKind::F16
                                      ? fromF16(static_cast<uint16_t>(bits >> (16 * half)))
                                      : floatFromBits(bits);
    });
  }
}

void writeSums(const Wgmma &wgmma, const Rendezvous &rendezvous, Tiles &tiles) {
  if (wgmma.sum == ElementKind::F32) {
    forPairs(wgmma, rendezvous, tiles,
             [](const float *sums, uint32_t *words) { std::memcpy(words, sums, 8); });
    return;
  }
  for (uint32_t index = 0; index < warpgroupThreads; ++index) {
    auto *words = static_cast<uint32_t *>(rendezvous.outputs[index]);
    forSums(wgmma, index, [&](uint32_t word, uint32_t half, uint32_t row, uint32_t column) {
      if (wgmma.sum == ElementKind::S32)
        words[word] = static_cast<uint32_t>(tiles.integers[row][column]);
      else if (wgmma.sum == ElementKind::F16)
        words[word] = (half ? words[word] & 0xffff : 0) | uint32_t(toF16(tiles.sums[row][column]))
                                                              << (16 * half);
      else
        words[word] = bitsOfFloat(tiles.sums[row][column]);
    });
  }
}

void readRegistersA(const Wgmma &wgmma, const Rendezvous &rendezvous, Tiles &tiles) {
  uint32_t bits = elementBits(wgmma.a), each = 32 / bits;
  for (uint32_t index = 0; index < warpgroupThreads; ++index)
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < each; ++j)
        tiles.a[index / warpLanes * 16 + (index % warpLanes >> 2) + (i & 1) * 8]
               [(index & 3) * each + j + (i >> 1) * 4 * each] =
            factor(wgmma.a, operandOf(rendezvous, index).registersA[i] >> (j * bits));
}

bool checkOperands(Thread &self, const Rendezvous &rendezvous, uint32_t site) {
  const WgmmaOperand &first = operandOf(rendezvous, 0);
  Worker &worker = *self.worker;
  for (uint32_t index = 1; index < warpgroupThreads; ++index) {
    const WgmmaOperand &other = operandOf(rendezvous, index);
    if (other.descriptorA == first.descriptorA && other.descriptorB == first.descriptorB)
      continue;
    worker.fail(Failure::Divergence, self, site,
                "wgmma with different descriptors in the threads of a warpgroup");
    return false;
  }
  for (uint64_t bits : {first.registersA ? first.descriptorB : first.descriptorA, first.descriptorB})
    if (Descriptor(bits).baseOffset) {
      worker.fail(
          Failure::InvalidInstruction, self, site,
          "a descriptor with a base offset, which the emulator does not model; align tiles to 1024 bytes");
      return false;
    }
  return true;
}

void multiply(const Wgmma &wgmma, Tiles &tiles, MatrixSums matrixSums) {
  if (wgmma.sum != ElementKind::S32) {
    bool aligned = matrixSums != MatrixSums::Ascending && isHalf(wgmma.a) && wgmma.sum == ElementKind::F32;
    (aligned ? accumulateAligned : accumulate)(&tiles.sums[0][0], maxColumns, &tiles.a[0][0], maxK,
                                               &tiles.b[0][0], maxColumns, rows, wgmma.sizeK(),
                                               wgmma.columns);
    return;
  }
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t k = 0; k < wgmma.sizeK(); ++k)
      for (uint32_t column = 0; column < wgmma.columns; ++column)
        tiles.integers[row][column] = static_cast<int32_t>(
            static_cast<uint32_t>(tiles.integers[row][column]) +
            static_cast<uint32_t>(static_cast<int32_t>(tiles.a[row][k] * tiles.b[k][column])));
}

/// Executes the instruction for the warpgroup, in the thread that arrived last.
void execute(Thread &self, const Wgmma &wgmma, const Rendezvous &rendezvous, uint32_t site) {
  Worker &worker = *self.worker;
  if (!checkOperands(self, rendezvous, site))
    return;
  Exchange exchange;
  if (worker.races)
    for (const Thread *member : rendezvous.members)
      exchange.add(*member);
  // The instruction is ordered after everything that any thread of the warpgroup has acquired.
  ThreadClock genericClock{exchange.genericClock.finish(), self.genericClock.own},
      asyncClock{exchange.asyncClock.finish(), self.asyncClock.own};
  Accessor by(self, site, RecordAsync | RecordPending, worker.nextCopy++);
  by.genericClock = &genericClock;
  by.asyncClock = &asyncClock;
  static thread_local Tiles tiles;
  const WgmmaOperand &operand = operandOf(rendezvous, 0);
  std::vector<PendingRange> &pending = self.warpgroup->open;
  float signA = wgmma.negateA ? -1.0f : 1.0f, signB = wgmma.negateB ? -1.0f : 1.0f;
  if (operand.registersA)
    readRegistersA(wgmma, rendezvous, tiles);
  else if (!MatrixReader(self, by, operand.descriptorA, pending)
                .read(wgmma, wgmma.a, rows, wgmma.transposedA,
                      [&](uint32_t mn, uint32_t k, float value) { tiles.a[mn][k] = signA * value; }))
    return;
  if (!MatrixReader(self, by, operand.descriptorB, pending)
           .read(wgmma, wgmma.b, wgmma.columns, wgmma.transposedB,
                 [&](uint32_t mn, uint32_t k, float value) { tiles.b[k][mn] = signB * value; }))
    return;
  readSums(wgmma, rendezvous, tiles);
  multiply(wgmma, tiles, worker.state.launch.matrixSums);
  writeSums(wgmma, rendezvous, tiles);
  ++worker.statistics.wgmma;
}

bool requireWarpgroup(Thread &self, uint32_t site) {
  if (self.warpgroup->threads == warpgroupThreads)
    return true;
  self.worker->fail(Failure::InvalidInstruction, self, site, "wgmma in a warpgroup of less than 128 threads");
  return false;
}

/// Completes all groups except the last `count`: their operands may be overwritten.
void retire(Thread &self, const Rendezvous &rendezvous, uint32_t count, uint32_t site) {
  Exchange exchange;
  for (const Thread *member : rendezvous.members)
    exchange.add(*member);
  VectorClock genericClock = exchange.genericClock.finish(), asyncClock = exchange.asyncClock.finish();
  Warpgroup &group = *self.warpgroup;
  Thread &first = **std::min_element(rendezvous.members.begin(), rendezvous.members.end());
  while (group.groups.size() > count) {
    for (const PendingRange &range : group.groups.front()) {
      Record record = makeRecord(Accessor(first, site, RecordAsync));
      completeShared(*self.cta, range.offset, range.bytes, range.number, record);
    }
    group.groups.erase(group.groups.begin());
  }
  // The records of the operands name the first thread, so all threads of the warpgroup acquire its clock.
  ClockCollector after;
  after.add(genericClock);
  after.add(first.slot, first.genericClock);
  genericClock = after.finish();
  for (Thread *member : rendezvous.members) {
    release(*member);
    acquire(*member, genericClock, asyncClock, exchange.clusterClocks);
  }
}

} // namespace

void adsim_wgmma(Thread *self, uint32_t *accumulators, uint32_t *registersA, uint64_t descriptorA,
                 uint64_t descriptorB, uint32_t columns, uint32_t kinds, uint32_t flags,
                 uint32_t accumulatorsNumber, uint32_t site) {
  Worker &worker = *self->worker;
  if (!requireWarpgroup(*self, site))
    worker.leave(*self);
  uint32_t shape = columns / 8 << 24 | kinds;
  if (worker.races && !useAccumulators(*self, accumulatorsNumber, shape, site))
    worker.leave(*self);
  WgmmaOperand operand{descriptorA, descriptorB, registersA};
  Rendezvous &rendezvous = self->warpgroup->multiply;
  if (!joinRendezvous(*self, rendezvous, self->index % warpgroupThreads, "wgmma", site, &operand,
                      accumulators))
    return;
  execute(*self, Wgmma(columns, kinds, flags), rendezvous, site);
  if (worker.failed)
    worker.leave(*self);
  finishRendezvous(*self, rendezvous);
}

void adsim_wgmma_commit(Thread *self, uint32_t) {
  self->wgmma.commit();
  // All threads have executed the instructions of the group; the first thread commits it.
  if (self->index % warpgroupThreads || !self->worker->races)
    return;
  self->warpgroup->groups.push_back(std::move(self->warpgroup->open));
  self->warpgroup->open.clear();
}

void adsim_wgmma_wait(Thread *self, uint32_t count, uint32_t site) {
  Worker &worker = *self->worker;
  if (!worker.races)
    return;
  if (!requireWarpgroup(*self, site))
    worker.leave(*self);
  self->wgmma.wait(count);
  Rendezvous &rendezvous = self->warpgroup->wait;
  if (!joinRendezvous(*self, rendezvous, self->index % warpgroupThreads, "wgmma.wait_group", site, nullptr,
                      nullptr))
    return;
  retire(*self, rendezvous, count, site);
  finishRendezvous(*self, rendezvous);
}
