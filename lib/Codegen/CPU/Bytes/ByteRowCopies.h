// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of rows of i8 whose elements are not contiguous along K.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEROWCOPIES_H
#define ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEROWCOPIES_H

#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"
#include "../StackMemory.h"
#include "ByteGroups.h"
#include "ByteProducts.h"

namespace mlir::ad::cpu {

class ByteRowCopies : public CPUComponent {
public:
  ByteRowCopies(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess,
                StackMemory &stackMemory, ByteProducts &byteProducts, ByteGroups &byteGroups)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess), stackMemory(stackMemory),
        byteProducts(byteProducts), byteGroups(byteGroups) {}

  /// The rows from `lower` to `upper` in chunks whose copies fit.
  LogicalResult overRowChunks(const CPUNest &nest, const Position &outer, Value lower, Value upper,
                              function_ref<LogicalResult(Value, Value)> body);

  DenseMap<OpOperand *, Buffer> copied; // rows of i8, contiguous along K: [row, k]

private:
  /// The copy of the rows of one operand.
  struct RowCopy {
    Buffer source;
    const Buffer &target;
    Position position; // in the source; outer axes are set
    int64_t rowAxis, axisK;
  };
  SmallVector<ByteProduct> productsWithCopies(const CPUNest &nest);
  RowCopy copyOf(const ByteProduct &product, const Buffer &target, const Position &outer);
  LogicalResult copyBlock(RowCopy &copy, Value row, Value number, int64_t count, Value active);
  void copyRows(const ByteProduct &product, const Buffer &target, const Position &outer, Value lower,
                Value upper);

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
  StackMemory &stackMemory;
  ByteProducts &byteProducts;
  ByteGroups &byteGroups;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEROWCOPIES_H
