// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The host function @k$partial_sizes of a divided reduction, which computes the sizes of its partial results.

#ifndef ADJOINT_LIB_CODEGEN_GPU_REDUCTION_PARTIALSIZES_H
#define ADJOINT_LIB_CODEGEN_GPU_REDUCTION_PARTIALSIZES_H

#include "../Generic/GPUKernelEmitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad::device {

/// The maximum number of reduced elements for which one kernel is faster than two.
int64_t maxUndividedLength(KernelOp kernel, linalg::GenericOp reduction, const Division &division);

/// Removes code without effect from a function that computes sizes, and says whether no element is left that
/// it reads, which the host does not have.
bool readsNoOperand(func::FuncOp host);

class PartialSizes : public GPUKernelEmitter {
public:
  PartialSizes(KernelOp kernel, func::FuncOp host, const Division &division)
      : GPUKernelEmitter(kernel, host), host(host) {
    partialTree.division = division;
  }

  /// The argument after the operands is the number of multiprocessors. It returns the leaves of a node, or
  /// 0 if the kernel is not to be divided; the bytes of all nodes; and the threads that compute them,
  /// `threadsPerNode` each. False if it reads elements of an operand, which the host does not have.
  FailureOr<bool> emitSizes(int64_t threadsPerNode);

private:
  void bindRange(ValueRange arguments) override { smCount = arguments.front(); }
  Value chooseLeaves(int64_t threadsPerNode);
  Value shouldDivide();
  Value roundUpToPowerOfTwo(Value count);
  Value maxLeaves();
  Value resultCount();
  Value tileCount();
  Value threadCount(int64_t threadsPerNode);

  func::FuncOp host;
  Value smCount;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_REDUCTION_PARTIALSIZES_H
