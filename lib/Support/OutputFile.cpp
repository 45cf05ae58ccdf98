// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A regular file is written under a temporary name in its folder and renamed. Any other file is written in
// place.
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/Error.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// Whether there is a file. An error if the system refuses to follow the path: through too many links, or
/// through one that another user made in a shared folder.
Expected<bool> findStatus(StringRef path, struct stat &status) {
  if (::stat(path.str().c_str(), &status) == 0)
    return true;
  if (errno == ENOENT)
    return false;
  return systemError("cannot write", path);
}

/// The path that `path` refers to after links, which the system follows; the file need not exist.
std::string followLinks(StringRef path) {
  constexpr int maxLinks = 40; // as many as Linux follows
  llvm::SmallString<128> current(path);
  char buffer[PATH_MAX];
  for (int count = 0; count < maxLinks; ++count) {
    ssize_t length = ::readlink(current.c_str(), buffer, sizeof(buffer));
    if (length < 0)
      break;
    StringRef target(buffer, static_cast<size_t>(length));
    if (llvm::sys::path::is_absolute(target))
      current.clear();
    else
      llvm::sys::path::remove_filename(current);
    llvm::sys::path::append(current, target);
  }
  return current.str().str();
}

bool sameFile(const struct stat &left, int descriptor) {
  struct stat right;
  return ::fstat(descriptor, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

bool isOpenOutput(const struct stat &status) {
  return sameFile(status, STDOUT_FILENO) || sameFile(status, STDERR_FILENO);
}

/// A descriptor of a file that must not be replaced; -1 if the file is regular or does not exist.
Expected<int> openInPlace(StringRef path) {
  struct stat status;
  Expected<bool> exists = findStatus(path, status);
  if (!exists)
    return exists.takeError();
  if (!*exists)
    return -1;
  int descriptor = -1;
  // A name of an open output, such as /dev/stdout, shares the file offset of that output.
  for (int open : {STDOUT_FILENO, STDERR_FILENO})
    if (descriptor < 0 && sameFile(status, open))
      descriptor = ::fcntl(open, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0 && S_ISREG(status.st_mode))
    return -1;
  if (descriptor < 0)
    descriptor = llvm::sys::RetryAfterSignal(-1, ::open, path.str().c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError("cannot write", path);
  return descriptor;
}

/// Without offsets, which pipes do not have.
Error writeSequentially(int descriptor, StringRef path, llvm::ArrayRef<StringRef> parts) {
  for (StringRef part : parts)
    while (!part.empty()) {
      ssize_t step = llvm::sys::RetryAfterSignal(-1, ::write, descriptor, part.data(), part.size());
      if (step < 0)
        return systemError("cannot write", path);
      part = part.drop_front(static_cast<size_t>(step));
    }
  return Error::success();
}

/// Network file systems report a full disk only at the close.
Error closeChecked(int descriptor, StringRef path) {
  return ::close(descriptor) == 0 ? Error::success() : systemError("cannot write", path);
}

/// After the output that llvm::outs has buffered.
Error writeStandardOutput(llvm::ArrayRef<StringRef> parts) {
  llvm::outs().flush();
  return writeSequentially(STDOUT_FILENO, "standard output", parts);
}

} // namespace

Error mlir::ad::runner::systemError(const llvm::Twine &what, StringRef path) {
  return usageError(what + " '" + path + "': " + llvm::sys::StrError());
}

Error mlir::ad::runner::writeFully(int descriptor, StringRef path, uint64_t offset, const char *data,
                                   int64_t bytes) {
  while (bytes > 0) {
    ssize_t step = llvm::sys::RetryAfterSignal(-1, ::pwrite, descriptor, data, static_cast<size_t>(bytes),
                                               static_cast<off_t>(offset));
    if (step < 0)
      return systemError("cannot write", path);
    data += step;
    bytes -= step;
    offset += static_cast<uint64_t>(step);
  }
  return Error::success();
}

// If the file does not exist, the real path of its folder with the name of the file.
static std::string canonical(StringRef path) {
  llvm::SmallString<128> real;
  if (!llvm::sys::fs::real_path(path, real))
    return real.str().str();
  StringRef folder = llvm::sys::path::parent_path(path);
  if (llvm::sys::fs::real_path(folder.empty() ? "." : folder, real))
    return path.str();
  llvm::sys::path::append(real, llvm::sys::path::filename(path));
  return real.str().str();
}

bool mlir::ad::runner::isSameFile(StringRef path, StringRef other) {
  return path == other || llvm::sys::fs::equivalent(path, other) || canonical(path) == canonical(other);
}

Expected<std::string> mlir::ad::runner::findRegularFile(StringRef path) {
  struct stat status;
  Expected<bool> exists = findStatus(path, status);
  if (!exists)
    return exists.takeError();
  if (*exists && !S_ISREG(status.st_mode))
    return usageError("cannot write '" + path + "': not a regular file");
  return followLinks(path);
}

Expected<TemporaryFile> TemporaryFile::create(StringRef finalPath) {
  llvm::SmallString<128> model(llvm::sys::path::parent_path(finalPath));
  // The name is hidden, so that a reader who globs *.npy never sees an incomplete file.
  llvm::sys::path::append(model, "." + llvm::sys::path::filename(finalPath) + ".%%%%%%%%");
  int descriptor;
  std::error_code code;
  TemporaryPath path([&] {
    llvm::SmallString<128> name;
    code = llvm::sys::fs::createUniqueFile(model, descriptor, name);
    return code ? std::string() : name.str().str();
  });
  if (code)
    return usageError("cannot write '" + finalPath + "': " + code.message());
  // The new file has the permissions of the old one.
  struct stat status;
  if (::stat(finalPath.str().c_str(), &status) == 0)
    ::fchmod(descriptor, status.st_mode & 0777);
  return TemporaryFile(descriptor, std::move(path), finalPath.str());
}

TemporaryFile::~TemporaryFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Error TemporaryFile::publish() {
  return path.moveTo(finalPath) ? Error::success() : systemError("cannot write", finalPath);
}

static Expected<TemporaryFile> writeTemporary(const NewFile &wanted) {
  Expected<TemporaryFile> file = TemporaryFile::create(wanted.path);
  if (!file)
    return file.takeError();
  if (Error error = writeSequentially(file->getDescriptor(), wanted.path, wanted.parts))
    return std::move(error);
  // Else a name could outlive a loss of power, and its content not. File systems that cannot sync refuse it.
  if (::fdatasync(file->getDescriptor()) != 0 && errno != EINVAL && errno != ENOTSUP)
    return systemError("cannot write", wanted.path);
  if (Error error = closeChecked(file->takeDescriptor(), wanted.path))
    return std::move(error);
  return file;
}

Error mlir::ad::runner::replaceFiles(llvm::ArrayRef<NewFile> files) {
  std::vector<TemporaryFile> written;
  for (const NewFile &file : files) {
    Expected<TemporaryFile> made = writeTemporary(file);
    if (!made)
      return made.takeError();
    written.push_back(std::move(*made));
  }
  for (TemporaryFile &file : written)
    if (Error error = file.publish())
      return error;
  return Error::success();
}

Error mlir::ad::runner::replaceFile(StringRef path, llvm::ArrayRef<StringRef> parts) {
  return replaceFiles(NewFile{path, parts});
}

Error mlir::ad::runner::checkWritable(StringRef path, bool isAppendedTo) {
  struct stat status;
  if (path.empty() || path == kStandardOutput)
    return Error::success();
  Expected<bool> found = findStatus(path, status);
  if (!found)
    return found.takeError();
  bool exists = *found;
  if (exists && isOpenOutput(status))
    return Error::success();
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return systemError("cannot write", path);
  }
  bool inPlace = exists && (isAppendedTo || !S_ISREG(status.st_mode));
  llvm::SmallString<128> checked(inPlace ? path : llvm::sys::path::parent_path(followLinks(path)));
  if (!inPlace)
    llvm::sys::path::append(checked, "."); // an error unless it is a folder
  return ::access(checked.c_str(), W_OK) == 0 ? Error::success() : systemError("cannot write", path);
}

Error mlir::ad::runner::writeFile(StringRef path, llvm::ArrayRef<StringRef> parts) {
  if (path == kStandardOutput)
    return writeStandardOutput(parts);
  Expected<int> inPlace = openInPlace(path);
  if (!inPlace)
    return inPlace.takeError();
  if (*inPlace < 0)
    return replaceFile(followLinks(path), parts);
  if (Error error = writeSequentially(*inPlace, path, parts)) {
    ::close(*inPlace);
    return error;
  }
  return closeChecked(*inPlace, path);
}
