// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Hashes of tensors, in which all NaNs are one.
#include "adjoint/Diff/Record.h"
#include "adjoint/Support/Buffer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace mlir::ad::diff;

namespace {

/// Elements of a float type whose magnitude is at least `first` are NaN.
template <class Bits> struct NanRange {
  Bits magnitude, first;
  bool isNan(Bits bits) const { return (bits & magnitude) >= first; }
};

/// The elements with one NaN in place of all, or nothing if there are none.
template <class Bits> std::vector<uint8_t> withOneNan(llvm::ArrayRef<uint8_t> bytes, NanRange<Bits> nans) {
  std::vector<uint8_t> changed;
  for (size_t offset = 0; offset + sizeof(Bits) <= bytes.size(); offset += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + offset, sizeof(Bits));
    if (!nans.isNan(bits))
      continue;
    if (changed.empty())
      changed.assign(bytes.begin(), bytes.end());
    std::memcpy(changed.data() + offset, &nans.first, sizeof(Bits));
  }
  return changed;
}

std::vector<uint8_t> withOneNan(llvm::ArrayRef<uint8_t> bytes, int32_t type) {
  switch (type) {
  case ADRT_F64:
    return withOneNan<uint64_t>(bytes, {0x7fffffffffffffff, 0x7ff0000000000001});
  case ADRT_F32:
    return withOneNan<uint32_t>(bytes, {0x7fffffff, 0x7f800001});
  case ADRT_F16:
    return withOneNan<uint16_t>(bytes, {0x7fff, 0x7c01});
  case ADRT_BF16:
    return withOneNan<uint16_t>(bytes, {0x7fff, 0x7f81});
  case ADRT_F8E4M3FN:
    return withOneNan<uint8_t>(bytes, {0x7f, 0x7f});
  case ADRT_F8E5M2:
    return withOneNan<uint8_t>(bytes, {0x7f, 0x7d});
  default:
    return {};
  }
}

} // namespace

std::string mlir::ad::diff::contentHash(const adrt_tensor &tensor) {
  int64_t size = adrt::byteSize(tensor.type, tensor.rank, tensor.shape);
  llvm::ArrayRef<uint8_t> bytes(static_cast<const uint8_t *>(tensor.data), static_cast<size_t>(size));
  std::vector<uint8_t> changed = withOneNan(bytes, tensor.type);
  uint64_t elements = llvm::xxh3_64bits(changed.empty() ? bytes : llvm::ArrayRef<uint8_t>(changed));
  std::vector<uint64_t> all = {elements, static_cast<uint64_t>(tensor.type)};
  all.insert(all.end(), tensor.shape, tensor.shape + tensor.rank);
  uint64_t hash = llvm::xxh3_64bits(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(all.data()), all.size() * sizeof(uint64_t)));
  constexpr unsigned digits = 16;
  return llvm::utohexstr(hash, /*LowerCase=*/true, digits);
}
