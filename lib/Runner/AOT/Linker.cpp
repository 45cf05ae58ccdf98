// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Linker.h"
#include "adjoint/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <dlfcn.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

Expected<std::unique_ptr<LinkFolder>> LinkFolder::create() {
  std::error_code code;
  TemporaryPath path([&] {
    llvm::SmallString<128> made;
    code = llvm::sys::fs::createUniqueDirectory("adjoint", made);
    return code ? std::string() : made.str().str();
  });
  if (code)
    return usageError("cannot make a temporary folder: " + code.message());
  return std::unique_ptr<LinkFolder>(new LinkFolder(std::move(path)));
}

std::string LinkFolder::file(const llvm::Twine &name) const {
  llvm::SmallString<128> full(path.get());
  llvm::sys::path::append(full, name);
  return full.str().str();
}

Expected<std::string> LinkFolder::write(const llvm::Twine &name, StringRef content) const {
  std::string full = file(name);
  std::error_code code;
  llvm::raw_fd_ostream os(full, code);
  os << content;
  os.close();
  if (!code)
    code = os.error();
  os.clear_error();
  if (code)
    return usageError("cannot write '" + full + "': " + code.message());
  return full;
}

std::string mlir::ad::runner::ownFolder() {
  Dl_info info = {};
  StringRef file;
  if (::dladdr(reinterpret_cast<void *>(&ownFolder), &info) && info.dli_fname)
    file = info.dli_fname;
  // Of a program that was started by its name the loader knows no folder.
  if (!file.contains('/'))
    return llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(nullptr, nullptr)).str();
  return llvm::sys::path::parent_path(file).str();
}

namespace {

/// The linker that a package brings, beside this code or in the folder bin of Python's package; else that on
/// the path, or that of the LLVM that this code was built with.
Expected<std::string> findLinker() {
  const std::string own = ownFolder(), bin = own + "/../adjoint/bin";
  for (StringRef folder : {StringRef(own), StringRef(bin), StringRef(), StringRef(ADJOINT_LLVM_TOOLS)})
    for (StringRef name : {"ld.lld-22", "ld.lld"})
      if (auto path = folder.empty() ? llvm::sys::findProgramByName(name)
                                     : llvm::sys::findProgramByName(name, folder))
        return *path;
  return exitError(ExitNoTarget,
                   "--emit needs LLVM's linker, and there is no ld.lld-22 and no ld.lld; install "
                   "the package lld-22");
}

Error runLinker(const LinkFolder &folder, const std::vector<std::string> &arguments) {
  std::vector<StringRef> words(arguments.begin(), arguments.end());
  std::string log = folder.file("log"), problem;
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log), StringRef(log)};
  int code = llvm::sys::ExecuteAndWait(words.front(), words, std::nullopt, redirects, 0, 0, &problem);
  if (code == 0)
    return Error::success();
  // What the linker says, or the loader of its libraries, is better than the number that it ends with.
  constexpr int notStarted = -1;
  if (auto text = llvm::MemoryBuffer::getFile(log))
    if (StringRef said = (*text)->getBuffer().trim();
        !said.empty() && (code == notStarted || problem.empty()))
      problem = said.str();
  if (code == notStarted)
    return exitError(ExitNoTarget, "cannot start '" + words.front() + "': " + problem +
                                       "; raise the limit on processes (see ulimit -u) or on memory (see "
                                       "ulimit -v)");
  return exitError(ExitProgramError, "internal error: the compiled program does not link: " + problem);
}

} // namespace

Expected<std::string> LinkFolder::link(llvm::ArrayRef<std::string> objects,
                                       llvm::ArrayRef<std::string> options) const {
  Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  std::string result = file("linked");
  std::vector<std::string> words{*linker};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--build-id=none",
                             "--threads=1", // the linker ends by a signal if one of them does not start
                             "-o", result});
  for (auto [index, object] : llvm::enumerate(objects)) {
    Expected<std::string> path = write(llvm::Twine(index) + ".o", object);
    if (!path)
      return path.takeError();
    words.push_back(*path);
  }
  if (Error error = runLinker(*this, words))
    return std::move(error);
  auto linked = llvm::MemoryBuffer::getFile(result, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked)
    return usageError("cannot read '" + result + "': " + linked.getError().message());
  return (*linked)->getBuffer().str();
}
