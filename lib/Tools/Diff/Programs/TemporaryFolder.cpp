// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A handler of signals must not allocate, so it only wakes a thread, which removes the folders.
#include "TemporaryFolder.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

using namespace mlir::ad::diff;
using namespace mlir::ad::runner;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// What a signal has to end; never destroyed, since the thread may read it until the process ends.
struct Cleanup {
  std::mutex mutex;
  std::set<std::string> folders;
  pid_t child = 0;
  int pipeEnds[2] = {-1, -1};

  static Cleanup &get() {
    static Cleanup *cleanup = new Cleanup();
    return *cleanup;
  }
  void start();
  void clean();
};

extern "C" void wakeCleanup(int signal) {
  int saved = errno;
  char byte = static_cast<char>(signal);
  [[maybe_unused]] ssize_t written = write(Cleanup::get().pipeEnds[1], &byte, 1);
  errno = saved;
}

// The lock is kept: no folder and no child may come until the process ends.
void Cleanup::clean() {
  mutex.lock();
  if (child > 0)
    kill(child, SIGKILL);
  for (const std::string &folder : folders)
    llvm::sys::fs::remove_directories(folder);
}

// A program that was started with a signal ignored (nohup) keeps ignoring it.
void Cleanup::start() {
  if (pipe2(pipeEnds, O_CLOEXEC) != 0)
    return;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old;
    if (sigaction(number, nullptr, &old) != 0 || old.sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = wakeCleanup;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
  std::thread([this] {
    char number;
    while (read(pipeEnds[0], &number, 1) != 1)
      continue;
    clean();
    std::signal(number, SIG_DFL);
    kill(getpid(), number);
  }).detach();
}

} // namespace

Expected<TemporaryFolder> TemporaryFolder::create(StringRef parent) {
  Cleanup &cleanup = Cleanup::get();
  static std::once_flag once;
  std::call_once(once, [&] { cleanup.start(); });
  llvm::SmallString<128> path;
  if (parent.empty())
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  else
    path = parent;
  llvm::sys::path::append(path, "ad-diff-XXXXXX");
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  if (!mkdtemp(const_cast<char *>(path.c_str())))
    return systemError("cannot create a temporary folder", path);
  cleanup.folders.insert(path.str().str());
  return TemporaryFolder(path.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (path.empty())
    return;
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  llvm::sys::fs::remove_directories(path);
  cleanup.folders.erase(path);
}

std::string TemporaryFolder::file(StringRef name) const {
  llvm::SmallString<128> file(path);
  llvm::sys::path::append(file, name);
  return file.str().str();
}

Error TemporaryFolder::publish(StringRef finalPath) {
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  if (rename(path.c_str(), finalPath.str().c_str()) != 0)
    return systemError("cannot create the folder", finalPath);
  cleanup.folders.erase(std::exchange(path, {}));
  return Error::success();
}

KilledWithTool::KilledWithTool(pid_t process) {
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  cleanup.child = process;
}

KilledWithTool::~KilledWithTool() {
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  cleanup.child = 0;
}
