// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Files of programs that were compiled ahead of time; docs/adx.md describes them. The reader does not trust a
// file: a damaged file causes an error message and nothing else. An intact file contains native code, though,
// so that its user must trust its author.
#ifndef ADJOINT_LIB_RUNNER_AOT_ADX_H
#define ADJOINT_LIB_RUNNER_AOT_ADX_H

#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runner/IO/Bindings.h"

namespace mlir::ad::runner {

struct CpuTarget;

/// Raised whenever the layout of the file or the meaning of its sections changes.
constexpr uint32_t adxVersion = 2;

/// The CPU that the code needs.
struct HostRequirement {
  std::string machine;               ///< as in a triple, e.g. x86_64
  std::vector<std::string> features; ///< that the code may use, by LLVM's names
};

struct AdxProgram {
  CompiledProgram program; ///< with one object, a shared one that refers to the runtime alone
  HostRequirement host;
  std::string producer;        ///< what wrote the file, with its version
  std::vector<Weight> weights; ///< values of arguments
};

/// Writes the file. After an error, an existing file is unchanged.
llvm::Error writeAdx(llvm::StringRef path, const AdxProgram &adx);

/// Reads a whole file. An error says whether it is no .adx file, has another version, is truncated, is
/// damaged, or needs another CPU.
llvm::Expected<AdxProgram> readAdx(llvm::StringRef bytes);

/// A named part of the file.
struct AdxSection {
  llvm::StringRef name, content;
};

/// The two steps of readAdx, for fuzzing: the table of sections, without the checksum, and the content of
/// sections.
llvm::Expected<std::vector<AdxSection>> splitAdx(llvm::StringRef bytes);
llvm::Expected<AdxProgram> readAdxSections(llvm::ArrayRef<AdxSection> sections);

/// The architecture of this machine, as HostRequirement::machine.
std::string hostMachine();
/// An error with ExitNoTarget when this machine cannot execute the code.
llvm::Error checkHost(const HostRequirement &host);

/// A symbol of the code whose name has a hash of the description of the program, so that code is not called
/// with the arguments of another description.
std::string descriptionSymbol(const CompiledProgram &program);

/// The target that the code was compiled for.
std::string targetOf(const CompiledProgram &program);
/// Whether this machine has the device of the program; an error with ExitNoTarget says what is missing.
llvm::Error checkDevice(const CompiledProgram &program);

/// Maps the code of a program, one shared object, into this process. An error if the code was linked for
/// another description.
llvm::Expected<std::unique_ptr<Executable>> loadAdx(const CompiledProgram &program);

/// Links the objects of `program` to a shared object, checks that it loads, and writes the file. `cpu` is
/// what it was compiled for.
llvm::Error emitAdx(llvm::StringRef path, CompiledProgram program, const CpuTarget &cpu,
                    std::vector<Weight> weights);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_AOT_ADX_H
