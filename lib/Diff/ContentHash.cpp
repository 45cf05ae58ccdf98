// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Hashes of tensors, in which all NaNs are one, and what they say about records.
#include "adjoint/Diff/Record.h"
#include "adjoint/Diff/TensorFile.h"
#include "adjoint/Support/Buffer.h"
#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
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

//===- Records --------------------------------------------------------------===//

namespace {

bool hasFingerprint(const Record &record) { return record.summary != "????"; }

/// Whether shapes that are known are known to differ. A symbol may be any size.
bool haveOtherShapes(const Record &left, const Record &right) {
  if (!left.shape || !right.shape)
    return false;
  if (left.shape->size() != right.shape->size())
    return true;
  return llvm::any_of(llvm::zip_equal(*left.shape, *right.shape), [](auto sizes) {
    auto [l, r] = sizes;
    return l.symbol.empty() && r.symbol.empty() && l.size != r.size;
  });
}

/// Whether the value has no elements.
bool isEmpty(const Record &record) {
  return record.shape &&
         llvm::any_of(*record.shape, [](const Dim &dim) { return dim.symbol.empty() && dim.size == 0; });
}

bool isOfRecord(const TensorFile &file, const Record &record) {
  std::optional<adrt_type> type = elementType(record);
  std::vector<Dim> sizes;
  for (int64_t size : file.getShape())
    sizes.push_back({size, ""});
  Record ofFile;
  ofFile.shape = std::move(sizes);
  return (!type || *type == file.getType()) && !haveOtherShapes(ofFile, record);
}

llvm::Expected<std::string> hashOf(const Record &record) {
  llvm::Expected<TensorFile> file = TensorFile::open(record.value, elementType(record));
  if (!file)
    return file.takeError();
  if (!isOfRecord(*file, record))
    return mlir::ad::runner::usageError("'" + record.value + "' is " + file->getTypeText() +
                                        ", which is not the tensor of the record '" + record.name + "'");
  int64_t width = adrt::elementSize(file->getType()), count = file->getElementCount();
  std::vector<char> elements(static_cast<size_t>(count * width));
  if (llvm::Error error = file->read(0, count, elements.data()))
    return std::move(error);
  llvm::ArrayRef<int64_t> shape = file->getShape();
  adrt_tensor tensor = {};
  tensor.data = elements.data();
  tensor.type = file->getType();
  tensor.rank = static_cast<int32_t>(shape.size());
  tensor.shape = shape.data();
  return contentHash(tensor);
}

} // namespace

Verdict mlir::ad::diff::compareBits(const Record &left, const Record &right) {
  if (left.dtype != right.dtype || haveOtherShapes(left, right))
    return Verdict::Different;
  if (isEmpty(left) && isEmpty(right))
    return Verdict::Equal;
  if (!left.hash.empty() && !right.hash.empty())
    return left.hash == right.hash ? Verdict::Equal : Verdict::Different;
  bool areKnown = hasFingerprint(left) && hasFingerprint(right);
  return areKnown && left.summary != right.summary ? Verdict::Different : Verdict::Unknown;
}

llvm::Error mlir::ad::diff::hashKeptTensors(std::vector<Record> &records) {
  for (Record &record : records)
    if (!record.value.empty())
      if (llvm::Error error = hashOf(record).moveInto(record.hash))
        return error;
  return llvm::Error::success();
}
