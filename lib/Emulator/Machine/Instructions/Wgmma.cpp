/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   wgmma: 64 rows by up to 256 columns, by the 128 threads of a warpgroup, from shared memory that descriptors
   name (A also from registers). The result is computed at once; for the race detector the operands stay in
   use until the group is waited for. */
#include "../Scheduling/Barriers.h"
#include "Functions.h"
#include "Numbers.h"

#include <algorithm>

using namespace adsim;

namespace {

constexpr uint32_t rows = 64, mostColumns = 256, depthBytes = 32, mostDepth = 32, pieceBytes = 16;

/// One instruction, decoded from the numbers that the lowering gives.
struct Wgmma {
  ElementKind a, b, sum;
  uint32_t columns;
  bool transposedA, transposedB, scaleD, negateA, negateB;

  Wgmma(uint32_t columns, uint32_t kinds, uint32_t flags)
      : a(static_cast<ElementKind>(kinds & 0xff)), b(static_cast<ElementKind>(kinds >> 8 & 0xff)),
        sum(static_cast<ElementKind>(kinds >> 16 & 0xff)), columns(columns), transposedA(flags & 1),
        transposedB(flags & 2), scaleD(flags & 4), negateA(flags & 8), negateB(flags & 16) {}
  uint32_t elementBytes() const { return elementBits(a) / 8; }
  uint32_t depth() const { return depthBytes / elementBytes(); }
};

struct WgmmaOperand {
  uint64_t descriptorA, descriptorB;
  const uint32_t *registersA;
};

const WgmmaOperand &operandOf(const Meeting &meeting, uint32_t index) {
  return *static_cast<const WgmmaOperand *>(meeting.inputs[index]);
}

/// A matrix in shared memory. `mn` counts along the rows of A or the columns of B.
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
  /// Where the 16-byte piece with `mn` and byte `k` of its row begins.
  uint32_t alongK(uint32_t mn, uint32_t k) const {
    uint32_t offset = swizzleBytes ? (mn >> 3) * stride + (mn & 7) * swizzleBytes + k
                                   : (mn >> 3) * stride + (mn & 7) * pieceBytes + (k >> 4) * leading;
    return place(offset);
  }
  /// The same where `mn` is contiguous: the piece that holds elements mn to mn + 7 of 16 bits at depth `k`.
  uint32_t alongMN(uint32_t mn, uint32_t k) const {
    uint32_t perRow = swizzleBytes / 2;
    uint32_t offset =
        swizzleBytes ? mn / perRow * leading + (k >> 3) * stride + (k & 7) * swizzleBytes + mn % perRow * 2
                     : (mn >> 3) * stride + (k >> 3) * leading + (k & 7) * pieceBytes;
    return place(offset);
  }
  uint32_t place(uint32_t offset) const {
    return static_cast<uint32_t>(swizzle(start + offset, swizzleBytes));
  }
};

/// Reads a matrix, piece by piece.
class MatrixReader {
public:
  MatrixReader(Thread &self, const Accessor &by, uint64_t bits, std::vector<PendingRange> &pending)
      : self(self), by(by), descriptor(bits), pending(pending) {}

  /// put(mn, k, element) for `count` values of mn and the whole depth. False after a failure.
  template <typename Put>
  bool read(const Wgmma &wgmma, ElementKind kind, uint32_t count, bool transposed, const Put &put);

private:
  const char *piece(uint32_t offset);
  bool checkSwizzle(uint32_t offset);
  Thread &self;
  const Accessor &by;
  Descriptor descriptor;
  std::vector<PendingRange> &pending;
};

bool MatrixReader::checkSwizzle(uint32_t offset) {
  const Cta &cta = *self.cta;
  uint32_t written = cta.tileSwizzles.empty() ? 0 : cta.tileSwizzles[offset / pieceBytes];
  if (!written || written == descriptor.swizzleBytes + 1)
    return true;
  self.worker->fail(Failure::SwizzleMismatch, self, by.site,
                    "the descriptor reads " + sharedAddress(cta, offset) + " with a swizzle of " +
                        std::to_string(descriptor.swizzleBytes) +
                        " bytes, the tensor map that filled it has one of " + std::to_string(written - 1));
  return false;
}

/// The elements of 16 bytes as factors.
void widenPiece(ElementKind kind, const char *piece, float *values) {
  uint16_t shorts[pieceBytes / 2];
  std::memcpy(shorts, piece, sizeof(shorts));
  if (kind == ElementKind::BF16) {
    for (uint32_t e = 0; e < pieceBytes / 2; ++e)
      values[e] = fromBF16(shorts[e]);
    return;
  }
  if (kind == ElementKind::F16) {
    for (uint32_t e = 0; e < pieceBytes / 2; ++e)
      values[e] = fromF16(shorts[e]);
    return;
  }
  uint32_t bytes = elementBits(kind) / 8;
  for (uint32_t e = 0; e < pieceBytes / bytes; ++e) {
    uint32_t bits = 0;
    std::memcpy(&bits, piece + static_cast<size_t>(e) * bytes, bytes);
    values[e] = factor(kind, bits);
  }
}

const char *MatrixReader::piece(uint32_t offset) {
  if (!accessShared(*self.cta, offset, pieceBytes, by) || !checkSwizzle(offset))
    return nullptr;
  if (self.worker->races)
    pending.push_back({offset, pieceBytes, by.number});
  return self.cta->shared + offset;
}

template <typename Put>
bool MatrixReader::read(const Wgmma &wgmma, ElementKind kind, uint32_t count, bool transposed,
                        const Put &put) {
  uint32_t bytes = wgmma.elementBytes(), each = pieceBytes / bytes;
  uint32_t outer = transposed ? count / each : count,
           inner = transposed ? wgmma.depth() : depthBytes / pieceBytes;
  for (uint32_t i = 0; i < outer; ++i)
    for (uint32_t j = 0; j < inner; ++j) {
      const char *at =
          piece(transposed ? descriptor.alongMN(i * each, j) : descriptor.alongK(i, j * pieceBytes));
      if (!at)
        return false;
      float values[pieceBytes];
      widenPiece(kind, at, values);
      for (uint32_t e = 0; e < each; ++e)
        transposed ? put(i * each + e, j, values[e]) : put(i, j * each + e, values[e]);
    }
  return true;
}

struct Tiles {
  alignas(64) float a[rows][mostDepth];
  alignas(64) float b[mostDepth][mostColumns];
  alignas(64) float sums[rows][mostColumns];
  alignas(64) int32_t integers[rows][mostColumns];
};

/// Visits the accumulators of thread `index`: word, half of it, row and column.
template <typename Visit> void forSums(const Wgmma &wgmma, uint32_t index, const Visit &visit) {
  uint32_t halves = wgmma.sum == ElementKind::F16 ? 2 : 1;
  uint32_t row = index / warpLanes * 16 + (index % warpLanes >> 2), column = (index & 3) * 2;
  for (uint32_t word = 0; word < wgmma.columns / 2 / halves; ++word)
    for (uint32_t half = 0; half < halves; ++half) {
      uint32_t number = word * halves + half;
      visit(word, half, row + (number >> 1 & 1) * 8, column + (number >> 2) * 8 + (number & 1));
    }
}

/// Two neighbouring sums in f32, of which a thread has two in each group of eight columns, lie together on
/// both sides.
template <typename Move>
void forPairs(const Wgmma &wgmma, const Meeting &meeting, Tiles &tiles, const Move &move) {
  for (uint32_t index = 0; index < warpgroupThreads; ++index) {
    auto *words = static_cast<uint32_t *>(meeting.outputs[index]);
    uint32_t row = index / warpLanes * 16 + (index % warpLanes >> 2), column = (index & 3) * 2;
    float *upper = &tiles.sums[row][column], *lower = &tiles.sums[row + 8][column];
    for (uint32_t group = 0; group < wgmma.columns / 8; ++group) {
      move(upper + 8 * group, words + 4 * group);
      move(lower + 8 * group, words + 4 * group + 2);
    }
  }
}

void readSums(const Wgmma &wgmma, const Meeting &meeting, Tiles &tiles) {
  if (wgmma.sum == ElementKind::F32 && wgmma.scaleD) {
    forPairs(wgmma, meeting, tiles, [](float *sums, const uint32_t *words) { std::memcpy(sums, words, 8); });
    return;
  }
  for (uint32_t index = 0; index < warpgroupThreads; ++index) {
    const auto *words = static_cast<const uint32_t *>(meeting.outputs[index]);
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

void writeSums(const Wgmma &wgmma, const Meeting &meeting, Tiles &tiles) {
  if (wgmma.sum == ElementKind::F32) {
    forPairs(wgmma, meeting, tiles, [](const float *sums, uint32_t *words) { std::memcpy(words, sums, 8); });
    return;
  }
  for (uint32_t index = 0; index < warpgroupThreads; ++index) {
    auto *words = static_cast<uint32_t *>(meeting.outputs[index]);
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

void readRegistersA(const Wgmma &wgmma, const Meeting &meeting, Tiles &tiles) {
  uint32_t bits = elementBits(wgmma.a), each = 32 / bits;
  for (uint32_t index = 0; index < warpgroupThreads; ++index)
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < each; ++j)
        tiles.a[index / warpLanes * 16 + (index % warpLanes >> 2) + (i & 1) * 8]
               [(index & 3) * each + j + (i >> 1) * 4 * each] =
            factor(wgmma.a, operandOf(meeting, index).registersA[i] >> (j * bits));
}

bool checkOperands(Thread &self, const Meeting &meeting, uint32_t site) {
  const WgmmaOperand &first = operandOf(meeting, 0);
  Worker &worker = *self.worker;
  for (uint32_t index = 1; index < warpgroupThreads; ++index) {
    const WgmmaOperand &other = operandOf(meeting, index);
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

void multiply(const Wgmma &wgmma, Tiles &tiles) {
  if (wgmma.sum != ElementKind::S32) {
    accumulate(&tiles.sums[0][0], mostColumns, &tiles.a[0][0], mostDepth, &tiles.b[0][0], mostColumns, rows,
               wgmma.depth(), wgmma.columns);
    return;
  }
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t k = 0; k < wgmma.depth(); ++k)
      for (uint32_t column = 0; column < wgmma.columns; ++column)
        tiles.integers[row][column] = static_cast<int32_t>(
            static_cast<uint32_t>(tiles.integers[row][column]) +
            static_cast<uint32_t>(static_cast<int32_t>(tiles.a[row][k] * tiles.b[k][column])));
}

/// Does the work of the warpgroup, on behalf of the thread that came last.
void execute(Thread &self, const Wgmma &wgmma, const Meeting &meeting, uint32_t site) {
  Worker &worker = *self.worker;
  if (!checkOperands(self, meeting, site))
    return;
  Exchange exchange;
  if (worker.races)
    for (const Thread *member : meeting.members)
      exchange.add(*member);
  // Each warp has waited for itself; together they are ordered after what any of them waited for.
  Knowledge seen{exchange.seen.finish(), self.seen.own}, fenced{exchange.fenced.finish(), self.fenced.own};
  Accessor by(self, site, RecordAsync | RecordPending, worker.nextCopy++);
  by.seen = &seen;
  by.fenced = &fenced;
  static thread_local Tiles tiles;
  const WgmmaOperand &operand = operandOf(meeting, 0);
  std::vector<PendingRange> &pending = self.warpgroup->open;
  float signA = wgmma.negateA ? -1.0f : 1.0f, signB = wgmma.negateB ? -1.0f : 1.0f;
  if (operand.registersA)
    readRegistersA(wgmma, meeting, tiles);
  else if (!MatrixReader(self, by, operand.descriptorA, pending)
                .read(wgmma, wgmma.a, rows, wgmma.transposedA,
                      [&](uint32_t mn, uint32_t k, float value) { tiles.a[mn][k] = signA * value; }))
    return;
  if (!MatrixReader(self, by, operand.descriptorB, pending)
           .read(wgmma, wgmma.b, wgmma.columns, wgmma.transposedB,
                 [&](uint32_t mn, uint32_t k, float value) { tiles.b[k][mn] = signB * value; }))
    return;
  readSums(wgmma, meeting, tiles);
  multiply(wgmma, tiles);
  writeSums(wgmma, meeting, tiles);
  ++worker.statistics.wgmma;
}

bool requireWarpgroup(Thread &self, uint32_t site) {
  if (self.warpgroup->threads == warpgroupThreads)
    return true;
  self.worker->fail(Failure::InvalidInstruction, self, site, "wgmma in a warpgroup of less than 128 threads");
  return false;
}

/// The operands of all groups but the last `count` are free again.
void retire(Thread &self, const Meeting &meeting, uint32_t count, uint32_t site) {
  Exchange exchange;
  for (const Thread *member : meeting.members)
    exchange.add(*member);
  Clock seen = exchange.seen.finish(), fenced = exchange.fenced.finish();
  Warpgroup &group = *self.warpgroup;
  Thread &first = **std::min_element(meeting.members.begin(), meeting.members.end());
  while (group.groups.size() > count) {
    for (const PendingRange &range : group.groups.front()) {
      Record record = makeRecord(Accessor(first, site, RecordAsync));
      completeShared(*self.cta, range.offset, range.bytes, range.number, record);
    }
    group.groups.erase(group.groups.begin());
  }
  // Threads of a warpgroup know of each other's share of the operation; the first one stands for all.
  ClockGather after;
  after.add(seen);
  after.add(first.slot, first.seen);
  seen = after.finish();
  for (Thread *member : meeting.members) {
    release(*member);
    acquire(*member, seen, fenced, exchange.foreign);
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
  Meeting &meeting = self->warpgroup->multiply;
  if (!meet(*self, meeting, self->index % warpgroupThreads, "wgmma", site, &operand, accumulators))
    return;
  execute(*self, Wgmma(columns, kinds, flags), meeting, site);
  if (worker.failed)
    worker.leave(*self);
  dismiss(*self, meeting);
}

void adsim_wgmma_commit(Thread *self, uint32_t) {
  self->wgmma.commit();
  // All threads have met at the instructions of the group; one of them closes it.
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
  Meeting &meeting = self->warpgroup->wait;
  if (!meet(*self, meeting, self->index % warpgroupThreads, "wgmma.wait_group", site, nullptr, nullptr))
    return;
  retire(*self, meeting, count, site);
  dismiss(*self, meeting);
}
