// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Folders and child processes that do not outlive the tool, not even if a signal ends it. Internal to the
// tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_TEMPORARYFOLDER_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_TEMPORARYFOLDER_H

#include "llvm/Support/Error.h"

#include <string>
#include <sys/types.h>

namespace mlir::ad::diff {

/// A folder that is removed with its content, also by SIGINT, SIGTERM and SIGHUP.
class TemporaryFolder {
public:
  /// In the folder `parent`, or, if it is empty, in the one for temporary files.
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef parent = "");
  TemporaryFolder(TemporaryFolder &&other) noexcept : path(std::exchange(other.path, {})) {}
  ~TemporaryFolder();

  std::string file(llvm::StringRef name) const;
  /// Gives the folder its final path, where nothing or an empty folder may be.
  llvm::Error publish(llvm::StringRef finalPath);

private:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}
  std::string path;
};

/// While it lives, the signals that remove temporary folders kill this process first, which writes to them.
class KilledWithTool {
public:
  explicit KilledWithTool(pid_t process);
  ~KilledWithTool();
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_TEMPORARYFOLDER_H
