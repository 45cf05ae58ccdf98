// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// NumPy's `.npy` files, format versions 1 to 3: reading whole tensors and streams of them, writing tensors
// atomically, and appending along a first axis. Files are untrusted: a malformed file only causes an error
// message.
#ifndef ADJOINT_SUPPORT_NPY_H
#define ADJOINT_SUPPORT_NPY_H

#include "adjoint/Support/Tensor.h"

#include <mutex>

namespace mlir::ad::runner {

/// The contents of the header.
struct NpyHeader {
  std::string dtype; ///< as in the file, e.g. <f4
  bool fortranOrder = false;
  Shape shape;
  uint64_t dataOffset = 0;
  int64_t elementBytes = 0;
  int64_t dataBytes = 0;
  bool isStream = false;    ///< NpyAppender wrote it: there are as many values as the file has whole ones
  int64_t partialBytes = 0; ///< of the last value of a stream, which was being written
};

/// Parses the header of a file of `fileSize` bytes that starts with `bytes`. Checks that the file has all
/// data that the header describes. Of a stream the size decides how many values there are: its header counts
/// those of the last flush.
llvm::Expected<NpyHeader> parseNpyHeader(llvm::ArrayRef<char> bytes, uint64_t fileSize);

/// Parses a whole file in memory, with any bytes. Used for fuzzing.
inline llvm::Expected<NpyHeader> parseNpy(llvm::ArrayRef<char> bytes) {
  return parseNpyHeader(bytes, bytes.size());
}

/// Whether elements of `dtype` are elements of `type`. Raw V1 and V2 may be types that NumPy does not have.
bool npyTypeFits(llvm::StringRef dtype, adrt_type type);
/// The error that they are not, with a conversion in NumPy.
llvm::Error npyTypeError(llvm::StringRef path, llvm::StringRef dtype, adrt_type type);

/// An open file whose data is read in parts.
class NpyFile {
public:
  static llvm::Expected<NpyFile> open(llvm::StringRef path);
  NpyFile(NpyFile &&other) noexcept;
  NpyFile &operator=(NpyFile &&) = delete;
  ~NpyFile();

  const NpyHeader &getHeader() const { return header; }
  llvm::StringRef getPath() const { return path; }
  /// About a stream whose last value is incomplete, and not read; else empty.
  std::string getWarning() const;
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

/// A file that grows by one tensor per call, along a new first axis. After `create`, the file on disk is
/// valid at any time, and its header counts whole tensors. Tensors are in the file after a flush, or after
/// half a second. One thread calls the functions of an appender.
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

private:
  friend class StreamFlusher;
  NpyAppender(llvm::StringRef path, int descriptor, adrt_type type, llvm::ArrayRef<int64_t> shape);
  llvm::Error flushLocked();
  llvm::Error writeHeader();
  void keepWholeValues();

  std::string path;
  int descriptor;
  adrt_type type;
  Shape shape;
  int64_t headerBytes = 0;
  int64_t count = 0;        // tensors appended
  int64_t writtenCount = 0; // as in the header
  int64_t flushedBytes = 0; // of data on disk
  std::vector<char> pending;
  bool isFlushedInTime = false; // by the thread that does so for all streams, if it could be started
  std::mutex mutex;             // of this object and that thread
  std::string failure;          // of that thread; the next call returns it
};

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_NPY_H
