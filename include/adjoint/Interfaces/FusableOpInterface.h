// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of FusableOpInterface, see the .td file for its contract, and what follows from its answers.

#ifndef ADJOINT_INTERFACES_FUSABLEOPINTERFACE_H
#define ADJOINT_INTERFACES_FUSABLEOPINTERFACE_H

#include "adjoint/Interfaces/Enums.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::ad {

/// How an operation that computes nothing reads its operand.
enum class ViewKind {
  none,        ///< it computes, or writes a tensor of its own
  reshape,     ///< the same elements in row-major order
  broadcast,   ///< elements repeated along axes
  transpose,   ///< axes permuted
  slice,       ///< a part at offsets that are known when compiling
  dynamicSlice ///< a part at offsets that are values
};

/// A tensor, and the part that replaces elements of it.
struct PartialUpdate {
  Value whole, part;
};

FusionKind defaultFusionKind(Operation *op);
SmallVector<utils::IteratorType> defaultIteratorTypes(Operation *op);
SmallVector<AffineMap> defaultAccessMaps(Operation *op);

} // namespace mlir::ad

#include "adjoint/Interfaces/FusableOpInterface.h.inc"

namespace mlir::ad {

/// The view that the operation is; `none` for operations without the interface.
ViewKind viewKindOf(Operation *op);
/// Computes each element of its one result in a nest of loops (LoopNestOpInterface), whose points are those
/// of the parallel loops.
bool isLoopNest(Operation *op);
/// Computes each element of its result from the elements at the same position.
bool isElementwiseOp(Operation *op);
/// Sums products, as `ad.dot` does.
bool isContractionOp(Operation *op);
/// Reduces exactly the last axis of its operands, whose other axes are those of the result.
bool reducesLastAxis(Operation *op);
/// Reduces exactly one axis, which is another one than the last.
bool reducesOtherAxis(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_INTERFACES_FUSABLEOPINTERFACE_H
