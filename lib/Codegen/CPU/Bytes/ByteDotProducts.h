// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Steps of byte products by instructions that multiply and add four elements along K, and the sums of rows
// that they need.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEDOTPRODUCTS_H
#define ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEDOTPRODUCTS_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/LaneValues.h"
#include "../CPUComponent.h"
#include "../Contraction/TransposedOperands.h"
#include "../Packing/PackedPanels.h"
#include "ByteGroups.h"
#include "ByteProducts.h"
#include "ByteRowCopies.h"

namespace mlir::ad::cpu {

class ByteDotProducts : public CPUComponent {
public:
  ByteDotProducts(CPUContext &context, LaneValues &laneValues, AccessMaps &maps,
                  TransposedOperands &transposedOperands, PackedPanels &panels, ByteProducts &byteProducts,
                  ByteGroups &byteGroups, ByteRowCopies &byteRowCopies)
      : CPUComponent(context), laneValues(laneValues), maps(maps), transposedOperands(transposedOperands),
        panels(panels), byteProducts(byteProducts), byteGroups(byteGroups), byteRowCopies(byteRowCopies) {}

  FailureOr<SmallVector<Value>> addByteProducts(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum);
  /// Computes 128 times the sum of each row for which `known` has no value yet, and stores it there under
  /// `rowSumKey`. Accumulators start from its negative, since the instruction reads columns plus 128.
  void sumRows(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops);
  Key rowSumKey(linalg::GenericOp generic, ArrayRef<Index> loops);
  /// Before the loop over the columns, all of which use the sums of rows.
  void hoistRowSums(const CPUNest &nest, ArrayRef<Position> positions);

private:
  using KeyedRows = SmallVector<std::pair<Key, Position>>;
  Value callByteProduct(Value sum, Value unsignedBytes, Value signedBytes);
  Value byteGroup(linalg::GenericOp generic, OpOperand *operand, ArrayRef<Index> loops);
  KeyedRows rowsToSum(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, bool areCopied);
  SmallVector<Value> sumBytes(const Buffer &buffer, KeyedRows &rows);

  LaneValues &laneValues;
  AccessMaps &maps;
  TransposedOperands &transposedOperands;
  PackedPanels &panels;
  ByteProducts &byteProducts;
  ByteGroups &byteGroups;
  ByteRowCopies &byteRowCopies;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEDOTPRODUCTS_H
