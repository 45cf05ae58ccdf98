// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the host has to know before it launches a divided reduction, as a function of the kernel's operands.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_NODESIZES_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_NODESIZES_H

#include "GenericEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad::device {

/// The largest number of reduced elements for which one kernel is faster than two.
int64_t shortLength(KernelOp kernel, linalg::GenericOp reduction, const Division &division);

class NodeSizes : public GenericEmitter {
public:
  NodeSizes(KernelOp kernel, func::FuncOp host, const Division &divided)
      : GenericEmitter(kernel, host), host(host) {
    division = divided;
  }

  /// Emits a function of the host, which takes the number of processors behind the operands. It returns the
  /// leaves of a node, or 0 where the kernel is not to be divided; the bytes of all nodes; and the threads
  /// that sum them, `threadsOfNode` each. Whether it does so without reading an operand, whose elements the
  /// host does not have.
  FailureOr<bool> emitSizes(int64_t threadsOfNode);

private:
  void bindRange(ValueRange arguments) override { processors = arguments.front(); }
  Value chooseLeaves(int64_t threadsOfNode);
  Value shouldDivide();
  Value roundUpToPower(Value count);
  Value mostLeaves();
  Value resultCount();
  bool readsNothing();

  func::FuncOp host;
  Value processors;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_NODESIZES_H
