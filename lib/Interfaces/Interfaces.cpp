// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Definitions of the project's operation interfaces.

#include "adjoint/Interfaces/DerivativeTypeInterface.h"
#include "adjoint/Interfaces/DifferentiableOpInterface.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Interfaces/LinalgLoweringOpInterface.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "adjoint/Interfaces/PartialReadOpInterface.h"
#include "adjoint/Interfaces/PrecisionOpInterface.h"
#include "adjoint/Interfaces/ReductionOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

#include "adjoint/Interfaces/ADEnums.cpp.inc"
#include "adjoint/Interfaces/DerivativeTypeInterface.cpp.inc"
#include "adjoint/Interfaces/DifferentiableOpInterface.cpp.inc"
#include "adjoint/Interfaces/ElementwiseOpInterface.cpp.inc"
#include "adjoint/Interfaces/FusableOpInterface.cpp.inc"
#include "adjoint/Interfaces/LinalgLoweringOpInterface.cpp.inc"
#include "adjoint/Interfaces/LoopNestOpInterface.cpp.inc"
#include "adjoint/Interfaces/NamedKernelOpInterface.cpp.inc"
#include "adjoint/Interfaces/OrderedWriteOpInterface.cpp.inc"
#include "adjoint/Interfaces/PartialReadOpInterface.cpp.inc"
#include "adjoint/Interfaces/PrecisionOpInterface.cpp.inc"
#include "adjoint/Interfaces/ReductionOpInterface.cpp.inc"

using namespace mlir;

bool ad::carriesDerivative(Type type) {
  if (auto foreign = dyn_cast<DerivativeTypeInterface>(type))
    return foreign.carriesDerivative();
  if (auto shaped = dyn_cast<ShapedType>(type))
    return carriesDerivative(shaped.getElementType());
  if (auto complex = dyn_cast<ComplexType>(type))
    return carriesDerivative(complex.getElementType());
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getTypes(), carriesDerivative);
  return !isa<IntegerType, IndexType, NoneType>(type);
}

FailureOr<SmallVector<Value>> ad::decomposeNamedKernel(NamedKernelOpInterface op, OpBuilder &builder) {
  FailureOr<SmallVector<Value>> values = op.decompose(builder);
  if (failed(values))
    return failure();
  if (TypeRange(ValueRange(*values)) != TypeRange(op->getResultTypes()))
    return op->emitOpError("expected a decomposition with a value of the same type for each result"),
           failure();
  return values;
}
