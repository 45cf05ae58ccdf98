// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// How a target stores elements: by every thread or one of them, each by itself or in vectors.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_ELEMENTSTORES_H
#define ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_ELEMENTSTORES_H

#include "../KernelTypes.h"

namespace mlir::ad::codegen {

class ElementStores {
public:
  virtual void store(const Buffer &buffer, const Position &position, Value value) = 0;
  virtual void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
    for (auto [position, value] : llvm::zip_equal(positions, values))
      store(destination, position, value);
  }

protected:
  ~ElementStores() = default;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_OUTPUTS_ELEMENTSTORES_H
