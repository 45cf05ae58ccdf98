// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which element of a tensor an iteration of a loop nest reads or writes.

#ifndef ADJOINT_INTERFACES_ELEMENTACCESS_H
#define ADJOINT_INTERFACES_ELEMENTACCESS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::ad {

/// What an index outside of the tensor means. An axis without elements has no nearest element: an iteration
/// that clamps an index to one is an error.
enum class OutOfRange {
  error, ///< the program ends with an error that names the operation, the axis, the index and the size
  clamp, ///< the nearest index
  value, ///< of a read: a constant
  drop   ///< of a write: nothing is written
};

/// The element that an iteration accesses.
struct ElementAccess {
  /// An access inside of the tensor at indices that follow from the loops.
  ElementAccess(AffineMap map) : map(map) {}
  ElementAccess(AffineMap map, SmallVector<unsigned> indexOperands, OutOfRange outOfRange,
                TypedAttr padding = {})
      : map(map), indexOperands(std::move(indexOperands)), outOfRange(outOfRange), padding(padding) {}

  /// From the loops (dimensions) and the values of other operands (symbols) to one index per axis. Quotients
  /// and remainders are by positive constants. Indices are computed in 64 bits, which wrap,
  /// from the map as MLIR has simplified it.
  AffineMap map;
  /// The operands that hold the symbols: integers, or tensors of integers whose own accesses have no symbols.
  SmallVector<unsigned> indexOperands;
  OutOfRange outOfRange = OutOfRange::error;
  TypedAttr padding; ///< of OutOfRange::value, of the element type
  /// Axes whose index is one loop, and that must have as many elements as it has iterations. With
  /// OutOfRange::error these are all whose index is one loop.
  SmallVector<unsigned> wholeAxes;

  /// Whether one loop runs over the axis, from its first to its last element.
  bool isWholeAxis(unsigned axis) const {
    return isa<AffineDimExpr>(map.getResult(axis)) &&
           (outOfRange == OutOfRange::error || llvm::is_contained(wholeAxes, axis));
  }

  /// Whether each index is one loop or a constant, and must be inside of the tensor.
  bool isPlain() const;
};

/// Fails after a diagnostic unless the access is one of a tensor of this type, in a nest of so many loops.
/// `what` names the tensor. `accesses` are those of the tensors among the operands.
LogicalResult verifyElementAccess(Operation *op, const Twine &what, Type tensor, const ElementAccess &access,
                                  unsigned loops, ArrayRef<ElementAccess> accesses);

/// The number of an operand among those that are ranked tensors.
unsigned tensorNumber(Operation *op, unsigned operand);

} // namespace mlir::ad

#endif // ADJOINT_INTERFACES_ELEMENTACCESS_H
