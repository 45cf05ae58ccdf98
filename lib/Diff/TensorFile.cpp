// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors in .npy files.
#include "adjoint/Diff/TensorFile.h"
#include "adjoint/Support/Error.h"

#include <algorithm>
#include <cstring>

using namespace mlir::ad::diff;
using llvm::Error;
using llvm::Expected;
using mlir::ad::runner::NpyFile;
using mlir::ad::runner::npyTypeFits;
using mlir::ad::runner::usageError;

namespace {

/// Parts of both files stay in the second-level cache.
constexpr int64_t partElements = 1 << 15;

bool isRaw(llvm::StringRef dtype) {
  llvm::StringRef name = dtype.ltrim("<>=|");
  return name == "V1" || name == "V2";
}

Expected<adrt_type> typeOf(const NpyFile &file, std::optional<adrt_type> rawType) {
  llvm::StringRef dtype = file.getHeader().dtype;
  if (isRaw(dtype) && rawType) {
    if (!npyTypeFits(dtype, *rawType))
      return mlir::ad::runner::npyTypeError(file.getPath(), dtype, *rawType);
    return *rawType;
  }
  if (isRaw(dtype) && dtype.ends_with("1"))
    return usageError("'" + file.getPath() + "': dtype '" + dtype +
                      "' does not say the element type, expected --type f8E4M3FN or f8E5M2");
  for (int type = ADRT_F64; type <= ADRT_I64; ++type)
    if (npyTypeFits(dtype, static_cast<adrt_type>(type)))
      return static_cast<adrt_type>(type);
  return usageError("'" + file.getPath() + "': dtype '" + dtype + "' is not supported");
}

} // namespace

Expected<TensorFile> TensorFile::open(llvm::StringRef path, std::optional<adrt_type> rawType) {
  Expected<NpyFile> file = NpyFile::open(path);
  if (!file)
    return file.takeError();
  Expected<adrt_type> type = typeOf(*file, rawType);
  if (!type)
    return type.takeError();
  bool isLoaded = *type == ADRT_I1 || (file->getHeader().fortranOrder && file->getHeader().shape.size() > 1);
  TensorFile tensor(std::move(*file), *type);
  if (!isLoaded)
    return std::move(tensor);
  Expected<runner::Tensor> loaded = tensor.file.load(*type);
  if (!loaded)
    return loaded.takeError();
  tensor.loaded = std::make_unique<runner::Tensor>(std::move(*loaded));
  return std::move(tensor);
}

Error TensorFile::read(int64_t first, int64_t count, char *elements) {
  int64_t width = adrt::elementSize(type);
  if (!loaded)
    return file.read(first * width, elements, count * width);
  std::memcpy(elements, loaded->getData() + first * width, static_cast<size_t>(count * width));
  return Error::success();
}

Expected<MaxDiff> mlir::ad::diff::compareFiles(TensorFile &expected, TensorFile &got,
                                               llvm::ArrayRef<double> thresholds) {
  if (expected.getShape() != got.getShape())
    return usageError("'" + expected.getPath() + "' is " + expected.getTypeText() + ", '" + got.getPath() +
                      "' is " + got.getTypeText() + ": expected tensors of one shape");
  int64_t total = expected.getElementCount();
  MaxDiffBuilder builder(expected.getType(), got.getType(), total, thresholds);
  std::vector<char> left(static_cast<size_t>(partElements * adrt::elementSize(expected.getType())));
  std::vector<char> right(static_cast<size_t>(partElements * adrt::elementSize(got.getType())));
  for (int64_t first = 0; first < total; first += partElements) {
    int64_t count = std::min(partElements, total - first);
    if (Error error = expected.read(first, count, left.data()))
      return std::move(error);
    if (Error error = got.read(first, count, right.data()))
      return std::move(error);
    builder.add(left.data(), right.data(), count);
  }
  return builder.finish(expected.getShape());
}

Expected<Statistics> mlir::ad::diff::describeFile(TensorFile &file) {
  int64_t total = file.getElementCount();
  StatisticsBuilder builder(file.getType(), total);
  std::vector<char> elements(static_cast<size_t>(partElements * adrt::elementSize(file.getType())));
  for (int64_t first = 0; first < total; first += partElements) {
    int64_t count = std::min(partElements, total - first);
    if (Error error = file.read(first, count, elements.data()))
      return std::move(error);
    builder.add(elements.data(), count);
  }
  return builder.finish();
}
