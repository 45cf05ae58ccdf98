// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A handler of signals must not allocate, so it only wakes a thread, which removes the paths.
#include "adjoint/Support/TemporaryPath.h"
#include "adjoint/Support/Thread.h"
#include "llvm/Support/FileSystem.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <set>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::StringRef;

namespace {

/// What a signal has to end; never destroyed, since the thread may read it until the process ends.
struct Cleanup {
  std::mutex mutex;
  std::set<std::string> paths;
  pid_t child = 0;
  std::atomic<bool> ends = false; ///< a signal that ends the process was received
  int pipeEnds[2] = {-1, -1};

  static Cleanup &get() {
    // Not on the heap: a process without memory may be the first to ask for it.
    alignas(Cleanup) static char storage[sizeof(Cleanup)];
    static auto *cleanup = new (storage) Cleanup();
    return *cleanup;
  }
  bool start();
  void waitForSignal();
  void clean();
};

// A folder gets another name first, so that threads which go on make no file in it.
void removePath(const std::string &path) {
  if (!llvm::sys::fs::is_directory(path)) {
    ::unlink(path.c_str());
    return;
  }
  std::string removed = path + ".removed";
  llvm::sys::fs::remove_directories(std::rename(path.c_str(), removed.c_str()) == 0 ? removed : path);
}

extern "C" void wakeCleanup(int signal) { cleanUpAndEndBy(signal); }

// The lock is kept: no path and no child may come until the process ends.
void Cleanup::clean() {
  mutex.lock();
  if (child > 0)
    kill(child, SIGKILL);
  for (const std::string &path : paths)
    removePath(path);
}

void Cleanup::waitForSignal() {
  char number;
  while (read(pipeEnds[0], &number, 1) != 1)
    continue;
  clean();
  std::signal(number, SIG_DFL);
  kill(getpid(), number);
}

// Without the thread, a signal ends the process at once, and what it would remove stays.
bool Cleanup::start() {
  if (pipeEnds[0] >= 0)
    return true;
  if (pipe2(pipeEnds, O_CLOEXEC) != 0)
    return false;
  if (adrt::Thread::startDetached([this] { waitForSignal(); }))
    return true;
  for (int &end : pipeEnds) {
    close(end);
    end = -1;
  }
  return false;
}

} // namespace

void mlir::ad::runner::cleanUpAndEndBy(int signal) {
  int saved = errno;
  Cleanup::get().ends = true;
  char byte = static_cast<char>(signal);
  bool isAwake = write(Cleanup::get().pipeEnds[1], &byte, 1) == 1;
  errno = saved;
  if (isAwake)
    return;
  std::signal(signal, SIG_DFL); // without the thread, paths stay, but the process ends
  kill(getpid(), signal);
}

void mlir::ad::runner::waitForEndBySignal() {
  while (Cleanup::get().ends)
    pause();
}

void mlir::ad::runner::removeTemporaryFiles() {
  Cleanup &cleanup = Cleanup::get();
  // This thread may have the lock.
  if (!cleanup.mutex.try_lock())
    return;
  if (cleanup.child > 0)
    kill(cleanup.child, SIGKILL);
  for (const std::string &path : cleanup.paths)
    ::unlink(path.c_str());
}

void mlir::ad::runner::cleanUpOnSignals(llvm::ArrayRef<int> signals) {
  if (!Cleanup::get().start())
    return;
  for (int number : signals) {
    struct sigaction old;
    if (sigaction(number, nullptr, &old) != 0 || old.sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_handler = wakeCleanup;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

TemporaryPath::TemporaryPath(llvm::function_ref<std::string()> create) {
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  path = create();
  if (!path.empty())
    cleanup.paths.insert(path);
}

TemporaryPath::~TemporaryPath() {
  if (path.empty())
    return;
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  removePath(path);
  cleanup.paths.erase(path);
}

bool TemporaryPath::moveTo(StringRef finalPath) {
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  if (std::rename(path.c_str(), finalPath.str().c_str()) != 0)
    return false;
  cleanup.paths.erase(std::exchange(path, {}));
  return true;
}

std::string TemporaryPath::keep() {
  Cleanup &cleanup = Cleanup::get();
  std::lock_guard<std::mutex> lock(cleanup.mutex);
  cleanup.paths.erase(path);
  return std::exchange(path, {});
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
