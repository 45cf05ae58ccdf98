// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiled programs on disk. An entry is one file, named after a hash of everything that its content depends
// on, and carries a checksum. Entries hold code: a folder that others can write is not used.
#ifndef ADJOINT_RUNNER_CACHE_OBJECTCACHE_H
#define ADJOINT_RUNNER_CACHE_OBJECTCACHE_H

#include "adjoint/Runner/Session/Executable.h"

namespace mlir::ad::runner {

/// Hashes what a compiled program depends on. Fields are separated by their lengths.
class CacheKey {
public:
  void add(llvm::StringRef field) { fields.push_back(field.str()); }
  /// 64 hexadecimal digits.
  std::string digest() const;

private:
  std::vector<std::string> fields;
};

/// Changes with every build of this program, of libMLIR and of libLLVM, as loaded now.
std::string buildId();

class ObjectCache {
public:
  static constexpr uint64_t defaultMaxBytes = uint64_t(256) << 20;

  /// Where the cache lies unless --cache says otherwise; empty when there is no home.
  static std::string defaultDirectory();

  /// A cache in `directory`, which is made if needed. Null, with the reason in `warning`, when the folder
  /// cannot be used: programs are then compiled every time.
  static std::unique_ptr<ObjectCache> open(llvm::StringRef directory, std::string &warning,
                                           uint64_t maxBytes = defaultMaxBytes);

  /// The entry of `key`, or nothing: also for truncated, foreign and unreadable files.
  std::optional<CompiledProgram> load(llvm::StringRef key) const;
  /// Stores an entry and drops the ones unused for longest when the cache is too large. A failure is no more
  /// than a warning: the program runs without it.
  llvm::Error store(llvm::StringRef key, const CompiledProgram &program) const;

private:
  ObjectCache(std::string directory, uint64_t maxBytes)
      : directory(std::move(directory)), maxBytes(maxBytes) {}
  std::string entryPath(llvm::StringRef key) const;
  void prune() const;

  std::string directory;
  uint64_t maxBytes;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_CACHE_OBJECTCACHE_H
