// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of ReductionOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_REDUCTIONOPINTERFACE_H
#define ADJOINT_INTERFACES_REDUCTIONOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::ad {
/// How a reduction combines two values.
enum class Combiner { sum, product, maximum, minimum };
} // namespace mlir::ad

#include "adjoint/Interfaces/ReductionOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_REDUCTIONOPINTERFACE_H
