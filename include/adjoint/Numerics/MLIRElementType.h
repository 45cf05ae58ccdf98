// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Element types as MLIR types.
#ifndef ADJOINT_NUMERICS_MLIRELEMENTTYPE_H
#define ADJOINT_NUMERICS_MLIRELEMENTTYPE_H

#include "adjoint/Numerics/ElementType.h"
#include "mlir/IR/Types.h"

namespace mlir::ad::numerics {

/// The element type of a scalar, vector, tensor or memref type, or nullopt for other types.
std::optional<ElementType> elementTypeOf(Type type);

Type toMLIRType(MLIRContext *context, ElementType type);

/// The bits of an element of the type as the contract has them: sign and payload of a NaN are not in it, so
/// that one pattern stands for all, the positive quiet NaN without a payload.
uint64_t contractBits(Type element, uint64_t bits);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MLIRELEMENTTYPE_H
