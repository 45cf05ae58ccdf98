// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Files that grow while a program runs. Data is written before the header that counts it. So the file is
// valid and has all flushed data whenever the process ends, even if it is killed.
#include "NpyInternal.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Npy.h"
#include "adjoint/Support/OutputFile.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::ad::runner;

namespace {

constexpr size_t maxPendingBytes = 1 << 20;
constexpr std::chrono::milliseconds flushInterval{250};
// The header has space for a count of 20 digits, so that the data never moves.
constexpr size_t countRoom = 20;

} // namespace

NpyAppender::NpyAppender(llvm::StringRef path, int descriptor, adrt_type type, llvm::ArrayRef<int64_t> shape)
    : path(path.str()), descriptor(descriptor), type(type), shape(shape.begin(), shape.end()),
      lastFlush(std::chrono::steady_clock::now()) {}

llvm::Expected<std::unique_ptr<NpyAppender>> NpyAppender::create(llvm::StringRef path, adrt_type type,
                                                                 llvm::ArrayRef<int64_t> shape) {
  // An older file is replaced atomically by an empty but valid file, which then grows in place.
  llvm::Expected<std::string> regularFile = findRegularFile(path);
  if (!regularFile)
    return regularFile.takeError();
  llvm::Expected<TemporaryFile> file = TemporaryFile::create(*regularFile);
  if (!file)
    return file.takeError();
  std::unique_ptr<NpyAppender> appender(new NpyAppender(path, file->takeDescriptor(), type, shape));
  Shape full{0};
  full.append(shape.begin(), shape.end());
  std::string header = makeNpyHeader(type, full);
  header = makeNpyHeader(type, full, header.size() + countRoom);
  appender->headerBytes = static_cast<int64_t>(header.size());
  if (llvm::Error error = writeFully(appender->descriptor, path, 0, header.data(), appender->headerBytes))
    return std::move(error);
  if (llvm::Error error = file->publish())
    return std::move(error);
  return std::move(appender);
}

NpyAppender::~NpyAppender() {
  if (descriptor < 0)
    return;
  if (flushedBytes > 0 || !pending.empty())
    llvm::consumeError(flush());
  ::close(descriptor);
}

llvm::Error NpyAppender::append(const adrt_tensor &tensor) {
  llvm::ArrayRef<int64_t> got(tensor.shape, tensor.rank);
  if (tensor.type != type || got != llvm::ArrayRef<int64_t>(shape))
    return usageError("'" + path + "' holds values of type " + formatType(type, shape) +
                      ", cannot append a " + formatType(static_cast<adrt_type>(tensor.type), got));
  int64_t bytes = adrt::byteSize(tensor.type, tensor.rank, tensor.shape);
  const char *data = static_cast<const char *>(tensor.data);
  pending.insert(pending.end(), data, data + bytes);
  ++count;
  if (pending.size() < maxPendingBytes && std::chrono::steady_clock::now() - lastFlush < flushInterval)
    return llvm::Error::success();
  return flush();
}

llvm::Error NpyAppender::writeHeader() {
  Shape full{count};
  full.append(shape.begin(), shape.end());
  std::string header = makeNpyHeader(type, full, static_cast<size_t>(headerBytes));
  return writeFully(descriptor, path, 0, header.data(), headerBytes);
}

llvm::Error NpyAppender::flush() {
  lastFlush = std::chrono::steady_clock::now();
  if (pending.empty() && flushedBytes > 0)
    return llvm::Error::success();
  int64_t bytes = static_cast<int64_t>(pending.size());
  llvm::Error error =
      writeFully(descriptor, path, static_cast<uint64_t>(headerBytes + flushedBytes), pending.data(), bytes);
  pending.clear();
  if (!error) {
    flushedBytes += bytes;
    return writeHeader();
  }
  keepWholeValues();
  return error;
}

void NpyAppender::keepWholeValues() {
  // On a full disk a write may be partial. The header counts the complete values.
  struct stat status;
  int64_t each = adrt::byteSize(type, static_cast<int32_t>(shape.size()), shape.data());
  if (each == 0 || ::fstat(descriptor, &status) != 0)
    return;
  count = std::max<int64_t>(status.st_size - headerBytes, 0) / each;
  flushedBytes = count * each;
  llvm::consumeError(writeHeader());
  if (::ftruncate(descriptor, headerBytes + flushedBytes) != 0)
    return; // NumPy ignores bytes after the counted values
}
