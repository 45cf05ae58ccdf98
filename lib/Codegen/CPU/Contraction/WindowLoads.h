// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements of a convolution's input. The address of an element is that of the place of the window, which does
// not change in the loops of the sum, and the distance of the element from there, which all rows of a tile
// share: the loops of the sum compute one distance for all rows. Where the input is padded, a row of the
// padding is one of zeros.

#ifndef ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_WINDOWLOADS_H
#define ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_WINDOWLOADS_H

#include "../../Kernel/Values/AccessMaps.h"
#include "../../Kernel/Values/MemoryAccess.h"
#include "PaddedInputs.h"

namespace mlir::ad::cpu {

class WindowLoads : public CPUComponent {
public:
  WindowLoads(CPUContext &context, MemoryAccess &memoryAccess, AccessMaps &maps, PaddedInputs &paddedInputs)
      : CPUComponent(context), memoryAccess(memoryAccess), maps(maps), paddedInputs(paddedInputs) {}

  /// Null for other operands than inputs of convolutions that are arguments, or padded ones.
  Value load(OpOperand *input, ArrayRef<Index> loops);

private:
  Value loadPadded(const PaddedInput &input, ArrayRef<Index> place, ArrayRef<Index> step);

  MemoryAccess &memoryAccess;
  AccessMaps &maps;
  PaddedInputs &paddedInputs;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_CONTRACTION_WINDOWLOADS_H
