/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Stable sort of positions by unsigned keys, the least significant digit first. A pass counts how many keys
   have each value of a digit, and moves the entries to where these counts say. All counts are made in one
   pass over the keys, so that a digit that all keys have in common costs no pass. */
#ifndef ADJOINT_LIB_RUNTIME_HOST_RADIXSORT_H
#define ADJOINT_LIB_RUNTIME_HOST_RADIXSORT_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace adrt {

/// Maps the bits of an element to a number; elements with smaller numbers come first. The numbers of equal
/// elements are equal: those of -0 and +0, and those of all NaNs, which have the largest one.
template <class Bits> struct KeyOrder {
  Bits largest; ///< magnitude of a float that is not NaN
  bool isFloat, isDescending;

  Bits operator()(Bits bits) const {
    constexpr Bits sign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    Bits ordered = bits ^ sign;
    if (isFloat) {
      Bits magnitude = bits & Bits(~sign);
      if (magnitude > largest)
        return std::numeric_limits<Bits>::max();
      if (magnitude == 0)
        bits = 0;
      ordered = bits & sign ? Bits(~bits) : Bits(bits | sign);
    }
    return isDescending ? Bits(~ordered) : ordered;
  }
};

template <class Bits, class Position> struct SortEntry {
  Bits key;
  Position position;
};

/// A row of keys, whose order is written to `positions`.
template <class Bits> struct SortedRow {
  const Bits *keys;
  int64_t *positions;
  int64_t length;
  KeyOrder<Bits> order;

  Bits keyAt(int64_t position) const { return order(keys[position]); }
  bool comesBefore(int64_t a, int64_t b) const {
    Bits keyA = keyAt(a), keyB = keyAt(b);
    return keyA < keyB || (keyA == keyB && a < b);
  }
};

/// Rows of at most so many keys are sorted by insertion: counts of digits would take longer.
constexpr int64_t kShortRow = 24;

template <class Bits> void sortByInsertion(SortedRow<Bits> row) {
  Bits sorted[kShortRow];
  for (int64_t i = 0; i < row.length; ++i) {
    Bits key = row.keyAt(i);
    int64_t place = i;
    for (; place > 0 && sorted[place - 1] > key; --place) {
      sorted[place] = sorted[place - 1];
      row.positions[place] = row.positions[place - 1];
    }
    sorted[place] = key;
    row.positions[place] = i;
  }
}

/// Any number of keys, without further memory.
template <class Bits> void sortInPlace(const SortedRow<Bits> &row) {
  std::iota(row.positions, row.positions + row.length, 0);
  std::sort(row.positions, row.positions + row.length,
            [&](int64_t a, int64_t b) { return row.comesBefore(a, b); });
}

template <class Bits, class Position, unsigned digitBits> class RadixSort {
public:
  using Entry = SortEntry<Bits, Position>;
  static constexpr unsigned kDigits = (8 * sizeof(Bits) + digitBits - 1) / digitBits;
  static constexpr unsigned kValues = 1u << digitBits;

  static int64_t bytes(int64_t length) {
    return static_cast<int64_t>(kDigits * kValues * sizeof(Position)) +
           2 * length * static_cast<int64_t>(sizeof(Entry));
  }

  /// `memory` has as many bytes, aligned for any number.
  RadixSort(const SortedRow<Bits> &row, char *memory)
      : row(row), front(reinterpret_cast<Entry *>(memory)), back(front + row.length),
        counts(reinterpret_cast<Position *>(back + row.length)) {}

  void run() {
    countDigits();
    unsigned varying[kDigits], passes = 0;
    for (unsigned digit = 0; digit < kDigits; ++digit)
      if (countsOf(digit)[valueOf(row.keyAt(0), digit)] != static_cast<Position>(row.length))
        varying[passes++] = digit;
    if (passes == 0)
      std::iota(row.positions, row.positions + row.length, 0);
    for (unsigned pass = 0; pass < passes; ++pass)
      runPass(varying[pass], /*isFirst=*/pass == 0, /*isLast=*/pass + 1 == passes);
  }

private:
  static unsigned valueOf(Bits key, unsigned digit) {
    return static_cast<unsigned>(key >> (digit * digitBits)) & (kValues - 1);
  }
  Position *countsOf(unsigned digit) { return counts + digit * kValues; }

  // The loops have copies of what they read, which no store to counts or entries can change.
  void countDigits() {
    const SortedRow<Bits> keys = row;
    Position *const all = counts;
    std::fill_n(all, kDigits * kValues, Position(0));
    for (int64_t i = 0; i < keys.length; ++i) {
      Bits key = keys.keyAt(i);
      for (unsigned digit = 0; digit < kDigits; ++digit)
        ++all[digit * kValues + valueOf(key, digit)];
    }
  }

  void runPass(unsigned digit, bool isFirst, bool isLast) {
    Position *places = countsOf(digit), sum = 0;
    for (unsigned value = 0; value < kValues; ++value)
      sum += std::exchange(places[value], sum);
    auto read = [keys = row](int64_t i) { return Entry{keys.keyAt(i), static_cast<Position>(i)}; };
    auto readFront = [entries = front](int64_t i) { return entries[i]; };
    auto write = [positions = row.positions](Position place, Entry entry) {
      positions[place] = static_cast<int64_t>(entry.position);
    };
    auto writeBack = [entries = back](Position place, Entry entry) { entries[place] = entry; };
    if (isFirst && isLast)
      move(digit, places, read, write);
    else if (isFirst)
      move(digit, places, read, writeBack);
    else if (isLast)
      move(digit, places, readFront, write);
    else
      move(digit, places, readFront, writeBack);
    std::swap(front, back);
  }

  template <class Read, class Write> void move(unsigned digit, Position *places, Read read, Write write) {
    for (int64_t i = 0, length = row.length; i < length; ++i) {
      Entry entry = read(i);
      write(places[valueOf(entry.key, digit)]++, entry);
    }
  }

  SortedRow<Bits> row;
  Entry *front, *back;
  Position *counts;
};

} // namespace adrt

#endif /* ADJOINT_LIB_RUNTIME_HOST_RADIXSORT_H */
