// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "OutputFolder.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/FolderFile.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static std::string newIdentifier() {
  constexpr int words = 4;
  std::random_device device;
  std::string digits;
  for (int word = 0; word < words; ++word)
    digits += llvm::utohexstr(device(), /*LowerCase=*/true, /*Width=*/8);
  return digits;
}

Expected<std::unique_ptr<OutputFolder>> OutputFolder::open(StringRef path) {
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_directory(path))
    return usageError("'" + path + "' is not a folder");
  if (std::error_code code = llvm::sys::fs::create_directories(path))
    return usageError("cannot make folder '" + path + "': " + code.message());
  int descriptor = ::open(path.str().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError("cannot open folder", path);
  std::unique_ptr<OutputFolder> folder(new OutputFolder(path.str(), descriptor));
  // File systems without locks have no other error: the run goes on without one.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return usageError("another run writes into '" + path + "'; wait for its end, or name another folder");
  return std::move(folder);
}

Error OutputFolder::requireInPlace() const {
  struct stat locked, named;
  bool isSame = ::fstat(descriptor, &locked) == 0 && ::stat(path.c_str(), &named) == 0 &&
                locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
  return isSame ? Error::success()
                : usageError("the folder '" + path + "' was moved or removed while the run wrote into it");
}

OutputFolder::~OutputFolder() { ::close(descriptor); }

std::string OutputFolder::pathOf(StringRef name) const {
  llvm::SmallString<128> full(path);
  llvm::sys::path::append(full, name);
  return full.str().str();
}

// A manifest that is not ours, or is damaged, says nothing.
void OutputFolder::readEarlier() {
  Expected<std::string> file = fileInFolder(path, kManifest);
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  Expected<llvm::json::Value> value = readJSON(*file);
  if (!value) {
    llvm::consumeError(value.takeError());
    return;
  }
  const llvm::json::Object *manifest = value->getAsObject();
  if (const llvm::json::Object *files = manifest ? manifest->getObject("files") : nullptr)
    for (const auto &file : *files)
      earlier.insert(file.first.str());
  if (const llvm::json::Array *names = manifest ? manifest->getArray("earlier") : nullptr)
    for (const llvm::json::Value &name : *names)
      if (std::optional<StringRef> text = name.getAsString())
        earlier.insert(text->str());
}

Error OutputFolder::write(StringRef state, llvm::json::Object files) const {
  llvm::json::Array left;
  for (const std::string &name : earlier)
    if (!files.get(name) && llvm::sys::fs::exists(pathOf(llvm::sys::path::filename(name))))
      left.push_back(name);
  llvm::json::Object manifest{
      {"run", run}, {"state", state}, {"files", std::move(files)}, {"earlier", std::move(left)}};
  return replaceFile(pathOf(kManifest),
                     {mlir::ad::jsonText(std::move(manifest))}); // a link of this name, too
}

Error OutputFolder::begin() {
  run = newIdentifier();
  readEarlier();
  return write("running", {});
}

static Expected<llvm::json::Object> describe(const std::string &path) {
  auto content = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!content)
    return usageError("cannot read '" + path + "': " + content.getError().message());
  llvm::BLAKE3 hasher;
  hasher.update((*content)->getBuffer());
  return llvm::json::Object{{"bytes", static_cast<int64_t>((*content)->getBufferSize())},
                            {"blake3", llvm::toHex(hasher.final(), /*LowerCase=*/true)}};
}

Error OutputFolder::finish(std::vector<std::string> names) {
  if (Error error = requireInPlace())
    return error;
  llvm::sort(names);
  llvm::json::Object files;
  llvm::BLAKE3 all;
  for (const std::string &name : names) {
    Expected<llvm::json::Object> file = describe(pathOf(name));
    if (!file)
      return file.takeError();
    all.update(name + '\0' + file->getString("blake3")->str());
    files[name] = std::move(*file);
  }
  run = llvm::toHex(all.final(), /*LowerCase=*/true).substr(0, run.size());
  return write("whole", std::move(files));
}
