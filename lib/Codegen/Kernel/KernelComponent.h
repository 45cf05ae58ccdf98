// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The base of the components of a kernel emitter. A component has state and methods of its own. Its
// constructor names the components that it uses; the code of the kernel is in the context, which all of them
// share.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELCOMPONENT_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELCOMPONENT_H

#include "KernelContext.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ad::codegen {

class KernelComponent {
public:
  explicit KernelComponent(KernelContext &context)
      : context(context), kernel(context.kernel), function(context.function), builder(context.builder),
        loc(context.loc), vectorLanes(context.vectorLanes), lanes(context.lanes), mask(context.mask),
        flat(context.flat), buffers(context.buffers), results(context.results), scalars(context.scalars) {}
  KernelComponent(const KernelComponent &) = delete;

protected:
  using Scope = KernelContext::Scope;
  using WithLanes = KernelContext::WithLanes;

  Value indexConstant(int64_t value) { return context.indexConstant(value); }
  template <class Op> Value binary(Value lhs, Value rhs) { return builder.createOrFold<Op>(loc, lhs, rhs); }
  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body) {
    return context.emitLoop(lower, upper, step, body);
  }
  Position positionOfElement(Value number, ValueRange sizes) {
    return context.positionOfElement(number, sizes);
  }
  Value toMemory(Value value) { return context.toMemory(value); }
  Value fromMemory(Value value, Type element) { return context.fromMemory(value, element); }
  Value movable(Value value) { return context.movable(value); }
  void remember(Value tensor, const Position &position, Value value) {
    context.remember(tensor, position, value);
  }

  KernelContext &context;
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
  IRMapping &scalars;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELCOMPONENT_H
