// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Lists with a number for each axis along which a window moves, or none.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_OPS_WINDOWLISTS_H
#define ADJOINT_LIB_DIALECT_AD_IR_OPS_WINDOWLISTS_H

#include "../ShapeUtils.h"

namespace mlir::ad {
inline ArrayRef<int64_t> numbersOf(DenseI64ArrayAttr list) {
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

/// Fails after a diagnostic unless the list is empty or has `rank` numbers from `least` to 2^31 - 1. `axis`
/// is the word for what each number belongs to.
LogicalResult verifyNumbers(StringRef name, ArrayRef<int64_t> list, int64_t rank, StringRef axis,
                            int64_t least, EmitError error);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_OPS_WINDOWLISTS_H
