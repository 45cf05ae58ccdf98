// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels compiled into this process, ready to be launched.
#ifndef ADJOINT_LIB_TOOLS_GPUEMULATE_KERNELLIBRARY_H
#define ADJOINT_LIB_TOOLS_GPUEMULATE_KERNELLIBRARY_H

#include "adjoint/Emulator/Machine.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace mlir::ad::emulator {

class KernelLibrary {
public:
  virtual ~KernelLibrary();
  /// Null when there is no such kernel.
  virtual const adsim::KernelCode *find(llvm::StringRef kernel) const = 0;
  virtual llvm::ArrayRef<std::string> getKernelNames() const = 0;

  /// Compiles and links a module after `ad-lower-to-emulator`.
  static llvm::Expected<std::unique_ptr<KernelLibrary>> create(mlir::ModuleOp lowered);
};

/// Parses `path`, lowers its GPU modules to the emulator and compiles them. If the message of the error is
/// empty, the errors of the program have been printed.
llvm::Expected<std::unique_ptr<KernelLibrary>> loadKernels(llvm::StringRef path);

} // namespace mlir::ad::emulator

#endif // ADJOINT_LIB_TOOLS_GPUEMULATE_KERNELLIBRARY_H
