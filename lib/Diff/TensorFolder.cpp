// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Pairs of files in two folders.
#include "adjoint/Diff/TensorFolder.h"
#include "adjoint/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir::ad::diff;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using mlir::ad::runner::usageError;

namespace {

using Pairs = std::map<std::string, FilePair>;

// Hidden files are not complete yet: writers rename them at the end.
Error collect(StringRef folder, std::string FilePair::*side, Pairs &pairs) {
  std::error_code code;
  llvm::sys::fs::directory_iterator file(folder, code), end;
  for (; file != end && !code; file.increment(code)) {
    StringRef name = llvm::sys::path::filename(file->path());
    if (!name.ends_with(".npy") || name.starts_with("."))
      continue;
    std::string stem = name.drop_back(StringRef(".npy").size()).str();
    // A link is followed: the folder is the user's. A pipe or a device would be read without an end.
    if (llvm::sys::fs::file_status status;
        !llvm::sys::fs::status(file->path(), status) && !llvm::sys::fs::is_regular_file(status))
      return usageError("'" + file->path() + "' is not a regular file");
    FilePair &pair = pairs[stem];
    pair.name = stem;
    pair.*side = file->path();
  }
  if (code)
    return usageError("cannot read folder '" + folder + "': " + code.message());
  return Error::success();
}

} // namespace

Expected<std::vector<FilePair>> mlir::ad::diff::pairFolders(StringRef expected, StringRef got) {
  Pairs pairs;
  if (Error error = collect(expected, &FilePair::expected, pairs))
    return std::move(error);
  if (Error error = collect(got, &FilePair::got, pairs))
    return std::move(error);
  if (pairs.empty())
    return usageError("neither '" + expected + "' nor '" + got + "' has a file that ends with .npy");
  std::vector<FilePair> list;
  for (auto &[name, pair] : pairs)
    list.push_back(std::move(pair));
  return list;
}
