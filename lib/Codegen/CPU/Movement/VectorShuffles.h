// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions of blocks in registers, as shuffles of vectors.

#ifndef ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_VECTORSHUFFLES_H
#define ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_VECTORSHUFFLES_H

#include "mlir/IR/Builders.h"

namespace mlir::ad::cpu {

/// Transposes a square block: as many vectors as they have lanes; vector i becomes lane i of all.
void transposeInRegisters(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &rows);

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_MOVEMENT_VECTORSHUFFLES_H
