// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Positions through access maps: where an operation at some loops reads an operand, and the loops of a
// position of its result. Indices stay scalars plus multiples of the lane as far as they are affine.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_VALUES_ACCESSMAPS_H
#define ADJOINT_LIB_CODEGEN_KERNEL_VALUES_ACCESSMAPS_H

#include "LaneValues.h"

namespace mlir::ad::codegen {

class AccessMaps : public KernelComponent {
public:
  AccessMaps(KernelContext &context, LaneValues &laneValues)
      : KernelComponent(context), laneValues(laneValues) {}

  Position apply(AffineMap map, ArrayRef<Index> loops);
  SmallVector<Index> loopsFromOutput(linalg::GenericOp generic, AffineMap map, const Position &position);
  Position insideSlice(tensor::ExtractSliceOp slice, const Position &position);
  /// A computed index as a scalar plus a multiple of the lane, if it is made of loop indices by additions,
  /// subtractions and products with constants.
  std::optional<Index> affineIndex(Value value, ArrayRef<Index> loops);

private:
  Index applyExpr(AffineExpr expr, ArrayRef<Index> loops);

  LaneValues &laneValues;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_VALUES_ACCESSMAPS_H
