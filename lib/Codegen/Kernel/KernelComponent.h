// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of a kernel emitter. A component has state and methods of its own; it reaches
// the other components through the emitter, and the context of the kernel through references.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELCOMPONENT_H

#include "KernelContext.h"

namespace mlir::ad::codegen {

class KernelComponent {
public:
  explicit KernelComponent(KernelEmitter &emitter);
  KernelComponent(const KernelComponent &) = delete;

protected:
  Value indexConstant(int64_t value);
  template <class Op> Value binary(Value lhs, Value rhs) { return builder.createOrFold<Op>(loc, lhs, rhs); }

  KernelEmitter &emitter;
  KernelOp &kernel;
  FunctionOpInterface &function;
  OpBuilder &builder;
  Location &loc;
  int64_t &vectorLanes;
  int64_t &lanes;
  Value &mask;
  bool &flat;
  DenseMap<Value, Buffer> &buffers;
  SmallVector<Buffer> &results;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELCOMPONENT_H
