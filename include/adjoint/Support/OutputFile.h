// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writing files so that a reader sees the old or the new content, never half of it. Links stay links, and
// what is no regular file (a device, a pipe) is written to, never replaced. Internal to the runner.
#ifndef ADJOINT_SUPPORT_OUTPUTFILE_H
#define ADJOINT_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::ad::runner {

/// The error of the last system call, as one about `path`.
llvm::Error systemError(const llvm::Twine &what, llvm::StringRef path);

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

/// Where a regular file named `path` is, once links are followed, or would be; an error if something else is
/// there.
llvm::Expected<std::string> findRegularFile(llvm::StringRef path);

/// Whether both paths lead to one file, which need not exist yet.
bool isSameFile(llvm::StringRef path, llvm::StringRef other);

/// A new file takes the place of what has the name `path`, be it a link.
llvm::Error replaceFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

/// The name of standard output where a file is written.
constexpr llvm::StringLiteral kStandardOutput("-");

/// An error if the file that `path` leads to could not be written, as it stands: a long run should not end
/// with that. It is appended to, or written by writeFile. Nothing is created; an empty path names no file.
llvm::Error checkWritable(llvm::StringRef path, bool isAppendedTo = false);

/// Writes to the file that `path` leads to, or to standard output. What is not a regular file is written in
/// place.
llvm::Error writeFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_OUTPUTFILE_H
