// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes of the tensors in a kernel, as values of the host program before the launch.

#ifndef ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_HOSTSIZES_H
#define ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_HOSTSIZES_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::ad {

/// The kernel of a launch; null for the function that it names after code generation.
KernelOp kernelOf(LaunchOp launch);

/// A tensor and its axis.
struct TensorAxis {
  Value tensor;
  int64_t axis;
};

/// Where one of these operands has the number of iterations of a loop as a size; nullopt if none has. The
/// verifier of linalg requires that some operand of the operation has it.
std::optional<TensorAxis> axisOfLoop(linalg::LinalgOp op, ArrayRef<OpOperand *> operands, unsigned loop);

/// The host program knows all sizes before the launch, since a kernel computes them from its arguments.
/// Functions return null for what depends on elements of a tensor.
class HostSizes {
public:
  HostSizes(LaunchOp launch, KernelOp kernel);

  /// The scalar of the kernel.
  Value valueOf(Value scalar);
  /// The size of the tensor of the kernel.
  Value sizeOf(Value tensor, int64_t axis);
  /// The number of iterations of a loop.
  Value extentOf(linalg::LinalgOp op, unsigned loop);

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, lhs, rhs);
  }
  Value either(Value lhs, Value rhs) { return builder.createOrFold<arith::OrIOp>(loc, lhs, rhs); }
  Value both(Value lhs, Value rhs) { return builder.createOrFold<arith::AndIOp>(loc, lhs, rhs); }
  /// Writes a condition of an operation of the kernel, unless it is known to hold.
  void require(Operation *checked, int32_t kind, Value condition, ValueRange values);

  OpBuilder builder;
  Location loc;

private:
  IRMapping known;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_INSERTSHAPECHECKS_HOSTSIZES_H
