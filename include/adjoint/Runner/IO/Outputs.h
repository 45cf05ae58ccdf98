// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What comes out of a program: received values as they come, results at the end, into files and onto the
// terminal.
#ifndef ADJOINT_RUNNER_IO_OUTPUTS_H
#define ADJOINT_RUNNER_IO_OUTPUTS_H

#include "adjoint/Runner/Options/Options.h"
#include "adjoint/Runner/Session/Signature.h"
#include "adjoint/Support/Npy.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ad::runner {

class Outputs {
public:
  /// Makes the folder and finds a file for every name; names that would share a file are an error.
  static llvm::Expected<std::unique_ptr<Outputs>> create(const Signature &signature, const Options &options,
                                                         llvm::raw_fd_ostream &os);

  /// The callback of the runtime. Files hold what was received until now, also when it returns an error.
  int32_t receive(const char *name, const adrt_tensor *values, int32_t count, std::string &error);
  /// While false, received values are dropped: warm-up runs, and repetitions of the same.
  void setRecording(bool record) { recording = record; }

  /// Writes and prints the results of a finished run.
  llvm::Error finish(llvm::ArrayRef<adrt_tensor> results);
  /// Completes the files of received values; also after a failed or interrupted run.
  llvm::Error flush();

private:
  Outputs(const Signature &signature, const Options &options, llvm::raw_fd_ostream &os)
      : signature(signature), os(os), directory(options.outDir), print(options.print) {}
  llvm::Error assignFiles();
  llvm::Error append(llvm::StringRef name, const adrt_tensor &value);

  const Signature &signature;
  llvm::raw_fd_ostream &os;
  std::string directory;
  bool print;
  bool recording = true;
  llvm::StringMap<std::string> files; // of `result:NAME` and of `receive:NAME`
  llvm::StringMap<std::unique_ptr<NpyAppender>> appenders;
};

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_IO_OUTPUTS_H
