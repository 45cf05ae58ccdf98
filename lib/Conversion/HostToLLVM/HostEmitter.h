// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers one planned host function to an entry of the C ABI `adrt`. Tensors become a pointer and sizes,
// operations on scalars are copied. The emitter dispatches each operation to the component that lowers it.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTEMITTER_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTEMITTER_H

#include "Control/ControlFlow.h"
#include "EntryInterface.h"
#include "Launches/Launches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::ad::host {

class HostEmitter : private BlockEmitter {
public:
  /// `source` has passed verifyPlannedProgram.
  HostEmitter(func::FuncOp source, HostModule &module, const HostOptions &options);
  LogicalResult emit();

private:
  LogicalResult emitBlock(Block &block) override;
  LogicalResult emitOp(Operation &op);
  LogicalResult emitControlFlow(Operation &op);
  LogicalResult emitDim(tensor::DimOp dim);
  void emitConstant(ConstantOp constant);
  void emitReshape(ReshapeOp reshape);
  void emitExtract(tensor::ExtractOp extract);
  void emitSelect(arith::SelectOp select);
  void forwardOperands(Operation &op);
  void forwardCopied(CopyOp copy);

  EntryBuilder entry;
  OpBuilder &builder;
  Location &loc;
  const MemoryPlan plan;
  HostValues values;
  TensorDescriptors descriptors;
  BufferAddresses buffers;
  TensorCopies copies;
  EntryInterface interface;
  RuntimeServices services;
  StopPolls polls;
  Launches launches;
  LoopCarries carries;
  ForLoops forLoops;
  WhileLoops whileLoops;
  Branches branches;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_HOSTEMITTER_H
