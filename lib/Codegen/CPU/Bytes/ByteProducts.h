// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which contractions of i8 use instructions that multiply and add four elements along K.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEPRODUCTS_H

#include "../CPUComponent.h"
#include "../StackMemory.h"

namespace mlir::ad::cpu {

/// A contraction of i8. The operand of the rows is the same in all lanes; that of the columns is not.
struct ByteProduct {
  OpOperand *rows = nullptr, *columns = nullptr;
  unsigned loopK = 0;
  int64_t sizeK = 0;
  bool copiesRows = false; // they are not contiguous along K
  bool copiesDynamicK() const { return copiesRows && isDynamicK(); }
  bool isDynamicK() const { return ShapedType::isDynamic(sizeK); }
};

class ByteProducts : public CPUComponent {
public:
  ByteProducts(CPUContext &context, StackMemory &stackMemory)
      : CPUComponent(context), stackMemory(stackMemory) {}

  void chooseByteProducts(const CPUNest &nest, unsigned columnLoop);
  /// The memory of an operand in place.
  Buffer bufferOf(OpOperand *operand);
  /// The size of K at run time.
  Value sizeOfK(const ByteProduct &product);

  // Rows that are copied, since they are not contiguous along K
  /// Whether each dynamic K is short enough for copies; null if there is none.
  Value fitsCopies();
  /// Rows that are copied at once: whole tiles, 0 if no tile fits.
  int64_t copiedRowsOf(const CPUNest &nest, int64_t sizeK);
  int64_t scratchBytes(int64_t rows, int64_t sizeK);
  int64_t scratchForRows(const CPUNest &nest);

  DenseMap<Operation *, ByteProduct> chosen; // of the nest that is being emitted
  DenseMap<OpOperand *, Value> rowMemory;    // of copied rows, which all code of the nest uses

private:
  std::optional<ByteProduct> byteProductOf(linalg::GenericOp generic, const CPUNest &nest,
                                           unsigned columnLoop);

  int64_t rowBytes = 0; // of the rows that are copied at once for one operand

  StackMemory &stackMemory;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEPRODUCTS_H
