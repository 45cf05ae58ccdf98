// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writing files atomically: a reader sees either the old or the new content. A link stays a link. A file that
// is not regular (a device, a pipe) is written to, never replaced. Internal to the runner.
#ifndef ADJOINT_SUPPORT_OUTPUTFILE_H
#define ADJOINT_SUPPORT_OUTPUTFILE_H

#include "adjoint/Support/TemporaryPath.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::ad::runner {

/// An error with `what`, `path` and the errno of the last system call.
llvm::Error systemError(const llvm::Twine &what, llvm::StringRef path);

llvm::Error writeFully(int descriptor, llvm::StringRef path, uint64_t offset, const char *data,
                       int64_t bytes);

/// A file in the folder of its final path. It is removed unless it is published, also by cleanUpOnSignals.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(llvm::StringRef finalPath);
  TemporaryFile(TemporaryFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)), path(std::move(other.path)),
        finalPath(std::move(other.finalPath)) {}
  ~TemporaryFile();

  int getDescriptor() const { return descriptor; }
  /// The caller has to close the descriptor. The file exists until it is published or this object is
  /// destroyed.
  int takeDescriptor() { return std::exchange(descriptor, -1); }
  /// Moves the file to its final path.
  llvm::Error publish();

private:
  TemporaryFile(int descriptor, TemporaryPath path, std::string finalPath)
      : descriptor(descriptor), path(std::move(path)), finalPath(std::move(finalPath)) {}
  int descriptor;
  TemporaryPath path;
  std::string finalPath;
};

/// The path of the regular file that `path` refers to, after links. The file need not exist. An error if
/// `path` is not a regular file.
llvm::Expected<std::string> findRegularFile(llvm::StringRef path);

/// Whether both paths refer to the same file, which need not exist.
bool isSameFile(llvm::StringRef path, llvm::StringRef other);

struct NewFile {
  llvm::StringRef path; ///< of a file that is replaced, also if it is a link
  llvm::ArrayRef<llvm::StringRef> parts;
};

/// Writes files that belong together. None is replaced unless there is space for all.
llvm::Error replaceFiles(llvm::ArrayRef<NewFile> files);
llvm::Error replaceFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

/// The path that means standard output.
constexpr llvm::StringLiteral kStandardOutput("-");

/// An error if the file that `path` refers to cannot be appended to, or written by writeFile. Called before a
/// long run. Creates nothing. An empty path means no file.
llvm::Error checkWritable(llvm::StringRef path, bool isAppendedTo = false);

/// Writes to the file that `path` refers to, or to standard output. A file that is not regular is written in
/// place.
llvm::Error writeFile(llvm::StringRef path, llvm::ArrayRef<llvm::StringRef> parts);

/// Gives each standard descriptor that is closed a file that refuses the reads or writes of that descriptor,
/// and for errors one that discards them. Otherwise the first file that is opened would take its number. At
/// exit, messages that could not be written are no error. Called first in main.
void keepStandardDescriptors();

/// Writes what llvm::outs() still holds. An error unless all could be written, or the reader has closed the
/// pipe (`| head`).
llvm::Error flushStandardOutput();

/// For a tool that LLVM's option parser may end: when the process exits, output that could not be written is
/// an error and the exit code 2.
void checkStandardOutputAtExit(llvm::StringRef tool);

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_OUTPUTFILE_H
