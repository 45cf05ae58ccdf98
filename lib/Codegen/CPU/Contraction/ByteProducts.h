// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of i8 by instructions that multiply and add four elements along K.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_BYTEPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_BYTEPRODUCTS_H

#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class ByteProducts : public CPUComponent {
public:
  using CPUComponent::CPUComponent;

  /// A contraction of i8. The operand of the rows is the same in all lanes; that of the columns is not.
  struct ByteProduct {
    OpOperand *rows = nullptr, *columns = nullptr;
    unsigned loopK = 0;
    int64_t sizeK = 0;
    bool copiesRows = false; // they are not contiguous along K
    bool copiesDynamicK() const { return copiesRows && isDynamicK(); }
    bool isDynamicK() const { return ShapedType::isDynamic(sizeK); }
  };
  void chooseByteProducts(const Nest &nest, unsigned columnLoop);
  FailureOr<SmallVector<Value>> byteChain(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops,
                                          ArrayRef<Value> start);
  FailureOr<SmallVector<Value>> addByteProducts(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum);
  void hoistRowSums(const Nest &nest, ArrayRef<Position> positions);
  Value groupAt(const Buffer &buffer, Position position, int64_t axisK);
  void fillBytePanels(const PackedOperand &packed, const Buffer &buffer, const Position &outer, Value start,
                      Value end);
  int64_t scratchForRows(const Nest &nest);
  Value fitsCopies();
  LogicalResult overRowChunks(const Nest &nest, const Position &outer, Value lower, Value upper,
                              function_ref<LogicalResult(Value, Value)> body);
  DenseMap<Operation *, ByteProduct> byteProducts; // of the nest that is being emitted
  DenseMap<OpOperand *, Buffer> copiedRows;        // rows of i8, contiguous along K: [row, k]

private:
  std::optional<ByteProduct> byteProductOf(linalg::GenericOp generic, const Nest &nest, unsigned columnLoop);
  Value callByteProduct(Value sum, Value unsignedBytes, Value signedBytes);
  Value byteGroup(linalg::GenericOp generic, OpOperand *operand, ArrayRef<Index> loops);
  Key rowSumKey(linalg::GenericOp generic, ArrayRef<Index> loops);
  using KeyedRows = SmallVector<std::pair<Key, Position>>;
  KeyedRows rowsToSum(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, bool areCopied);
  SmallVector<Value> sumBytes(const Buffer &buffer, KeyedRows &rows);
  void sumRows(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  Value joinBytes(ArrayRef<Value> bytes);
  Value biasBytes(Value groups);
  Value loadGroups(const Buffer &buffer, Position position);
  Value groupWithinK(const Buffer &buffer, Position position, int64_t axisK);
  LogicalResult overPartialGroup(Value sizeK, SmallVector<Value> &values, function_ref<LogicalResult()> body);
  Buffer bufferOf(OpOperand *operand);
  Value sizeOfK(const ByteProduct &product);
  void packBytesTransposed(const PackedOperand &packed, const Buffer &buffer, const Position &outer,
                           Value column, Value end);
  void storeGroup(const PackedOperand &packed, Value number, Value column, Value group);
  SmallVector<ByteProduct> productsWithCopies(const Nest &nest);
  int64_t copiedRowsOf(const Nest &nest, int64_t sizeK);
  bool inPartialGroup =
      false;            // whether the code being emitted is for the group that a dynamic K fills in part
  int64_t rowBytes = 0; // of the rows that are copied at once for one operand
  DenseMap<OpOperand *, Value> rowMemory; // of copied rows, which all code of the nest uses
  /// The copy of the rows of one operand.
  struct RowCopy {
    Buffer source;
    const Buffer &target;
    Position position; // in the source; outer axes are set
    int64_t rowAxis, axisK;
  };
  RowCopy copyOf(const ByteProduct &product, const Buffer &target, const Position &outer);
  LogicalResult copyBlock(RowCopy &copy, Value row, Value number, int64_t count, Value active);
  void copyRows(const ByteProduct &product, const Buffer &target, const Position &outer, Value lower,
                Value upper);
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_BYTEPRODUCTS_H
