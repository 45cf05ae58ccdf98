// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Links the objects of a program with lld. It runs as a process: lld's libraries cannot be linked together
// with the shared libLLVM.
#ifndef ADJOINT_LIB_RUNNER_AOT_LINKER_H
#define ADJOINT_LIB_RUNNER_AOT_LINKER_H

#include "adjoint/Support/TemporaryPath.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::ad::runner {

/// A folder that is removed with its content at the end of the lifetime.
class LinkFolder {
public:
  static llvm::Expected<std::unique_ptr<LinkFolder>> create();

  std::string file(const llvm::Twine &name) const;
  llvm::Expected<std::string> write(const llvm::Twine &name, llvm::StringRef content) const;
  /// Links the objects, with these options of lld, and returns the content of the result.
  llvm::Expected<std::string> link(llvm::ArrayRef<std::string> objects,
                                   llvm::ArrayRef<std::string> options) const;

private:
  explicit LinkFolder(TemporaryPath path) : path(std::move(path)) {}
  TemporaryPath path;
};

/// The folder of the program or of the library that has this code.
std::string ownFolder();

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_AOT_LINKER_H
