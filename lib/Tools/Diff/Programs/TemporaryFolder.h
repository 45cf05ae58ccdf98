// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Folders that do not outlive the tool, not even if a signal ends it. Internal to the tool.
#ifndef ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_TEMPORARYFOLDER_H
#define ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_TEMPORARYFOLDER_H

#include "adjoint/Support/TemporaryPath.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::diff {

/// A folder that is removed with its content, also by SIGINT, SIGTERM and SIGHUP.
class TemporaryFolder {
public:
  /// In the folder `parent`, or, if it is empty, in the one for temporary files.
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef parent = "");

  std::string file(llvm::StringRef name) const;
  /// Gives the folder its final path, where nothing or an empty folder may be.
  llvm::Error publish(llvm::StringRef finalPath);

private:
  explicit TemporaryFolder(runner::TemporaryPath path) : path(std::move(path)) {}
  runner::TemporaryPath path;
};

} // namespace mlir::ad::diff

#endif // ADJOINT_LIB_TOOLS_DIFF_PROGRAMS_TEMPORARYFOLDER_H
