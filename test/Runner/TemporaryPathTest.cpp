// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of temporary files and folders: what removes them, and what ends the process.
#include "adjoint/Support/TemporaryPath.h"
#include "TestUtils.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir::ad::runner;
using llvm::sys::fs::exists;

static std::string makeFile(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  ::close(descriptor);
  return descriptor < 0 ? "" : path;
}

static std::string makeFolder(const std::string &path) {
  if (::mkdir(path.c_str(), 0700) != 0)
    return "";
  return makeFile(path + "/content").empty() ? "" : path;
}

/// The signal that ends a process which has temporary files, a folder and a child when it raises `number`; 0
/// if it goes on.
static int endedBy(int number, const std::string &base, bool isIgnored) {
  pid_t process = ::fork();
  if (process == 0) {
    std::signal(number, isIgnored ? SIG_IGN : SIG_DFL);
    cleanUpOnSignals({SIGINT, SIGTERM, SIGHUP});
    TemporaryPath file([&] { return makeFile(base + "-file"); });
    TemporaryPath folder([&] { return makeFolder(base + "-folder"); });
    llvm::Expected<TemporaryFile> output = TemporaryFile::create(base + "-output");
    TemporaryPath kept([&] { return makeFile(base + "-kept.partial"); });
    kept.moveTo(base + "-kept");
    std::raise(number);
    ::sleep(isIgnored ? 0 : 20);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/// The names in the folder of `base` that begin with its name, hidden ones too.
static std::string left(llvm::StringRef base) {
  auto [folder, name] = base.rsplit('/');
  std::string names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator at(folder, code), end; at != end && !code; at.increment(code)) {
    llvm::StringRef file = llvm::StringRef(at->path()).rsplit('/').second;
    if (file.contains(name))
      names += file.str() + " ";
  }
  return names;
}

TEST(TemporaryPath, SignalsRemoveFilesAndFolders) {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::string base = unit::scratch("signal-" + std::to_string(number) + "-of");
    EXPECT_EQ(endedBy(number, base, /*isIgnored=*/false), number);
    EXPECT_EQ(left(base), llvm::StringRef(base).rsplit('/').second.str() + "-kept ");
  }
}

TEST(TemporaryPath, AnIgnoredSignalStaysIgnored) {
  std::string base = unit::scratch("ignored");
  EXPECT_EQ(endedBy(SIGHUP, base, /*isIgnored=*/true), 0);
}

TEST(TemporaryPath, TheEndOfItsLifetimeRemovesIt) {
  std::string file = unit::scratch("lifetime-file"), folder = unit::scratch("lifetime-folder");
  {
    TemporaryPath first([&] { return makeFile(file); });
    TemporaryPath second([&] { return makeFolder(folder); });
    TemporaryPath moved = std::move(second);
    EXPECT_TRUE(exists(file) && exists(folder));
  }
  EXPECT_FALSE(exists(file) || exists(folder));
}

TEST(TemporaryPath, AFailedMoveKeepsItTemporary) {
  std::string file = unit::scratch("failed-move");
  {
    TemporaryPath path([&] { return makeFile(file); });
    EXPECT_FALSE(path.moveTo(file + "/no/folder"));
    EXPECT_TRUE(exists(file));
  }
  EXPECT_FALSE(exists(file));
}
