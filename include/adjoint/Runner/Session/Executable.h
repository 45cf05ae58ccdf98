// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs that can run: compiled ones, loaded into this process, and whatever else implements the interface
// (the reference interpreter). All of them use the services of one adrt_context.
#ifndef ADJOINT_RUNNER_SESSION_EXECUTABLE_H
#define ADJOINT_RUNNER_SESSION_EXECUTABLE_H

#include "adjoint/Runner/Session/Signature.h"
#include "adjoint/Runtime/Sim/SimDevice.h"

#include <memory>

namespace mlir::ad::runner {

class Executable {
public:
  virtual ~Executable();

  /// Runs the entry: `arguments` in the order of the signature, `results` to be filled; their memory belongs
  /// to the context until its next run. Returns a status of adrt.h.
  virtual int32_t run(adrt_context &context, llvm::ArrayRef<adrt_tensor> arguments,
                      llvm::MutableArrayRef<adrt_tensor> results) = 0;

  /// Names of the kernels by number, if the executable counts kernels.
  virtual llvm::ArrayRef<std::string> getKernelNames() const { return {}; }

  /// From the next context on, kernels of the emulated GPU run so, and what they ask of memory is counted
  /// where that is wanted.
  virtual void setEmulation(const adrt::Emulation &, bool /*countTraffic*/) {}
  /// What was counted, by number of the kernel.
  virtual llvm::ArrayRef<adrt::KernelTraffic> getTraffic() const { return {}; }
};

/// Everything that is needed to run a compiled program again; what the cache keeps.
struct CompiledProgram {
  Signature signature;
  std::string numerics;             ///< the mode it was compiled in
  std::vector<std::string> kernels; ///< by number
  std::string device;               ///< what runs the kernels: empty for the CPU, `gpu-sim` or `cuda`
  std::string image;                ///< their code, for `cuda`
  std::string chip;                 ///< that the image is for, e.g. sm_80
  llvm::json::Value numericsReport = nullptr;
  std::vector<std::string> objects; ///< relocatable files that link with each other
};

/// All but the code, as JSON.
llvm::json::Value toJSON(const CompiledProgram &program);
bool fromJSON(const llvm::json::Value &value, CompiledProgram &program, llvm::json::Path path);

/// Links the objects into this process, against the symbols of the runtime alone.
llvm::Expected<std::unique_ptr<Executable>> loadProgram(const CompiledProgram &program);

} // namespace mlir::ad::runner

#endif // ADJOINT_RUNNER_SESSION_EXECUTABLE_H
