// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which results of a kernel use its loops: results of one shape, and results with one element per row of it.

#ifndef ADJOINT_CODEGEN_KERNEL_ROWSHAPE_H
#define ADJOINT_CODEGEN_KERNEL_ROWSHAPE_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

namespace mlir::ad {

/// Whether a tensor of this shape has one element for each row of the space, whose last axis is missing or 1.
inline bool isRowShape(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> space) {
  if (space.empty())
    return false;
  return shape == space.drop_back() ||
         (shape.size() == space.size() && shape.back() == 1 && shape.drop_back() == space.drop_back());
}

} // namespace mlir::ad

#endif // ADJOINT_CODEGEN_KERNEL_ROWSHAPE_H
