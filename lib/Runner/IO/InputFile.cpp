// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads whole files and pipes.
#include "InputFile.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutOfMemory.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

namespace {

/// The maximum length of an input from a pipe that does not state its length.
constexpr uint64_t kMaxPipeBytes = uint64_t(256) << 20;
constexpr uint64_t kMaxBytes = uint64_t(1) << 48;

class InputFile {
public:
  InputFile(fs::file_t file, StringRef name) : file(file), name(name) {}
  Expected<std::unique_ptr<llvm::MemoryBuffer>> read(HeadCheck check);

private:
  Error cannotRead(const llvm::Twine &reason) const {
    return usageError("cannot read '" + name + "': " + reason);
  }
  Error checkKind();
  /// Reads until `room` is full or the input ends. Returns the number of bytes.
  Expected<size_t> fill(llvm::MutableArrayRef<char> room) const;

  fs::file_t file;
  StringRef name;
  uint64_t size = 0; // 0: not known before its end
};

} // namespace

// Terminals are no devices here: the user ends the input. Files of the kernel (/proc) have content and size
// 0.
Error InputFile::checkKind() {
  fs::file_status status;
  if (std::error_code code = fs::status(file, status))
    return cannotRead(code.message());
  fs::file_type kind = status.type();
  if ((kind == fs::file_type::character_file || kind == fs::file_type::block_file) && !::isatty(file))
    return cannotRead("it is a device, expected a file or a pipe");
  size = kind == fs::file_type::regular_file ? status.getSize() : 0;
  return Error::success();
}

Expected<size_t> InputFile::fill(llvm::MutableArrayRef<char> room) const {
  constexpr size_t step = size_t(1) << 30; // the limit of one read on some systems
  size_t count = 0;
  while (count < room.size()) {
    Expected<size_t> got = fs::readNativeFile(file, room.drop_front(count).take_front(step));
    if (!got)
      return cannotRead(llvm::toString(got.takeError()));
    if (*got == 0)
      break;
    count += *got;
  }
  return count;
}

Expected<std::unique_ptr<llvm::MemoryBuffer>> InputFile::read(HeadCheck check) {
  if (Error error = checkKind())
    return std::move(error);
  char head[kInputHead];
  Expected<size_t> first = fill(head);
  if (!first)
    return first.takeError();
  Expected<uint64_t> stated = check(StringRef(head, *first));
  if (!stated)
    return stated.takeError();
  // One byte more than expected detects a longer input.
  uint64_t expected = size ? size : *stated ? std::min(*stated, kMaxBytes) + 1 : kMaxPipeBytes + 1;
  expected = std::max<uint64_t>(expected, *first);
  std::unique_ptr<llvm::WritableMemoryBuffer> whole;
  {
    CatchLackOfMemory catching;
    whole = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(expected, name);
  }
  if (!whole)
    return cannotRead("not enough memory for " + llvm::Twine(expected) + " bytes");
  std::memcpy(whole->getBufferStart(), head, *first);
  Expected<size_t> rest = fill(whole->getBuffer().drop_front(*first));
  if (!rest)
    return rest.takeError();
  size_t count = *first + *rest;
  if (!size && !*stated && count > kMaxPipeBytes)
    return cannotRead("it is longer than " + llvm::Twine(kMaxPipeBytes) + " bytes; put it into a file");
  if (count == expected)
    return std::move(whole);
  return llvm::MemoryBuffer::getMemBufferCopy(StringRef(whole->getBufferStart(), count), name);
}

Expected<std::unique_ptr<llvm::MemoryBuffer>> mlir::ad::runner::readInput(StringRef path, HeadCheck check) {
  if (path == "-")
    return InputFile(fs::getStdinHandle(), "<stdin>").read(check);
  Expected<fs::file_t> file = fs::openNativeFileForRead(path);
  if (!file)
    return usageError("cannot read '" + path + "': " + llvm::toString(file.takeError()));
  llvm::scope_exit close([&] { fs::closeFile(*file); });
  return InputFile(*file, path).read(check);
}
