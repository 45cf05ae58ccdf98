// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Files that grow while a program runs. Data is written before the header that counts it. So the file is
// valid and has all flushed data whenever the process ends, even if it is killed.
#include "NpyInternal.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/Npy.h"
#include "adjoint/Support/OutputFile.h"
#include "adjoint/Support/Thread.h"

#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::ad::runner;

static constexpr size_t maxPendingBytes = 1 << 20;

/// Flushes all streams of the process twice a second, on a thread of its own. It is never destroyed: the
/// thread runs until the process ends.
class mlir::ad::runner::StreamFlusher {
public:
  static StreamFlusher &get() {
    static auto *flusher = new StreamFlusher;
    return *flusher;
  }

  /// Whether the thread runs.
  bool add(NpyAppender &stream) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!isRunning)
      isRunning = adrt::Thread::startDetached([this] { run(); });
    if (isRunning)
      streams.insert(&stream);
    return isRunning;
  }
  void remove(NpyAppender &stream) {
    std::lock_guard<std::mutex> lock(mutex);
    streams.erase(&stream);
  }

private:
  [[noreturn]] void run() {
    constexpr useconds_t interval = 500 * 1000;
    while (true) {
      ::usleep(interval);
      std::lock_guard<std::mutex> lock(mutex);
      for (NpyAppender *stream : streams) {
        std::lock_guard<std::mutex> streamLock(stream->mutex);
        if (llvm::Error error = stream->flushLocked())
          stream->failure = consumeExitError(std::move(error)).second;
      }
    }
  }

  std::mutex mutex;
  std::set<NpyAppender *> streams;
  bool isRunning = false;
};

NpyAppender::NpyAppender(llvm::StringRef path, int descriptor, adrt_type type, llvm::ArrayRef<int64_t> shape)
    : path(path.str()), descriptor(descriptor), type(type), shape(shape.begin(), shape.end()) {}

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
  if (llvm::Error error = appender->writeHeader())
    return std::move(error);
  if (llvm::Error error = file->publish())
    return std::move(error);
  appender->isFlushedInTime = StreamFlusher::get().add(*appender);
  return std::move(appender);
}

NpyAppender::~NpyAppender() {
  if (isFlushedInTime)
    StreamFlusher::get().remove(*this);
  if (descriptor < 0)
    return;
  llvm::consumeError(flushLocked());
  ::close(descriptor);
}

llvm::Error NpyAppender::append(const adrt_tensor &tensor) {
  llvm::ArrayRef<int64_t> got(tensor.shape, tensor.rank);
  if (tensor.type != type || got != llvm::ArrayRef<int64_t>(shape))
    return usageError("'" + path + "' holds values of type " + formatType(type, shape) +
                      ", cannot append a " + formatType(static_cast<adrt_type>(tensor.type), got));
  int64_t bytes = adrt::byteSize(tensor.type, tensor.rank, tensor.shape);
  const char *data = static_cast<const char *>(tensor.data);
  std::lock_guard<std::mutex> lock(mutex);
  if (!failure.empty())
    return usageError(std::exchange(failure, ""));
  pending.insert(pending.end(), data, data + bytes);
  ++count;
  bool waits = isFlushedInTime && pending.size() < maxPendingBytes;
  return waits ? llvm::Error::success() : flushLocked();
}

llvm::Error NpyAppender::writeHeader() {
  Shape full{count};
  full.append(shape.begin(), shape.end());
  std::string header = makeNpyHeader(type, full, /*isStream=*/true);
  headerBytes = static_cast<int64_t>(header.size());
  return writeFully(descriptor, path, 0, header.data(), headerBytes);
}

llvm::Error NpyAppender::flush() {
  std::lock_guard<std::mutex> lock(mutex);
  return failure.empty() ? flushLocked() : usageError(std::exchange(failure, ""));
}

llvm::Error NpyAppender::flushLocked() {
  if (writtenCount == count)
    return llvm::Error::success();
  int64_t bytes = static_cast<int64_t>(pending.size());
  llvm::Error error =
      writeFully(descriptor, path, static_cast<uint64_t>(headerBytes + flushedBytes), pending.data(), bytes);
  pending.clear();
  if (error) {
    keepWholeValues();
    return error;
  }
  flushedBytes += bytes;
  writtenCount = count;
  return writeHeader();
}

void NpyAppender::keepWholeValues() {
  // On a full disk a write may be partial. The header counts the complete values.
  struct stat status;
  int64_t each = adrt::byteSize(type, static_cast<int32_t>(shape.size()), shape.data());
  if (each == 0 || ::fstat(descriptor, &status) != 0)
    return;
  count = writtenCount = std::max<int64_t>(status.st_size - headerBytes, 0) / each;
  flushedBytes = count * each;
  llvm::consumeError(writeHeader());
  if (::ftruncate(descriptor, headerBytes + flushedBytes) != 0)
    return; // readers of streams ignore an incomplete last value
}
