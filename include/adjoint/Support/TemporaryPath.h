// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Temporary files, folders and child processes that do not outlive the process, not even if a signal ends a
// tool. Internal to the tools.
#ifndef ADJOINT_SUPPORT_TEMPORARYPATH_H
#define ADJOINT_SUPPORT_TEMPORARYPATH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <sys/types.h>
#include <utility>

namespace mlir::ad::runner {

/// From now on each of these signals removes all temporary paths before it ends the process. A signal that
/// was ignored when the process started stays ignored. Only tools call this: a library installs no handlers.
void cleanUpOnSignals(llvm::ArrayRef<int> signals);

/// Does the same from a signal handler of the tool, after cleanUpOnSignals.
void cleanUpAndEndBy(int signal);

/// Does not return if a signal that was received ends this process: a child that the same signal ended, as
/// when it goes to all processes of a terminal, has no fault that a message could name.
void waitForEndBySignal();

/// Removes temporary files and kills the child process, without memory and for a process that ends now.
/// Folders stay, and everything does if another thread is changing it.
void removeTemporaryFiles();

/// A file or folder that is removed, a folder with its content, unless it is moved to its final path.
class TemporaryPath {
public:
  TemporaryPath() = default;
  /// `create` makes the file or folder and returns its path, or an empty string if that fails. No signal is
  /// handled before the path is known.
  explicit TemporaryPath(llvm::function_ref<std::string()> create);
  TemporaryPath(TemporaryPath &&other) noexcept : path(std::exchange(other.path, {})) {}
  TemporaryPath &operator=(TemporaryPath &&other) noexcept {
    std::swap(path, other.path);
    return *this;
  }
  ~TemporaryPath();

  const std::string &get() const { return path; }
  /// False, with errno, if the path cannot be renamed.
  bool moveTo(llvm::StringRef finalPath);
  /// From now on nothing removes it. Returns the path.
  std::string keep();

private:
  std::string path;
};

/// While it lives, the signals that remove temporary paths kill this process first, which writes to them.
class KilledWithTool {
public:
  explicit KilledWithTool(pid_t process);
  ~KilledWithTool();
};

} // namespace mlir::ad::runner

#endif // ADJOINT_SUPPORT_TEMPORARYPATH_H
