// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The folder of --out-dir, and that of a trace, while a run writes into it. `manifest.json` says which run
// that is, whether it has ended, and which files are its own, so that the files of two runs cannot be taken
// for those of one.
//
//   {"run": "d41d8c…", "state": "whole", "files": {"y.npy": {"bytes": 152, "blake3": "…"}}, "earlier":
//   ["old.npy"]}
//
// `run` is a random number while the run goes on, and then a hash of the names and hashes of its files: runs
// with the same outputs have the same manifest. `state` is `running` from the start on, and `whole` once all
// files are written: it stays `running` after a run that failed or was killed. `earlier` are files that an
// earlier run left and this one has not written.
#ifndef ADJOINT_LIB_RUNNER_IO_OUTPUTFOLDER_H
#define ADJOINT_LIB_RUNNER_IO_OUTPUTFOLDER_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <set>
#include <string>

namespace mlir::ad::runner {

constexpr llvm::StringLiteral kManifest("manifest.json");

class OutputFolder {
public:
  /// Makes the folder and locks it until the object or the process ends. An error if another run holds the
  /// lock.
  static llvm::Expected<std::unique_ptr<OutputFolder>> open(llvm::StringRef path);
  ~OutputFolder();
  OutputFolder(const OutputFolder &) = delete;
  OutputFolder &operator=(const OutputFolder &) = delete;

  /// Writes that the run has begun, before its first file.
  llvm::Error begin();
  /// An error if the path is no longer that of the folder, which was moved: another run may have its name
  /// now.
  llvm::Error requireInPlace() const;
  /// Writes the manifest of a complete run: the state `whole`, and the size and hash of each file in `names`.
  /// The folder must have these files.
  llvm::Error finish(std::vector<std::string> names);

private:
  OutputFolder(std::string path, int descriptor) : path(std::move(path)), descriptor(descriptor) {}
  std::string pathOf(llvm::StringRef name) const;
  void readEarlier();
  llvm::Error write(llvm::StringRef state, llvm::json::Object files) const;

  std::string path, run;
  int descriptor; // of the folder, with the lock
  std::set<std::string> earlier;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_IO_OUTPUTFOLDER_H
