// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The cache has no lock: entries appear by rename and never change, and a reader that has opened an entry can
// read it even if another process removes it.
#include "ObjectCache.h"
#include "adjoint/Support/Error.h"
#include "adjoint/Support/JSONText.h"
#include "adjoint/Support/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mlir::ad::runner;

namespace {

constexpr StringLiteral magic("ADJOBJ\x03\n");
constexpr StringLiteral suffix(".adobj");
constexpr size_t digestBytes = 32;
// magic, checksum of all that follows, length of the description
constexpr size_t prefixBytes = magic.size() + digestBytes + sizeof(uint64_t);

std::string hash(StringRef content) {
  BLAKE3 hasher;
  hasher.update(content);
  BLAKE3Result<digestBytes> digest = hasher.final<digestBytes>();
  return std::string(digest.begin(), digest.end());
}

std::string encodeLength(uint64_t length) {
  std::string bytes(sizeof(length), '\0');
  support::endian::write64le(bytes.data(), length);
  return bytes;
}

bool readDescription(StringRef text, StringRef key, CompiledProgram &program) {
  Expected<json::Value> value = mlir::ad::parseJSON(text);
  if (!value) {
    consumeError(value.takeError());
    return false;
  }
  json::Path::Root root;
  json::ObjectMapper mapper(*value, root);
  std::string storedKey;
  return mapper && mapper.map("key", storedKey) && storedKey == key && mapper.map("program", program);
}

/// Reads the image and then the objects, each after its length.
bool splitCode(StringRef rest, CompiledProgram &program) {
  while (rest.size() >= sizeof(uint64_t)) {
    uint64_t length = support::endian::read64le(rest.data());
    rest = rest.drop_front(sizeof(uint64_t));
    if (length > rest.size())
      return false;
    program.objects.push_back(rest.take_front(length).str());
    rest = rest.drop_front(length);
  }
  if (!rest.empty() || program.objects.size() < 2)
    return false;
  program.image = std::move(program.objects.front());
  program.objects.erase(program.objects.begin());
  return true;
}

bool parseEntry(StringRef content, StringRef key, CompiledProgram &program) {
  if (content.size() < prefixBytes || !content.starts_with(magic))
    return false;
  StringRef checksum = content.substr(magic.size(), digestBytes);
  StringRef body = content.drop_front(magic.size() + digestBytes);
  if (hash(body) != checksum)
    return false;
  uint64_t length = support::endian::read64le(body.data());
  body = body.drop_front(sizeof(uint64_t));
  if (length > body.size() || !readDescription(body.take_front(length), key, program))
    return false;
  return splitCode(body.drop_front(length), program);
}

/// Empty if the folder belongs to this user and no other user can write it; else the problem.
std::string checkFolder(const std::string &directory) {
  struct stat status;
  // A symbolic link is refused: who may replace it is hard to tell.
  if (::lstat(directory.c_str(), &status) != 0)
    return "it cannot be read: " + std::string(std::strerror(errno));
  if (!S_ISDIR(status.st_mode))
    return "it is not a folder";
  if (status.st_uid != ::geteuid())
    return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return "others can write it";
  return "";
}

} // namespace

std::string CacheKey::digest() const {
  std::string content;
  for (const std::string &field : fields)
    content += encodeLength(field.size()) + field;
  return toHex(hash(content), /*LowerCase=*/true);
}

// secure_getenv: a program with more rights than its caller must not load code from a folder that the caller
// names.
std::string ObjectCache::defaultDirectory() {
  SmallString<128> directory;
  if (const char *base = secure_getenv("XDG_CACHE_HOME"); base && sys::path::is_absolute(base))
    directory = base;
  else if (const char *home = secure_getenv("HOME"); home && *home)
    sys::path::append(directory, home, ".cache");
  else
    return "";
  sys::path::append(directory, "adjoint");
  return directory.str().str();
}

std::unique_ptr<ObjectCache> ObjectCache::open(StringRef directory, std::string &warning, uint64_t maxBytes) {
  std::string path = directory.rtrim('/').str();
  std::error_code code = sys::fs::create_directories(path, /*IgnoreExisting=*/true, sys::fs::owner_all);
  std::string problem = code ? "it cannot be made: " + code.message() : checkFolder(path);
  if (problem.empty())
    return std::unique_ptr<ObjectCache>(new ObjectCache(path, maxBytes));
  warning = "the cache folder '" + path + "' is not used: " + problem;
  return nullptr;
}

std::string ObjectCache::entryPath(StringRef key) const {
  SmallString<128> path(directory);
  sys::path::append(path, key + suffix);
  return path.str().str();
}

std::optional<CompiledProgram> ObjectCache::load(StringRef key) const {
  int descriptor = ::open(entryPath(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0)
    return std::nullopt;
  struct stat status;
  bool ours = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
  std::optional<CompiledProgram> program;
  // Volatile makes LLVM read the file instead of mapping it: an access of a mapped file that shrinks is a bus
  // error.
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      ours ? MemoryBuffer::getOpenFile(descriptor, key, static_cast<uint64_t>(status.st_size),
                                       /*RequiresNullTerminator=*/false, /*IsVolatile=*/true)
           : std::make_error_code(std::errc::permission_denied);
  CompiledProgram entry;
  if (buffer && parseEntry((*buffer)->getBuffer(), key, entry)) {
    program = std::move(entry);
    ::futimens(descriptor, nullptr); // the time of the last use
  }
  ::close(descriptor);
  return program;
}

Error ObjectCache::store(StringRef key, const CompiledProgram &program) const {
  std::string description =
      formatv("{0}", json::Value(json::Object{{"key", key}, {"program", program}})).str();
  std::string body = encodeLength(description.size()) + description;
  body += encodeLength(program.image.size()) + program.image;
  for (const std::string &object : program.objects)
    body += encodeLength(object.size()) + object;
  std::string checksum = hash(body);
  if (Error error = replaceFile(entryPath(key), {magic, checksum, body}))
    return error;
  prune();
  return Error::success();
}

void ObjectCache::prune() const {
  struct Entry {
    std::string path;
    sys::TimePoint<> used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code code;
  for (sys::fs::directory_iterator it(directory, code), end; it != end && !code; it.increment(code)) {
    StringRef name = sys::path::filename(it->path());
    bool temporary = name.starts_with(".") && name.contains(suffix);
    ErrorOr<sys::fs::basic_file_status> status = it->status();
    // Files that are not the cache's are never removed.
    if (!status || status->type() != sys::fs::file_type::regular_file ||
        (!temporary && !name.ends_with(suffix)))
      continue;
    auto age = std::chrono::system_clock::now() - status->getLastModificationTime();
    if (temporary && age > std::chrono::hours(1)) // a process that was killed has left it
      sys::fs::remove(it->path());
    if (temporary)
      continue;
    entries.push_back({it->path(), status->getLastModificationTime(), status->getSize()});
    total += status->getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (total <= maxBytes)
      break;
    if (!sys::fs::remove(entry.path))
      total -= entry.bytes;
  }
}
