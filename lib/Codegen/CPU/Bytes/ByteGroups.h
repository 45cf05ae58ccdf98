// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups of four i8 that are contiguous along K.

#ifndef ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEGROUPS_H
#define ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEGROUPS_H

#include "../../Kernel/Values/LaneValues.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "../CPUComponent.h"

namespace mlir::ad::cpu {

class ByteGroups : public CPUComponent {
public:
  ByteGroups(CPUContext &context, LaneValues &laneValues, MemoryAccess &memoryAccess)
      : CPUComponent(context), laneValues(laneValues), memoryAccess(memoryAccess) {}

  Value groupAt(const Buffer &buffer, Position position, int64_t axisK);
  Value loadGroups(const Buffer &buffer, Position position);
  /// 128 more in each byte: i8 becomes unsigned.
  Value biasBytes(Value groups);
  Value zerosLike(Value groups);
  /// Code for the group that K fills in part, which replaces the values: none if it fills all groups.
  LogicalResult overPartialGroup(Value sizeK, SmallVector<Value> &values, function_ref<LogicalResult()> body);

  bool inPartialGroup =
      false; // whether the code being emitted is for the group that a dynamic K fills in part

private:
  Value joinBytes(ArrayRef<Value> bytes);
  Value groupWithinK(const Buffer &buffer, Position position, int64_t axisK);

  LaneValues &laneValues;
  MemoryAccess &memoryAccess;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_BYTES_BYTEGROUPS_H
