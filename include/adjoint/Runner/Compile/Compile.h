// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles modules in the LLVM dialect to object files.
#ifndef ADJOINT_RUNNER_COMPILE_COMPILE_H
#define ADJOINT_RUNNER_COMPILE_COMPILE_H

#include "adjoint/Runner/IO/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::runner {

/// The CPU to compile for.
struct CpuTarget {
  std::string cpu;                   ///< by LLVM's name
  std::vector<std::string> features; ///< `+avx512f`, …; of a CPU given by name only those that it may not use
  std::vector<std::string> needed;   ///< features that its code may use, without a sign
  int64_t vectorBytes = 16;          ///< of the widest vector register
  bool dotProducts = false;          ///< of pairs of bf16 (AVX512_BF16) and of four i8 (AVX512_VNNI)
  bool halfInstructions = false;     ///< that convert between f16 and f32 (F16C)
  /// Kernels call the emulated GPU for each access: optimized code is not worth the time of its compilation.
  bool emulatesGPU = false;
  std::string featureString() const;
};

/// The host, or the named CPU. An error with ExitUsage when LLVM does not know the name, or with ExitNoTarget
/// when this machine cannot execute the code, unless the code is for another machine (`elsewhere`).
llvm::Expected<CpuTarget> findCpu(llvm::StringRef name, bool elsewhere = false);
/// The CPU of this machine.
CpuTarget hostCpu();

/// Compiles `module`, which must translate to LLVM IR, to objects that link with each other. Their number
/// depends on the CPUs and the size of the program. Adds the stages `translate`, `llvm`, `codegen`.
llvm::Expected<std::vector<std::string>> compileToObjects(mlir::ModuleOp module, const CpuTarget &target,
                                                          StageTimes &times);

/// Registers LLVM's code generator for this machine. Thread-safe; may be called repeatedly.
void initializeCodegen();

/// Registers the dialects and translations that compileToObjects needs.
void registerCompileDialects(mlir::DialectRegistry &registry);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_COMPILE_COMPILE_H
