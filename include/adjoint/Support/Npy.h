// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// NumPy's `.npy` files, format versions 1 to 3: reading whole tensors and streams of them, writing tensors
// atomically, and appending along a first axis. Files come from anywhere: nothing in one may do more than
// cause an error message.
#ifndef ADJOINT_SUPPORT_NPY_H
#define ADJOINT_SUPPORT_NPY_H

#include "adjoint/Support/Tensor.h"

#include <chrono>

namespace mlir::ad::runner {

/// What the head of a file says.
struct NpyHeader {
  std::string dtype; ///< as in the file, e.g. <f4
  bool fortranOrder = false;
  Shape shape;
  uint64_t dataOffset = 0;
  int64_t elementBytes = 0;
  int64_t dataBytes = 0;
};

/// Reads the head of a file of `fileSize` bytes that starts with `bytes`; checks that all data it announces
/// is there.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::ArrayRef<char> bytes, uint64_t fileSize);

/// A whole file in memory. The entry for fuzzing: pure, for any bytes.
inline llvm::Expected<NpyHeader> parseNpy(llvm::ArrayRef<char> bytes) {
  return parseNpyHeader(bytes, bytes.size());
}

/// Whether elements of `dtype` are elements of `type`; raw V1 and V2 stand for the types that NumPy lacks.
bool npyTypeFits(llvm::StringRef dtype, adrt_type type);
/// That they are not, with the conversion to write.
llvm::Error npyTypeError(llvm::StringRef path, llvm::StringRef dtype, adrt_type type);

/// An open file whose data is read piece by piece.
class NpyFile {
public:
  static llvm::Expected<NpyFile> open(llvm::StringRef path);
  NpyFile(NpyFile &&other) noexcept;
  NpyFile &operator=(NpyFile &&) = delete;
  ~NpyFile();

  const NpyHeader &getHeader() const { return header; }
  llvm::StringRef getPath() const { return path; }
  /// Reads `bytes` bytes of the data from `offset` on.
  llvm::Error read(int64_t offset, char *destination, int64_t bytes) const;
  /// The whole tensor in row-major order; the file's dtype must fit `type`.
  llvm::Expected<Tensor> load(adrt_type type) const;

private:
  NpyFile(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  std::string path;
  int descriptor = -1;
  NpyHeader header;
};

/// Writes `tensor` to `path`: the old file stays until the new one is complete.
llvm::Error writeNpy(llvm::StringRef path, const adrt_tensor &tensor);

/// A file that grows by one tensor per call, along a new first axis. What stands on disk is a valid file at
/// any moment after `create`; tensors are on disk after a flush.
class NpyAppender {
public:
  static llvm::Expected<std::unique_ptr<NpyAppender>> create(llvm::StringRef path, adrt_type type,
                                                             llvm::ArrayRef<int64_t> shape);
  ~NpyAppender();
  NpyAppender(const NpyAppender &) = delete;
  NpyAppender &operator=(const NpyAppender &) = delete;

  /// The tensor must have the type and shape of the first one.
  llvm::Error append(const adrt_tensor &tensor);
  llvm::Error flush();
  int64_t getCount() const { return count; }

private:
  NpyAppender(llvm::StringRef path, int descriptor, adrt_type type, llvm::ArrayRef<int64_t> shape);
  llvm::Error writeHeader();
  void keepWholeValues();

  std::string path;
  int descriptor;
  adrt_type type;
  Shape shape;
  int64_t headerBytes = 0;
  int64_t count = 0;        // tensors appended
  int64_t flushedBytes = 0; // of data on disk
  std::vector<char> pending;
  std::chrono::steady_clock::time_point lastFlush;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_NPY_H
