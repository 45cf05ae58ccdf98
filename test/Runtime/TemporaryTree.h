// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The files of /proc and /sys as a test has them.
#ifndef ADJOINT_TEST_RUNTIME_TEMPORARYTREE_H
#define ADJOINT_TEST_RUNTIME_TEMPORARYTREE_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

/// A folder with files that is removed at the end of the lifetime.
class TemporaryTree {
public:
  explicit TemporaryTree(const std::vector<std::pair<std::string, std::string>> &files) {
    char name[] = "/tmp/adrt-files-XXXXXX";
    root = mkdtemp(name);
    for (const auto &[path, text] : files) {
      std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
      std::ofstream(root + path) << text;
    }
  }
  ~TemporaryTree() { std::filesystem::remove_all(root); }

  std::string root;
};

#endif // ADJOINT_TEST_RUNTIME_TEMPORARYTREE_H
