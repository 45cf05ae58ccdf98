// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles emitted functions for this machine: each loads up to two operands, applies an emitter and stores.
#ifndef ADJOINT_TEST_NUMERICS_EMITJIT_H
#define ADJOINT_TEST_NUMERICS_EMITJIT_H

#include "adjoint/Numerics/ElementType.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <memory>
#include <string>

namespace mlir::ad::numerics::test {

using Kernel = void (*)(const void *first, const void *second, void *result);
using Emitter = std::function<Value(OpBuilder &, Location, Value first, Value second)>;

class EmitJit {
public:
  EmitJit();

  /// Adds a kernel over `lanes` elements (0 for scalars) of `from`, giving elements of `to`.
  void add(const std::string &name, ElementType from, ElementType to, int lanes, const Emitter &emitter);

  /// Compiles all of them; false after printing why not.
  bool compile();
  Kernel lookup(const std::string &name);

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
};

} // namespace mlir::ad::numerics::test

#endif // ADJOINT_TEST_NUMERICS_EMITJIT_H
