// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The scalar code of a loop body as operations of `ad` on whole tensors.

#ifndef ADJOINT_LIB_CONVERSION_IMPORTLINALG_BODYRAISER_H
#define ADJOINT_LIB_CONVERSION_IMPORTLINALG_BODYRAISER_H

#include "Accesses.h"
#include "Refusals.h"

namespace mlir::ad {
/// Raises what is asked for, and nothing else. Values of arguments are made when they are needed first;
/// values from outside of the body are the same at all points.
class BodyRaiser {
public:
  using ArgumentReader = std::function<Value(BlockArgument)>;

  /// `read` gives the aligned tensor of an argument of the body's block.
  BodyRaiser(TensorCode code, LoopSizes sizes, Region &body, Refusals &refusals, ArgumentReader read)
      : code(code), sizes(sizes), body(body), refusals(refusals), read(std::move(read)) {}

  /// The argument is the number of the iteration of the loop.
  void setIteration(Value argument, unsigned loop) { iterations[argument] = loop; }

  /// The aligned tensors of scalars, each a result or an argument of the body's block, or from outside.
  FailureOr<SmallVector<Value>> raise(ValueRange wanted);
  FailureOr<Value> raise(Value wanted);

private:
  LogicalResult raiseBlock(Block &block, ValueRange wanted);
  LogicalResult raiseOperation(Operation *op);
  LogicalResult raiseIf(Operation *op);
  LogicalResult raiseExtract(Operation *op);
  LogicalResult raiseApply(Operation *op);
  LogicalResult verifyElements(Operation *op);
  Value lookUp(Value scalar);
  AxisIndex indexFor(Value tensor, unsigned axis, Value index);

  TensorCode code;
  LoopSizes sizes;
  Region &body;
  Refusals &refusals;
  ArgumentReader read;
  DenseMap<Value, Value> raised;
  DenseMap<Value, unsigned> iterations;
  /// In a branch, which is computed for points that do not take it, too.
  unsigned branches = 0;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_IMPORTLINALG_BODYRAISER_H
