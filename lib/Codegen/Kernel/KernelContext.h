// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The code of one kernel while it is emitted: what the emitter and all of its components read and change.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELCONTEXT_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELCONTEXT_H

#include "KernelTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ad::codegen {

struct KernelContext {
  KernelContext(KernelOp kernel, FunctionOpInterface function, int64_t vectorLanes);
  KernelContext(const KernelContext &) = delete;

  /// The constant, which is in the entry block.
  Value indexConstant(int64_t value);
  template <class Op> Value binary(Value lhs, Value rhs) { return builder.createOrFold<Op>(loc, lhs, rhs); }

  /// What the function computes: the whole kernel, partial results of its reductions, or the kernel from
  /// these. The last two have one argument more, before the range: the memory of the partial results.
  enum class Work { all, partial, merge };
  /// Another number of lanes for a while.
  class WithLanes;

  KernelOp kernel;
  FunctionOpInterface function;
  OpBuilder builder;
  Location loc;
  Work work = Work::all;
  int64_t vectorLanes;             // lanes of a vector loop
  int64_t lanes = 1;               // lanes of the code being emitted
  Value mask;                      // active lanes; null when all are
  bool flat = false;               // positions are linear indices of equal shapes
  DenseMap<Value, Buffer> buffers; // tensor arguments
  SmallVector<Buffer> results;     // destinations
  IRMapping scalars;               // scalar values of the kernel body

private:
  std::map<int64_t, Value> constants;
};

class KernelContext::WithLanes {
public:
  WithLanes(KernelContext &context, int64_t lanes, Value mask)
      : context(context), savedLanes(context.lanes), savedMask(context.mask) {
    context.lanes = lanes;
    context.mask = mask;
  }
  ~WithLanes() {
    context.lanes = savedLanes;
    context.mask = savedMask;
  }

private:
  KernelContext &context;
  int64_t savedLanes;
  Value savedMask;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELCONTEXT_H
