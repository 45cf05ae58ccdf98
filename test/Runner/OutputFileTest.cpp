// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of files that an output may overwrite: files and targets of links, but no pipe and no device.
#include "adjoint/Support/OutputFile.h"
#include "TestUtils.h"
#include "adjoint/Support/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir::ad::runner;

/// The kind of file at `path`, without following links.
static mode_t kind(const std::string &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

static std::string write(const std::string &path, double value = 1) {
  return unit::text(writeNpy(path, unit::tensor(ADRT_F64, {1}, {value}).view()));
}

static double read(const std::string &path) {
  Tensor tensor = llvm::cantFail(llvm::cantFail(NpyFile::open(path)).load(ADRT_F64));
  return *reinterpret_cast<const double *>(tensor.getData());
}

TEST(OutputFile, OutputGoesIntoAPipe) {
  std::string pipe = unit::scratch("pipe");
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Non-blocking, so that a pipe that was replaced by a file fails the test instead of blocking it.
  int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TEXT(write(pipe), "ok");
  char buffer[1024];
  ssize_t bytes = ::read(reader, buffer, sizeof(buffer));
  ::close(reader);
  EXPECT_EQ(kind(pipe), S_IFIFO);
  EXPECT_EQ(bytes, 128 + 8);
  EXPECT_TEXT(unit::text(parseNpy(llvm::ArrayRef(buffer, static_cast<size_t>(std::max<ssize_t>(bytes, 0))))),
              "ok");
}

TEST(OutputFile, OutputFollowsLinks) {
  std::string file = unit::scratch("linked.npy"), link = unit::scratch("link"),
              chain = unit::scratch("chain");
  EXPECT_EQ(::symlink("linked.npy", link.c_str()), 0);
  EXPECT_EQ(::symlink(link.c_str(), chain.c_str()), 0);
  for (double value : {1, 2}) { // the first makes the file that the links lead to
    EXPECT_TEXT(write(chain, value), "ok");
    EXPECT_EQ(kind(chain), S_IFLNK);
    EXPECT_EQ(kind(link), S_IFLNK);
    EXPECT_EQ(kind(file), S_IFREG);
    EXPECT_EQ(read(file), value);
  }
  EXPECT_TEXT(unit::text(NpyAppender::create(chain, ADRT_F32, {2})), "ok");
  EXPECT_EQ(kind(chain), S_IFLNK);
  EXPECT_EQ(kind(file), S_IFREG);
  EXPECT_EQ(llvm::cantFail(NpyFile::open(file)).getHeader().shape, (Shape{0, 2}));
}

TEST(OutputFile, OutputKeepsTheModeOfAFile) {
  std::string path = unit::scratch("private.npy");
  EXPECT_TEXT(write(path), "ok");
  EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_TEXT(write(path, 2), "ok");
  struct stat status;
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600);
}

TEST(OutputFile, OutputRefusesAFolder) {
  std::string folder = unit::scratch("folder");
  llvm::sys::fs::create_directory(folder);
  EXPECT_TEXT(write(folder), "2: cannot write '" + folder + "': Is a directory");
}

TEST(OutputFile, OutputReportsAFullDevice) {
  std::string link = unit::scratch("full"), pipe = unit::scratch("guard");
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(::symlink("guard", link.c_str()), 0);
  int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TEXT(write(link), "ok");
  ::close(reader);
  bool safe = kind(link) == S_IFLNK && kind(pipe) == S_IFIFO && kind("/dev/full") == S_IFCHR;
  EXPECT_TRUE(safe);
  if (!safe)
    return; // what replaces a pipe would replace the device of the machine
  EXPECT_EQ(::unlink(link.c_str()), 0);
  EXPECT_EQ(::symlink("/dev/full", link.c_str()), 0);
  EXPECT_TEXT(write(link), "2: cannot write '" + link + "': No space left on device");
  EXPECT_EQ(kind(link), S_IFLNK);
  EXPECT_EQ(kind("/dev/full"), S_IFCHR);
}

TEST(OutputFile, FilesThatBelongTogetherAreReplacedTogether) {
  std::string first = unit::scratch("first"), second = unit::scratch("second");
  std::string missing = unit::scratch("no-folder") + "/file";
  auto content = [](const std::string &path) {
    return llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)))->getBuffer().str();
  };
  llvm::StringRef old = "old", fresh = "new";
  EXPECT_TEXT(unit::text(replaceFiles({{first, old}, {second, old}})), "ok");
  EXPECT_EQ(content(first) + content(second), "oldold");
  EXPECT_NE(unit::text(replaceFiles({{first, fresh}, {missing, fresh}})), "ok");
  EXPECT_EQ(content(first), "old");
  EXPECT_TEXT(unit::text(replaceFiles({{first, fresh}, {second, fresh}})), "ok");
  EXPECT_EQ(content(first) + content(second), "newnew");
}

TEST(OutputFile, StreamNeedsARegularFile) {
  std::string pipe = unit::scratch("stream-pipe");
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TEXT(unit::text(NpyAppender::create(pipe, ADRT_F32, {2})),
              "2: cannot write '" + pipe + "': not a regular file");
  EXPECT_EQ(kind(pipe), S_IFIFO);
}
