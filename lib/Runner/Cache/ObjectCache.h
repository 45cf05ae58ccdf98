// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiled programs on disk. An entry is one file, whose name is a hash of everything that its content
// depends on, with a checksum. Entries contain code, so a folder that other users can write is not used.
#ifndef ADJOINT_LIB_RUNNER_CACHE_OBJECTCACHE_H
#define ADJOINT_LIB_RUNNER_CACHE_OBJECTCACHE_H

#include "adjoint/Runner/Executable/Executable.h"

namespace mlir::ad::runner {

/// Hashes everything that a compiled program depends on. Each field is hashed with its length.
class CacheKey {
public:
  void add(llvm::StringRef field) { fields.push_back(field.str()); }
  /// 64 hexadecimal digits.
  std::string digest() const;

private:
  std::vector<std::string> fields;
};

/// Identifies the builds of this program and of the loaded libMLIR and libLLVM.
std::string buildId();

class ObjectCache {
public:
  static constexpr uint64_t defaultMaxBytes = uint64_t(256) << 20;

  /// The folder of the cache without --cache; empty when there is no home folder.
  static std::string defaultDirectory();

  /// A cache in `directory`, which is made if needed. Null, with the reason in `warning`, when the folder
  /// cannot be used; programs are then always compiled.
  static std::unique_ptr<ObjectCache> open(llvm::StringRef directory, std::string &warning,
                                           uint64_t maxBytes = defaultMaxBytes);

  /// The entry of `key`; nothing when there is none, or its file is truncated, foreign or unreadable.
  std::optional<CompiledProgram> load(llvm::StringRef key) const;
  /// Stores an entry, and drops the least recently used ones when the cache is too large. Callers only warn
  /// about an error: the program runs without a cache.
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

#endif // ADJOINT_LIB_RUNNER_CACHE_OBJECTCACHE_H
