/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Warp-level matrix instructions: ldmatrix, stmatrix, mma.sync. A register of lane `4 r + c` holds e elements
   of row r, from column `c * e` on. */
#include "../Functions.h"
#include "../Memory/Access.h"
#include "../Numbers.h"
#include "../Synchronization/Rendezvous.h"
#include "Accumulate.h"

#include <algorithm>

using namespace adsim;

namespace {

constexpr uint32_t wholeWarp = ~0u, rowBytes = 16, matrixRows = 8;

struct MatrixOperand {
  char *row;
  uint32_t *words;
};

const MatrixOperand &operandOf(const Rendezvous &rendezvous, uint32_t lane) {
  return *static_cast<const MatrixOperand *>(rendezvous.inputs[lane]);
}

bool requireWholeWarp(Thread &self, const char *what, uint32_t site) {
  if (self.warp->lanes == wholeWarp && !self.warp->exited)
    return true;
  self.worker->fail(Failure::Divergence, self, site, std::string(what) + " in a warp of less than 32 lanes");
  return false;
}

/// Each of the first `8 count` lanes gives the address of a row of eight elements.
bool checkRow(Thread &self, const char *row, uint32_t count, unsigned flags, const char *what,
              uint32_t site) {
  if (!requireWholeWarp(self, what, site))
    return false;
  if (self.lane >= count * matrixRows)
    return true;
  if (uint64_t over = reinterpret_cast<uint64_t>(row) % rowBytes) {
    self.worker->fail(Failure::Misaligned, self, site,
                      std::string(what) + " of a row at " + std::to_string(over) +
                          " beyond a multiple of 16");
    return false;
  }
  return accessShared(*self.cta, static_cast<uint64_t>(row - self.cta->shared), rowBytes,
                      Accessor(self, site, flags));
}

void countTraffic(Thread &self, const Rendezvous &rendezvous, uint32_t count, uint32_t site) {
  Worker &worker = *self.worker;
  ++worker.statistics.matrixLoads;
  if (!worker.traffic.isEnabled())
    return;
  uint32_t wavefronts = 0;
  for (uint32_t matrix = 0; matrix < count; ++matrix) {
    uint64_t rows[matrixRows];
    for (uint32_t row = 0; row < matrixRows; ++row)
      rows[row] = reinterpret_cast<uint64_t>(operandOf(rendezvous, matrix * matrixRows + row).row);
    wavefronts += countWavefronts(rows, matrixRows, rowBytes);
  }
  worker.traffic.addRequest(site, /*shared=*/true, wavefronts, count);
}

/// Visits each element of each matrix: its address, and the half of a lane's register that holds it.
template <typename Visit>
void forElements(const Rendezvous &rendezvous, uint32_t count, bool transposed, const Visit &visit) {
  for (uint32_t matrix = 0; matrix < count; ++matrix)
    for (uint32_t lane = 0; lane < warpLanes; ++lane)
      for (uint32_t half = 0; half < 2; ++half) {
        uint32_t row = lane >> 2, column = (lane & 3) * 2 + half;
        if (transposed)
          std::swap(row, column);
        char *element =
            operandOf(rendezvous, matrix * matrixRows + row).row + 2 * static_cast<size_t>(column);
        visit(element, reinterpret_cast<char *>(operandOf(rendezvous, lane).words + matrix) +
                           2 * static_cast<size_t>(half));
      }
}

} // namespace

void adsim_ldmatrix(Thread *self, const char *row, uint32_t *out, uint32_t count, uint32_t transposed,
                    uint32_t site) {
  if (!checkRow(*self, row, count, 0, "ldmatrix", site))
    self->worker->leave(*self);
  MatrixOperand operand{const_cast<char *>(row), out};
  collective(*self, wholeWarp, "ldmatrix", site, &operand, nullptr, [&](const Rendezvous &rendezvous) {
    countTraffic(*self, rendezvous, count, site);
    forElements(rendezvous, count, transposed,
                [](const char *memory, char *lane) { std::memcpy(lane, memory, 2); });
  });
}

void adsim_stmatrix(Thread *self, char *row, uint32_t *in, uint32_t count, uint32_t transposed,
                    uint32_t site) {
  if (!checkRow(*self, row, count, RecordWrite, "stmatrix", site))
    self->worker->leave(*self);
  MatrixOperand operand{row, in};
  collective(*self, wholeWarp, "stmatrix", site, &operand, nullptr, [&](const Rendezvous &rendezvous) {
    countTraffic(*self, rendezvous, count, site);
    forElements(rendezvous, count, transposed,
                [](char *memory, const char *lane) { std::memcpy(memory, lane, 2); });
  });
}

//===- mma.sync -----------------------------------------------------------===//

namespace {

/// One mma.sync, decoded.
struct Mma {
  uint32_t m, n, k;
  ElementKind a, b, sum;
  bool saturates;

  uint32_t perRegister() const { return 32 / elementBits(a); }
  uint32_t registersA() const { return m * k / (warpLanes * perRegister()); }
  uint32_t registersB() const { return n * k / (warpLanes * perRegister()); }
  uint32_t wordsOfSum() const { return sum == ElementKind::F16 ? m * n / 64 : m * n / 32; }
};

constexpr uint32_t maxRows = 16, maxK = 32, maxColumns = 8;

struct Tiles {
  float a[maxRows][maxK], b[maxK][maxColumns];
  float sums[maxRows][maxColumns];
  int64_t integers[maxRows][maxColumns];
};

/// readFactors for 16-bit elements, the common case.
template <float (*widen)(uint16_t)>
void readShorts(const Mma &mma, const Rendezvous &rendezvous, Tiles &tiles) {
  uint32_t first = mma.registersA(), second = mma.registersB();
  for (uint32_t lane = 0; lane < warpLanes; ++lane) {
    const auto *words = static_cast<const uint32_t *>(rendezvous.inputs[lane]);
    uint32_t group = lane >> 2, column = (lane & 3) * 2;
    for (uint32_t i = 0; i < first; ++i) {
      float *row = &tiles.a[group + (i & 1) * 8][column + (i >> 1) * 8];
      row[0] = widen(static_cast<uint16_t>(words[i]));
      row[1] = widen(static_cast<uint16_t>(words[i] >> 16));
    }
    for (uint32_t i = 0; i < second; ++i) {
      tiles.b[column + i * 8][group] = widen(static_cast<uint16_t>(words[first + i]));
      tiles.b[column + i * 8 + 1][group] = widen(static_cast<uint16_t>(words[first + i] >> 16));
    }
  }
}

void readFactors(const Mma &mma, const Rendezvous &rendezvous, Tiles &tiles) {
  if (mma.a == ElementKind::BF16)
    return readShorts<fromBF16>(mma, rendezvous, tiles);
  if (mma.a == ElementKind::F16)
    return readShorts<fromF16>(mma, rendezvous, tiles);
  uint32_t each = mma.perRegister(), bits = elementBits(mma.a);
  for (uint32_t lane = 0; lane < warpLanes; ++lane) {
    const auto *words = static_cast<const uint32_t *>(rendezvous.inputs[lane]);
    uint32_t group = lane >> 2, column = (lane & 3) * each;
    for (uint32_t i = 0; i < mma.registersA(); ++i)
      for (uint32_t j = 0; j < each; ++j)
        tiles.a[group + (i & 1) * 8][column + j + (i >> 1) * 4 * each] =
            factor(mma.a, words[i] >> (j * bits));
    for (uint32_t i = 0; i < mma.registersB(); ++i)
      for (uint32_t j = 0; j < each; ++j)
        tiles.b[column + j + i * 4 * each][group] = factor(mma.b, words[mma.registersA() + i] >> (j * bits));
  }
}

/// Visits the accumulators of each lane: register, half of the register, row and column.
template <typename Visit> void forSums(const Mma &mma, const Visit &visit) {
  uint32_t halves = mma.sum == ElementKind::F16 ? 2 : 1;
  for (uint32_t lane = 0; lane < warpLanes; ++lane)
    for (uint32_t i = 0; i < mma.wordsOfSum(); ++i)
      for (uint32_t half = 0; half < halves; ++half) {
        uint32_t number = i * halves + half;
        visit(lane, i, half, (lane >> 2) + (number >> 1) * 8, (lane & 3) * 2 + (number & 1));
      }
}

void readSums(const Mma &mma, const Rendezvous &rendezvous, Tiles &tiles) {
  uint32_t first = mma.registersA() + mma.registersB();
  forSums(mma, [&](uint32_t lane, uint32_t i, uint32_t half, uint32_t row, uint32_t column) {
    uint32_t word = static_cast<const uint32_t *>(rendezvous.inputs[lane])[first + i];
    if (mma.sum == ElementKind::S32)
      tiles.integers[row][column] = static_cast<int32_t>(word);
    else
      tiles.sums[row][column] = mma.sum == ElementKind::F16
                                    ? fromF16(static_cast<uint16_t>(word >> (16 * half)))
                                    : floatFromBits(word);
  });
}

void writeSums(const Mma &mma, const Rendezvous &rendezvous, const Tiles &tiles) {
  forSums(mma, [&](uint32_t lane, uint32_t i, uint32_t half, uint32_t row, uint32_t column) {
    uint32_t &word = static_cast<uint32_t *>(rendezvous.outputs[lane])[i];
    if (mma.sum == ElementKind::S32) {
      int64_t sum = tiles.integers[row][column];
      word = static_cast<uint32_t>(mma.saturates ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
    } else if (mma.sum == ElementKind::F16) {
      word = (half ? word & 0xffff : 0) | uint32_t(toF16(tiles.sums[row][column])) << (16 * half);
    } else {
      word = bitsOfFloat(tiles.sums[row][column]);
    }
  });
}

void multiply(const Mma &mma, Tiles &tiles, MatrixSums matrixSums) {
  if (mma.sum != ElementKind::S32) {
    bool aligned = matrixSums == MatrixSums::Aligned && isHalf(mma.a) && mma.sum == ElementKind::F32;
    (aligned ? accumulateAligned : accumulate)(&tiles.sums[0][0], maxColumns, &tiles.a[0][0], maxK,
                                               &tiles.b[0][0], maxColumns, mma.m, mma.k, mma.n);
    return;
  }
  for (uint32_t row = 0; row < mma.m; ++row)
    for (uint32_t k = 0; k < mma.k; ++k)
      for (uint32_t column = 0; column < mma.n; ++column)
        tiles.integers[row][column] += static_cast<int64_t>(tiles.a[row][k] * tiles.b[k][column]);
}

double doubleAt(const void *memory, uint32_t index) {
  double value;
  std::memcpy(&value, static_cast<const char *>(memory) + 8 * static_cast<size_t>(index), sizeof(value));
  return value;
}

/// m8n8k4 in f64; hardware uses fused multiply-adds.
void multiplyDoubles(const Rendezvous &rendezvous) {
  for (uint32_t lane = 0; lane < warpLanes; ++lane)
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t row = lane >> 2, column = (lane & 3) * 2 + i;
      double sum = doubleAt(rendezvous.inputs[lane], 2 + i);
      for (uint32_t k = 0; k < 4; ++k)
        sum = __builtin_fma(doubleAt(rendezvous.inputs[row * 4 + k], 0),
                            doubleAt(rendezvous.inputs[column * 4 + k], 1), sum);
      std::memcpy(static_cast<char *>(rendezvous.outputs[lane]) + 8 * static_cast<size_t>(i), &sum,
                  sizeof(sum));
    }
}

} // namespace

void adsim_mma(Thread *self, uint32_t *in, uint32_t *out, uint32_t shape, uint32_t kinds, uint32_t site) {
  if (!requireWholeWarp(*self, "mma.sync", site))
    self->worker->leave(*self);
  Mma mma{shape & 0xff,
          shape >> 8 & 0xff,
          shape >> 16,
          static_cast<ElementKind>(kinds & 0xff),
          static_cast<ElementKind>(kinds >> 8 & 0xff),
          static_cast<ElementKind>(kinds >> 16 & 0xff),
          (kinds >> 24) != 0};
  collective(*self, wholeWarp, "mma.sync", site, in, out, [&](const Rendezvous &rendezvous) {
    ++self->worker->statistics.mma;
    if (mma.a == ElementKind::F64) {
      multiplyDoubles(rendezvous);
      return;
    }
    Tiles tiles;
    readFactors(mma, rendezvous, tiles);
    readSums(mma, rendezvous, tiles);
    multiply(mma, tiles, self->worker->state.launch.matrixSums);
    writeSums(mma, rendezvous, tiles);
  });
}
