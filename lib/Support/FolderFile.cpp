// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Support/FolderFile.h"

#include "adjoint/Support/Error.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using llvm::StringRef;

namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

static bool staysBelow(StringRef name) {
  bool goesUp = std::any_of(path::begin(name), path::end(name), [](StringRef part) { return part == ".."; });
  return !name.empty() && !path::is_absolute(name) && !goesUp && !name.contains('\0');
}

// Both are real paths.
static bool isInside(StringRef folder, StringRef file) {
  return file.consume_front(folder) && (folder.ends_with("/") || file.starts_with("/"));
}

llvm::Expected<std::string> mlir::ad::fileInFolder(StringRef folder, StringRef name) {
  auto refuse = [&](const llvm::Twine &reason) {
    return runner::usageError("'" + name + "' is not a file of '" + folder + "': " + reason);
  };
  if (!staysBelow(name))
    return refuse("expected a name that stays in the folder");
  llvm::SmallString<128> file(folder), realFolder, realFile;
  path::append(file, name);
  if (fs::real_path(folder, realFolder) || fs::real_path(file, realFile))
    return file.str().str(); // is not there, which the reader says
  if (!isInside(realFolder, realFile))
    return refuse("a link leads out of the folder");
  fs::file_status status;
  if (!fs::status(file, status) && !fs::is_regular_file(status))
    return refuse("it is not a regular file");
  return file.str().str();
}
