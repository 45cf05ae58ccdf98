// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs that are ready to run: compiled ones, loaded into this process, and those of the reference
// interpreter. Each run uses one adrt_context.
#ifndef ADJOINT_RUNNER_EXECUTABLE_EXECUTABLE_H
#define ADJOINT_RUNNER_EXECUTABLE_EXECUTABLE_H

#include "adjoint/Runner/Executable/Signature.h"
#include "adjoint/Runtime/Sim/SimDevice.h"

#include <memory>

namespace mlir::ad::reference {
class Observer;
} // namespace mlir::ad::reference

namespace mlir::ad::runner {

class Executable {
public:
  virtual ~Executable();

  /// Runs the entry with `arguments` in the order of the signature, and fills `results`. The memory of
  /// results belongs to the context until its next run. Returns a status of adrt.h.
  virtual int32_t run(adrt_context &context, llvm::ArrayRef<adrt_tensor> arguments,
                      llvm::MutableArrayRef<adrt_tensor> results) = 0;

  /// Makes the device of the program, which later runs in the context use. Programs for the host have none.
  /// Returns a status of adrt.h.
  virtual int32_t prepare(adrt_context &) { return 0; }

  /// Names of the kernels by number, if the executable counts kernels.
  virtual llvm::ArrayRef<std::string> getKernelNames() const { return {}; }

  /// Sets how kernels of the emulated GPU run, and whether their memory requests are counted, in contexts
  /// that run this program from now on.
  virtual void setEmulation(const adrt::Emulation &, bool /*countTraffic*/) {}
  /// The counted requests, by number of the kernel.
  virtual llvm::ArrayRef<adrt::KernelTraffic> getTraffic() const { return {}; }

  /// Sees each operation that the reference interpreter runs from now on; null: none does. Compiled programs
  /// have no operations.
  virtual void setObserver(reference::Observer *) {}
};

/// Everything that is needed to run a compiled program again. The cache stores it.
struct CompiledProgram {
  Signature signature;
  std::string numerics;             ///< the numerics mode
  bool hasCast = false;             ///< the optimised program has an ad.cast
  std::vector<std::string> kernels; ///< by number
  std::string device;               ///< the device of the kernels: empty for the CPU, `gpu-sim` or `cuda`
  std::string image;                ///< the code of the kernels, for `cuda`
  std::string chip;                 ///< of the image, e.g. sm_80
  llvm::json::Value numericsReport = nullptr;
  std::string rewrites;             ///< of this compilation, if they are listed; no file has them
  std::vector<std::string> objects; ///< relocatable files that link with each other
};

/// Everything except the code, as JSON.
llvm::json::Value toJSON(const CompiledProgram &program);
bool fromJSON(const llvm::json::Value &value, CompiledProgram &program, llvm::json::Path path);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_EXECUTABLE_EXECUTABLE_H
