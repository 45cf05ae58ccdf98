// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// From a module in the LLVM dialect to an object file.
#ifndef ADJOINT_RUNNER_SESSION_COMPILE_H
#define ADJOINT_RUNNER_SESSION_COMPILE_H

#include "adjoint/Runner/IO/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::ad::runner {

/// The CPU to compile for.
struct CpuTarget {
  std::string cpu;                   ///< as LLVM names it
  std::vector<std::string> features; ///< `+avx512f`, …; empty for a CPU given by name
  std::vector<std::string> needed;   ///< features that its code may use, without a sign
  int64_t vectorBytes = 16;          ///< of the widest vector register
  bool dotProducts = false;          ///< of pairs of bf16 (AVX512_BF16) and of four i8 (AVX512_VNNI)
  bool halfInstructions = false;     ///< that convert between f16 and f32 (F16C)
  std::string featureString() const;
};

/// The host, or the named CPU: an error with ExitUsage when nobody knows it, with ExitNoTarget when
/// this machine cannot execute its code, unless that runs `elsewhere`.
llvm::Expected<CpuTarget> findCpu(llvm::StringRef name, bool elsewhere = false);
/// The host as it is; cheap.
CpuTarget hostCpu();

/// Compiles `module`, which holds only what translates to LLVM IR, to objects that link with each other: as
/// many as the CPUs and the size of the program make worth while. Adds the stages `translate`, `llvm`,
/// `codegen`.
llvm::Expected<std::vector<std::string>> compileToObjects(mlir::ModuleOp module, const CpuTarget &target,
                                                          StageTimes &times);

/// Makes LLVM's code generator for this machine known; on any thread, once or often.
void initializeCodegen();

/// Dialects and translations that compileToObject needs.
void registerCompileDialects(mlir::DialectRegistry &registry);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_SESSION_COMPILE_H
