// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests and ordered writes (LoopNestOpInterface, OrderedWriteOpInterface) as linalg.generic: inputs, and
// scalar code of the accesses that linalg has no maps for.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_LOOPNESTCODE_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_LOOPNESTCODE_H

#include "adjoint/Interfaces/ElementAccess.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::ad {

/// On a `tensor.extract` whose tensor may have no elements: it counts only where the condition of the
/// `arith.select` that takes it holds, and no code reads it elsewhere.
inline constexpr llvm::StringLiteral kInsideOnlyAttr = "ad.inside_only";

/// Whether all indices along the axis are inside of it in a nest of loops of these sizes, as far as is known
/// when compiling; ShapedType::kDynamic is a size that is not.
bool isSurelyInside(const ElementAccess &access, RankedTensorType type, int64_t axis,
                    ArrayRef<int64_t> extents);

/// Code of accesses in the body of one linalg.generic.
class AccessCode {
public:
  /// `extents`: sizes of the loops, ShapedType::kDynamic where it is not known when compiling. Builds their
  /// indices.
  AccessCode(OpBuilder &builder, Location loc, ArrayRef<int64_t> extents);

  /// The indices of the access, wherever they are. `symbols` are integers of any type.
  SmallVector<Value> indices(const ElementAccess &access, ValueRange symbols) const;

  /// Moves indices outside of a tensor of these sizes to the nearest element.
  void clampIndices(const ElementAccess &access, RankedTensorType type, ValueRange sizes,
                    MutableArrayRef<Value> indices) const;

  /// The element of the tensor, whose sizes are `sizes`, that the iteration reads.
  Value read(Value tensor, const ElementAccess &access, ValueRange symbols, ValueRange sizes) const;

  OpBuilder &builder;
  Location loc;
  ArrayRef<int64_t> extents;
  SmallVector<Value> loops; ///< linalg.index of each loop

private:
  Value expand(AffineExpr expr, ValueRange symbols) const;
  /// Whether an iteration may access an axis without elements.
  bool mayBeEmpty(const ElementAccess &access, RankedTensorType type) const;
  Value areInside(const ElementAccess &access, RankedTensorType type, ValueRange sizes,
                  ValueRange indices) const;
};

/// The indices along axes of these sizes of the element with the row-major number.
SmallVector<Value> delinearize(OpBuilder &builder, Location loc, Value number, ArrayRef<Value> sizes);

/// The sizes of all axes.
SmallVector<Value> sizesOfTensor(OpBuilder &builder, Location loc, Value tensor);

/// The operands of an operation with accesses as those of a linalg.generic. Each operand that every iteration
/// surely reads inside of its tensor, at sums and multiples of the loops, is an input; all others are read by
/// tensor.extract.
class NestOperands {
public:
  /// Builds the sizes of tensors before the linalg.generic. `accesses` outlives this object. `skipped`: the
  /// number of an operand that the caller reads; -1 for none.
  NestOperands(Operation *op, ArrayRef<ElementAccess> accesses, ArrayRef<OpFoldResult> loopSizes,
               OpBuilder &builder, int64_t skipped = -1);

  /// The element of each operand, or the operand itself if it is a scalar, in a body whose arguments begin
  /// with those of the inputs. The value of the skipped operand is null.
  SmallVector<Value> elements(const AccessCode &code, ValueRange arguments) const;

  /// The values of these elements that are symbols of the access.
  static SmallVector<Value> symbols(const ElementAccess &access, ArrayRef<Value> elements);

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;  ///< of the inputs
  SmallVector<int64_t> extents; ///< ShapedType::kDynamic where it is not known when compiling

private:
  const ElementAccess &accessOf(OpOperand &operand) const;
  bool isInput(OpOperand &operand) const;
  void add(OpOperand &operand);
  void giveSizes(ArrayRef<OpFoldResult> loopSizes);

  Operation *op;
  ArrayRef<ElementAccess> accesses;
  OpBuilder &builder;
  Location loc;
  int64_t skipped;
  SmallVector<std::optional<unsigned>> inputOf;         ///< for each operand, its number among the inputs
  llvm::DenseMap<unsigned, SmallVector<Value>> sizesOf; ///< of the tensors that are no inputs
};

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_LOOPNESTCODE_H
