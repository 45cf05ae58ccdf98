// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The .npy files of two folders, such as ad-runner --out-dir writes, paired by their names.
#ifndef ADJOINT_DIFF_TENSORFOLDER_H
#define ADJOINT_DIFF_TENSORFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mlir::ad::diff {

/// Files of one name. One path is empty if its folder does not have the name.
struct FilePair {
  std::string name, expected, got;
};

/// The pairs in the order of their names. An error if neither folder has a .npy file.
llvm::Expected<std::vector<FilePair>> pairFolders(llvm::StringRef expected, llvm::StringRef got);

} // namespace mlir::ad::diff

#endif // ADJOINT_DIFF_TENSORFOLDER_H
