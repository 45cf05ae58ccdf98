// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "TemporaryFolder.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

Expected<TemporaryFolder> TemporaryFolder::create(StringRef parent) {
  llvm::SmallString<128> path(parent);
  if (parent.empty())
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  llvm::sys::path::append(path, "ad-diff-XXXXXX");
  TemporaryPath made(
      [&] { return std::string(mkdtemp(const_cast<char *>(path.c_str())) ? path.c_str() : ""); });
  if (made.get().empty())
    return systemError("cannot create a temporary folder", path);
  return TemporaryFolder(std::move(made));
}

std::string TemporaryFolder::file(StringRef name) const {
  llvm::SmallString<128> file(path.get());
  llvm::sys::path::append(file, name);
  return file.str().str();
}

Error TemporaryFolder::publish(StringRef finalPath) {
  return path.moveTo(finalPath) ? Error::success() : systemError("cannot create the folder", finalPath);
}
