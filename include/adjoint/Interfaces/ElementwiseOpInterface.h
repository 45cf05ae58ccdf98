// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Declaration of ElementwiseOpInterface; see the .td file for its contract.

#ifndef ADJOINT_INTERFACES_ELEMENTWISEOPINTERFACE_H
#define ADJOINT_INTERFACES_ELEMENTWISEOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <functional>

namespace mlir::ad {
/// The bits of one element of each operand to the bits of the result's element.
using ScalarEvaluator = std::function<uint64_t(ArrayRef<uint64_t>)>;
} // namespace mlir::ad

#include "adjoint/Interfaces/ElementwiseOpInterface.h.inc"

#endif // ADJOINT_INTERFACES_ELEMENTWISEOPINTERFACE_H
