/* Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

   Argsort of rows: which sort a row gets, by its length, its element type and the memory that there is. */
#include "adjoint/Runtime/Host/Argsort.h"
#include "RadixSort.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Support/MemoryLimit.h"

#include <memory>
#include <new>

using namespace adrt;

namespace {

// Counts of wide digits need longer rows than those of bytes.
constexpr int64_t kLongRow = 4096;
constexpr unsigned kByte = 8, kWideDigit = 11;

/// Memory that counts towards the limit of tensors; null if there is not as much.
class Scratch {
public:
  explicit Scratch(int64_t bytes) : bytes(bytes) {
    if (!takeMemory(bytes))
      return;
    data.reset(new (std::nothrow) char[bytes]);
    if (!data)
      giveMemory(bytes);
  }
  ~Scratch() {
    if (data)
      giveMemory(bytes);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  char *get() const { return data.get(); }

private:
  int64_t bytes;
  std::unique_ptr<char[]> data;
};

template <class Bits> struct Rows {
  const Bits *keys;
  int64_t *positions;
  int64_t begin, end, length;
  KeyOrder<Bits> order;

  template <class Sort> void forEach(Sort sort) const {
    for (int64_t row = begin; row < end; ++row)
      sort(SortedRow<Bits>{keys + row * length, positions + row * length, length, order});
  }
};

template <class Sort, class Bits> void sortByDigits(const Rows<Bits> &rows) {
  Scratch scratch(Sort::bytes(rows.length));
  rows.forEach([&](const SortedRow<Bits> &row) {
    if (scratch.get())
      Sort(row, scratch.get()).run();
    else
      sortInPlace(row);
  });
}

template <class Bits> void sortRows(const Rows<Bits> &rows) {
  if (rows.length <= kShortRow)
    rows.forEach([](const SortedRow<Bits> &row) { sortByInsertion(row); });
  else if (rows.length > static_cast<int64_t>(std::numeric_limits<uint32_t>::max()))
    sortByDigits<RadixSort<Bits, uint64_t, kWideDigit>>(rows);
  else if (sizeof(Bits) > 2 && rows.length >= kLongRow)
    sortByDigits<RadixSort<Bits, uint32_t, kWideDigit>>(rows);
  else
    sortByDigits<RadixSort<Bits, uint32_t, kByte>>(rows);
}

} // namespace

extern "C" void adrt_argsort(const void *keys, int64_t *positions, int64_t begin, int64_t end, int64_t length,
                             int32_t type, int32_t isDescending) {
  auto sort = [&](auto largest, bool isFloat) {
    using Bits = decltype(largest);
    sortRows<Bits>({static_cast<const Bits *>(keys),
                    positions,
                    begin,
                    end,
                    length,
                    {largest, isFloat, isDescending != 0}});
  };
  switch (type) {
  case ADRT_F64:
    return sort(uint64_t(0x7FF0000000000000), true);
  case ADRT_F32:
    return sort(uint32_t(0x7F800000), true);
  case ADRT_F16:
    return sort(uint16_t(0x7C00), true);
  case ADRT_BF16:
    return sort(uint16_t(0x7F80), true);
  case ADRT_F8E4M3FN: // without infinities
    return sort(uint8_t(0x7E), true);
  case ADRT_F8E5M2:
    return sort(uint8_t(0x7C), true);
  case ADRT_I8:
    return sort(uint8_t(0), false);
  case ADRT_I32:
    return sort(uint32_t(0), false);
  case ADRT_I64:
    return sort(uint64_t(0), false);
  default: // no keys
    return;
  }
}
