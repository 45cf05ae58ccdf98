// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Files that data names: run.json, records.tsv and manifests name files of their own folder, and no others.

#ifndef ADJOINT_SUPPORT_FOLDERFILE_H
#define ADJOINT_SUPPORT_FOLDERFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir::ad {

/// The path of the file `name` in `folder`, such as values/0.npy. An error with exit code 2 if the name is
/// absolute, goes up, or leads out of the folder through a link, and if it is there and not a regular file: a
/// pipe would never end.
llvm::Expected<std::string> fileInFolder(llvm::StringRef folder, llvm::StringRef name);

} // namespace mlir::ad

#endif // ADJOINT_SUPPORT_FOLDERFILE_H
