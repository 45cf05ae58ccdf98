// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes and prints received values during a run, and results at its end.
#ifndef ADJOINT_LIB_RUNNER_IO_OUTPUTS_H
#define ADJOINT_LIB_RUNNER_IO_OUTPUTS_H

#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Support/Npy.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

class OutputFolder;

/// The name of a file for a value of any name. It has no path and is not hidden.
std::string npyFileName(llvm::StringRef name);

class Outputs {
public:
  ~Outputs();
  /// Makes the folder and assigns a file to every name; names that map to the same file are an error.
  static llvm::Expected<std::unique_ptr<Outputs>> create(const Signature &signature, const Options &options,
                                                         llvm::raw_fd_ostream &os);

  /// The callback of the runtime. After an error, the files have the values that were received before.
  int32_t receive(const char *name, const adrt_tensor *values, int32_t count, std::string &error);
  /// While false, received values are dropped: in warm-up runs and repetitions.
  void setRecording(bool record) { recording = record; }

  /// Writes and prints the results of a finished run.
  llvm::Error finish(llvm::ArrayRef<adrt_tensor> results);
  /// Completes the files of received values; also after a failed or interrupted run.
  llvm::Error flush();
  /// Writes into the folder that its files are whole: the last call of a run that has not failed.
  llvm::Error complete();

private:
  Outputs(const Signature &signature, const Options &options, llvm::raw_fd_ostream &os);
  llvm::Error assignFiles();
  llvm::Error append(llvm::StringRef name, const adrt_tensor &value);

  const Signature &signature;
  llvm::raw_fd_ostream &os;
  std::string directory;
  std::unique_ptr<OutputFolder> folder; // null without a directory
  bool print;
  bool recording = true;
  llvm::StringMap<std::string> files; // of `result:NAME` and of `receive:NAME`
  llvm::StringMap<std::unique_ptr<NpyAppender>> appenders;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_IO_OUTPUTS_H
