// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Programs whose code is in this process. The JIT's linker loads it, or the loader of files that were
// compiled ahead of time. Internal to the runner.
#ifndef ADJOINT_LIB_RUNNER_EXECUTABLE_COMPILEDEXECUTABLE_H
#define ADJOINT_LIB_RUNNER_EXECUTABLE_COMPILEDEXECUTABLE_H

#include "adjoint/Runner/Executable/Executable.h"
#include "adjoint/Runtime/Host/Symbols.h"

namespace mlir::ad::runner {

/// Code that is loaded during the lifetime of this object.
class LoadedCode {
public:
  virtual ~LoadedCode();
  /// The address of a symbol that the code defines; an error if there is none.
  virtual llvm::Expected<void *> find(const std::string &symbol) = 0;
};

/// The external symbols that the code of `program` may refer to.
std::vector<adrt::SymbolTable> symbolsFor(const CompiledProgram &program);
/// The symbols that its code must define: the entry first, then its emulated kernels by number.
std::vector<std::string> partsOf(const CompiledProgram &program);

llvm::Expected<std::unique_ptr<Executable>> makeExecutable(const CompiledProgram &program,
                                                           std::unique_ptr<LoadedCode> code);

} // namespace mlir::ad::runner

#endif // ADJOINT_LIB_RUNNER_EXECUTABLE_COMPILEDEXECUTABLE_H
