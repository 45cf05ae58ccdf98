// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of LoopNestOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_LOOPNESTOPINTERFACE_H
#define ADJOINT_INTERFACES_LOOPNESTOPINTERFACE_H

#include "adjoint/Interfaces/ElementAccess.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::ad {

/// The default of LoopNestOpInterface::getLoopSizes. The entry of a loop whose size nothing gives is null.
SmallVector<OpFoldResult> defaultLoopSizes(Operation *op, OpBuilder &builder);

LogicalResult verifyLoopNest(Operation *op);

/// Why a nest with several accumulators can have no order.
constexpr llvm::StringLiteral kChainsOnly =
    "has an order, but not one accumulator: several are combined in one chain";

/// Fails after a diagnostic unless there is a size for each loop, constant ones are not negative, and loops
/// over the axes of a result have its static sizes. `resultMaps` may be empty.
LogicalResult verifyLoopSizes(Operation *op, ArrayRef<OpFoldResult> sizes, size_t loops,
                              ArrayRef<AffineMap> resultMaps);

} // namespace mlir::ad

#include "adjoint/Interfaces/LoopNestOpInterface.h.inc"

namespace mlir::ad {

/// Whether the nest combines values of iterations.
bool reduces(LoopNestOpInterface nest);

/// An axis of an operand whose index is this loop alone, and must be inside.
struct LoopAxis {
  Value tensor;
  int64_t axis;
};
/// All of the loop, in the order of the operands.
SmallVector<LoopAxis> axesOfLoop(LoopNestOpInterface nest, unsigned loop);

/// The sizes of a result, from those of the loops: what an operation with dynamic sizes answers to
/// ReifyRankedShapedTypeOpInterface.
SmallVector<OpFoldResult> sizesOfResult(LoopNestOpInterface nest, OpBuilder &builder, unsigned result);

} // namespace mlir::ad

#endif // ADJOINT_INTERFACES_LOOPNESTOPINTERFACE_H
