// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors in .npy files, read part by part: a comparison needs little memory however large the files are.
#ifndef ADJOINT_DIFF_TENSORFILE_H
#define ADJOINT_DIFF_TENSORFILE_H

#include "adjoint/Diff/MaxDiff.h"
#include "adjoint/Diff/Statistics.h"
#include "adjoint/Support/Npy.h"

namespace mlir::ad::diff {

/// An open file, its element type and its shape.
class TensorFile {
public:
  /// `rawType` is the type of the elements of dtypes V1 and V2. Without it V2 is bf16, and V1 an error.
  static llvm::Expected<TensorFile> open(llvm::StringRef path,
                                         std::optional<adrt_type> rawType = std::nullopt);

  adrt_type getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return file.getHeader().shape; }
  int64_t getElementCount() const { return file.getHeader().dataBytes / adrt::elementSize(type); }
  llvm::StringRef getPath() const { return file.getPath(); }
  /// NpyFile::getWarning.
  std::string getWarning() const { return file.getWarning(); }
  /// Such as tensor<2x3xf32>.
  std::string getTypeText() const { return runner::formatType(type, getShape()); }

  /// Reads `count` elements from number `first` on, in row-major order.
  llvm::Error read(int64_t first, int64_t count, char *elements);

private:
  TensorFile(runner::NpyFile file, adrt_type type) : file(std::move(file)), type(type) {}

  runner::NpyFile file;
  adrt_type type;
  /// The whole tensor, if the file has another order, or booleans to be checked.
  std::unique_ptr<runner::Tensor> loaded;
};

/// An error if the shapes differ.
llvm::Expected<MaxDiff> compareFiles(TensorFile &expected, TensorFile &got,
                                     llvm::ArrayRef<double> thresholds);

llvm::Expected<Statistics> describeFile(TensorFile &file);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_TENSORFILE_H
