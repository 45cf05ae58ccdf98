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

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_MLIRELEMENTTYPE_H
