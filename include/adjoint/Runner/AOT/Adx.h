// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs that were compiled ahead of time, in one file: docs/adx.md describes it. Files come from anywhere:
// nothing in a damaged one may do more than cause an error message. A file that is whole holds code, though,
// and running it is trusting who made it.
#ifndef ADJOINT_RUNNER_AOT_ADX_H
#define ADJOINT_RUNNER_AOT_ADX_H

#include "adjoint/Runner/IO/Bindings.h"
#include "adjoint/Runner/Session/Executable.h"

namespace mlir::ad::runner {

/// Raised whenever the layout of the file or the meaning of its sections changes.
constexpr uint32_t adxVersion = 1;

/// The CPU that the code is for.
struct HostRequirement {
  std::string machine;               ///< as in a triple, e.g. x86_64
  std::vector<std::string> features; ///< that the code may use, as LLVM names them
};

struct AdxProgram {
  CompiledProgram program; ///< with one object, which is shared and needs nothing but the runtime
  HostRequirement host;
  std::string producer;        ///< who wrote the file
  std::vector<Weight> weights; ///< values of arguments
};

/// Writes the file, or leaves what was there.
llvm::Error writeAdx(llvm::StringRef path, const AdxProgram &adx);

/// Reads a whole file. Errors say what is wrong with it: not such a file, of another version, truncated,
/// damaged, for another CPU.
llvm::Expected<AdxProgram> readAdx(llvm::StringRef bytes);

/// What stands under a name in the file.
struct AdxSection {
  llvm::StringRef name, content;
};

/// The two halves of readAdx, for fuzzing: the sections of a file whose checksum holds, and their meaning.
llvm::Expected<std::vector<AdxSection>> splitAdx(llvm::StringRef bytes);
llvm::Expected<AdxProgram> readAdxSections(llvm::ArrayRef<AdxSection> sections);

/// What this machine is, as a requirement names it.
std::string hostMachine();
/// An error with ExitNoTarget when this machine cannot execute the code.
llvm::Error checkHost(const HostRequirement &host);

/// Brings the code of a program, one shared object, into this process.
llvm::Expected<std::unique_ptr<Executable>> loadAdx(const CompiledProgram &program);

/// Links the objects of `program` to a shared one, which is seen to load, and writes the file.
llvm::Error emitAdx(llvm::StringRef path, AdxProgram adx);

/// The whole of adrt-run.
int adrtRunMain(int argc, char **argv);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_AOT_ADX_H
