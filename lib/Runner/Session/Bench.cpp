// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes the measurements of --bench.
#include "Bench.h"
#include "adjoint/Runtime/Cuda/CudaDevice.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::Error;
namespace json = llvm::json;

namespace {

json::Object describe(const Options &options, const Report &report, const adrt::Device *device) {
  bool onGpu = report.target == targetName(Target::Cuda);
  json::Object seconds{{"median", median(report.runs)},
                       {"min", *llvm::min_element(report.runs)},
                       {"all", json::Array(report.runs)}};
  return json::Object{{"name", llvm::sys::path::stem(options.input)},
                      {"entry", report.entry},
                      {"target", report.target},
                      {"numerics", report.numerics},
                      {"chip", onGpu ? adrt::findCudaChip() : llvm::sys::getHostCPUName().str()},
                      {"device", onGpu ? adrt::findCudaName() : report.target},
                      {"clock", device ? device->clockName() : "monotonic"},
                      {"launches", report.graphs.launched > 0 ? "replayed" : "one by one"},
                      {"replays", report.graphs.launched},
                      {"threads", report.threads},
                      {"warmup", options.warmup},
                      {"repeat", options.repeat},
                      {"seconds", std::move(seconds)}};
}

/// Whether a regular file does not end with a newline: a process was killed while it wrote.
bool endsWithinLine(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || status.type() != llvm::sys::fs::file_type::regular_file ||
      status.getSize() == 0)
    return false;
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, /*MapSize=*/1, status.getSize() - 1);
  return buffer && (*buffer)->getBuffer() != "\n";
}

/// Other processes that append lines wait meanwhile: an incomplete line is removed from the end of the file.
Error appendLine(llvm::StringRef path, std::string line) {
  int descriptor = ::open(path.str().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return systemError("cannot write", path);
  llvm::scope_exit close([&] { ::close(descriptor); });
  (void)llvm::sys::RetryAfterSignal(-1, ::flock, descriptor, LOCK_EX); // not on devices and some file systems
  if (endsWithinLine(path))
    line.insert(0, "\n");
  ssize_t written = ::write(descriptor, line.data(), line.size());
  if (written < 0)
    return systemError("cannot write", path);
  if (static_cast<size_t>(written) != line.size()) {
    // The next line would continue an incomplete one.
    off_t end = ::lseek(descriptor, 0, SEEK_END);
    (void)!::ftruncate(descriptor, end - written);
    errno = ENOSPC;
    return systemError("cannot write", path);
  }
  // Devices and pipes cannot be synchronised.
  if (::fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
    return systemError("cannot write", path);
  return Error::success();
}

} // namespace

Error mlir::ad::runner::writeBenchLine(const Options &options, const Report &report,
                                       const adrt::Device *device) {
  std::string line = jsonLine(describe(options, report, device)) + "\n";
  if (options.bench != kStandardOutput)
    return appendLine(options.bench, std::move(line));
  llvm::outs() << line;
  llvm::outs().flush();
  return Error::success();
}
