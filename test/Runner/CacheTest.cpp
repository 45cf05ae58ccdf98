// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of the cache of compiled programs.
#include "../../lib/Runner/Cache/ObjectCache.h"
#include "TestUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir::ad::runner;

static CompiledProgram sample(std::string object = "object bytes") {
  CompiledProgram program;
  program.signature.entry = "main";
  program.signature.arguments = {{"x", ADRT_BF16, {2, dynamicSize}, 1}};
  program.signature.results = {{"y", ADRT_F32, {}}};
  program.signature.feeds = {{"images", ADRT_I8, {4}}};
  program.signature.receives = {{"loss", {{"loss", ADRT_F64, {}}}}};
  program.numerics = "strict";
  program.kernels = {"k0", "k1"};
  program.objects = {std::move(object), "second"};
  return program;
}

static std::unique_ptr<ObjectCache> openCache(const std::string &directory, uint64_t maxBytes = 1 << 20) {
  std::string warning;
  std::unique_ptr<ObjectCache> cache = ObjectCache::open(directory, warning, maxBytes);
  EXPECT_TRUE(cache);
  EXPECT_TRUE(warning.empty());
  return cache;
}

static std::string entryFile(const std::string &directory) {
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(directory, code), end; it != end && !code; it.increment(code))
    return it->path();
  return "";
}

static int countFiles(const std::string &directory) {
  std::error_code code;
  int count = 0;
  for (llvm::sys::fs::directory_iterator it(directory, code), end; it != end && !code; it.increment(code))
    ++count;
  return count;
}

TEST(Cache, ReturnsWhatWasStored) {
  std::unique_ptr<ObjectCache> cache = openCache(unit::scratch("cache/a"));
  EXPECT_FALSE(cache->load("k"));
  EXPECT_TEXT(unit::text(cache->store("k", sample())), "ok");
  std::optional<CompiledProgram> loaded = cache->load("k");
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->objects.size(), 2);
  EXPECT_EQ(loaded->objects[0], "object bytes");
  EXPECT_EQ(loaded->kernels.size(), 2);
  EXPECT_EQ(loaded->numerics, "strict");
  if (!loaded)
    return;
  const TensorSpec &x = loaded->signature.arguments.at(0);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.type, ADRT_BF16);
  EXPECT_EQ(x.shape, (Shape{2, dynamicSize}));
  EXPECT_EQ(x.donated, 1);
  EXPECT_EQ(loaded->signature.receives.at(0).values.at(0).type, ADRT_F64);
  EXPECT_FALSE(cache->load("other"));
}

TEST(Cache, IgnoresDamagedAndForeignFiles) {
  std::string directory = unit::scratch("cache/damaged");
  std::unique_ptr<ObjectCache> cache = openCache(directory);
  EXPECT_TEXT(unit::text(cache->store("k", sample())), "ok");
  std::string path = entryFile(directory);
  std::string bytes =
      llvm::cantFail(llvm::errorOrToExpected(llvm::MemoryBuffer::getFile(path)))->getBuffer().str();
  auto rewrite = [&](llvm::StringRef content) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << content;
  };
  for (size_t length = 0; length < bytes.size(); length += 7) {
    rewrite(llvm::StringRef(bytes).take_front(length));
    EXPECT_FALSE(cache->load("k"));
  }
  for (size_t position = 0; position < bytes.size(); position += 5) {
    std::string damaged = bytes;
    damaged[position] ^= 1;
    rewrite(damaged);
    EXPECT_FALSE(cache->load("k"));
  }
  rewrite("#!/bin/sh\n");
  EXPECT_FALSE(cache->load("k"));
  rewrite(bytes);
  EXPECT_TRUE(cache->load("k").has_value());
  // An entry under another name is not used.
  std::string renamed = directory + "/other.adobj";
  EXPECT_FALSE(llvm::sys::fs::rename(path, renamed));
  EXPECT_FALSE(cache->load("other"));
  EXPECT_FALSE(llvm::sys::fs::remove(renamed));
  EXPECT_FALSE(llvm::sys::fs::create_directory(renamed));
  EXPECT_FALSE(cache->load("other"));
}

TEST(Cache, RefusesFoldersOfOthers) {
  std::string directory = unit::scratch("cache/open"), warning;
  EXPECT_FALSE(llvm::sys::fs::create_directories(directory));
  ::chmod(directory.c_str(), 0777);
  EXPECT_FALSE(ObjectCache::open(directory, warning));
  EXPECT_TEXT(warning, "others can write it");
  ::chmod(directory.c_str(), 0700);
  EXPECT_NE(ObjectCache::open(directory, warning), nullptr);
  std::string link = unit::scratch("cache/link");
  EXPECT_EQ(::symlink(directory.c_str(), link.c_str()), 0);
  EXPECT_FALSE(ObjectCache::open(link, warning));
  EXPECT_TEXT(warning, "it is not a folder");
  EXPECT_FALSE(ObjectCache::open("/proc/nonexistent", warning));
  EXPECT_TEXT(warning, "it cannot be made");
  if (::geteuid() == 0) {
    EXPECT_EQ(::chown(directory.c_str(), 12345, -1), 0);
    EXPECT_FALSE(ObjectCache::open(directory, warning));
    EXPECT_TEXT(warning, "it belongs to another user");
  }
}

TEST(Cache, DropsWhatWasUnusedForLongest) {
  std::string directory = unit::scratch("cache/bounded");
  std::unique_ptr<ObjectCache> cache = openCache(directory, 40000);
  auto age = [&](const std::string &key, int seconds) {
    timespec times[2] = {{::time(nullptr) - seconds, 0}, {::time(nullptr) - seconds, 0}};
    ::utimensat(AT_FDCWD, (directory + "/" + key + ".adobj").c_str(), times, 0);
  };
  for (int index = 0; index < 3; ++index) {
    std::string key = "k" + std::to_string(index);
    EXPECT_TEXT(unit::text(cache->store(key, sample(std::string(10000, 'x')))), "ok");
    age(key, 100 - index);
  }
  EXPECT_TRUE(cache->load("k0").has_value()); // used just now
  EXPECT_TEXT(unit::text(cache->store("k3", sample(std::string(10000, 'x')))), "ok");
  EXPECT_TRUE(cache->load("k0"));
  EXPECT_FALSE(cache->load("k1"));
  EXPECT_TRUE(cache->load("k2"));
  EXPECT_TRUE(cache->load("k3"));
  EXPECT_EQ(countFiles(directory), 3);
}

TEST(Cache, IsSafeUnderConcurrentUse) {
  std::string directory = unit::scratch("cache/busy");
  std::unique_ptr<ObjectCache> cache = openCache(directory, 30000);
  std::atomic<int> wrong{0};
  auto work = [&](int seed) {
    for (int round = 0; round < 200; ++round) {
      std::string key = "k" + std::to_string((round * seed) % 5), object(8000, key.back());
      llvm::consumeError(cache->store(key, sample(object)));
      if (std::optional<CompiledProgram> loaded = cache->load(key))
        wrong += loaded->objects.at(0) != object;
    }
  };
  std::vector<std::thread> threads;
  for (int seed = 1; seed <= 4; ++seed)
    threads.emplace_back(work, seed);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Cache, KeySeparatesFields) {
  CacheKey a, b;
  a.add("ab");
  a.add("c");
  b.add("a");
  b.add("bc");
  EXPECT_NE(a.digest(), b.digest());
  EXPECT_EQ(a.digest().size(), 64);
}

/// The files of this program and of the compiler's libraries, as they are loaded.
static std::vector<std::string> compilingImages() {
  std::vector<std::string> files;
  auto collect = [](dl_phdr_info *info, size_t, void *found) {
    llvm::StringRef path = info->dlpi_name, name = llvm::sys::path::filename(path);
    if (path.empty() || name.starts_with("libMLIR") || name.starts_with("libLLVM"))
      static_cast<std::vector<std::string> *>(found)->push_back(path.empty() ? "/proc/self/exe" : path.str());
    return 0;
  };
  dl_iterate_phdr(collect, &files);
  return files;
}

// The build ids in the files, read by LLVM's object reader. An image without a build id is named by its
// size.
// A program that links the archives of LLVM and MLIR is one image.
TEST(Cache, BuildIdHasTheNotesOfTheCompilerAndItsLibraries) {
  std::string id = buildId();
  std::vector<std::string> files = compilingImages();
  ASSERT_FALSE(files.empty());
  bool isShared = llvm::any_of(files, [](llvm::StringRef file) { return file.contains("libLLVM"); });
  EXPECT_EQ(files.size(), isShared ? 3 : 1);
  for (const std::string &file : files) {
    auto image = llvm::cantFail(llvm::object::ObjectFile::createObjectFile(file));
    llvm::object::BuildIDRef note = llvm::object::getBuildID(image.getBinary());
    uint64_t size = 0;
    EXPECT_FALSE(llvm::sys::fs::file_size(file, size));
    EXPECT_TEXT(id, note.empty() ? std::to_string(size) + "@" : llvm::toHex(note, /*LowerCase=*/true));
  }
}
