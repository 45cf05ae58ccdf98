// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writing files so that a reader sees the old or the new content, never half of it. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_NPYINTERNAL_H
#define ADJOINT_LIB_RUNNER_NPYINTERNAL_H

#include "adjoint/Runner/Tensor.h"

namespace mlir::ad::runner {

/// The head of a file, padded to a multiple of 64 and at least `minimumBytes` bytes.
std::string makeNpyHeader(adrt_type type, llvm::ArrayRef<int64_t> shape, size_t minimumBytes = 0);

llvm::Error writeFully(int descriptor, llvm::StringRef path, uint64_t offset, const char *data,
                       int64_t bytes);

/// A file beside its final place; removed again unless it is published.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef finalPath);
  TemporaryFile(TemporaryFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)), name(std::exchange(other.name, {})),
        finalPath(std::move(other.finalPath)) {}
  ~TemporaryFile();

  int getDescriptor() const { return descriptor; }
  /// The caller closes it; the file stays until it is published or this object dies.
  int takeDescriptor() { return std::exchange(descriptor, -1); }
  /// Moves the file to its final place.
  llvm::Error publish();

private:
  TemporaryFile(int descriptor, std::string name, std::string finalPath)
      : descriptor(descriptor), name(std::move(name)), finalPath(std::move(finalPath)) {}
  int descriptor;
  std::string name, finalPath;
};

llvm::Error writeFileAtomically(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_NPYINTERNAL_H
