// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Mixed precision as an attribute.

#ifndef ADJOINT_DIALECT_AD_IR_ADPRECISIONATTRIBUTES_H
#define ADJOINT_DIALECT_AD_IR_ADPRECISIONATTRIBUTES_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Numerics/PrecisionPolicy.h"

#define GET_ATTRDEF_CLASSES
#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h.inc"

namespace mlir::ad {
/// Attribute (#ad.precision) of a module, function or operation: a policy, or the rule of the operation.
constexpr StringLiteral kPrecisionAttr = "ad.precision";
/// The name of the policy that casts nothing.
constexpr StringLiteral kNoPrecision = "none";

/// Attribute of an argument of a function: a tensor<Nx3xf32> of scales for its N contractions in 8 bits.
constexpr StringLiteral kScalesAttr = "ad.scales";

/// The attribute of a policy with all its parameters.
PrecisionAttr precisionAttrOf(MLIRContext *context, const numerics::PrecisionPolicy &policy);
/// That of a built-in policy or of the rule of an operation, by its name.
PrecisionAttr precisionAttrOf(MLIRContext *context, StringRef name);

/// The policy of the attribute; none for `none`. The attribute is not the rule of an operation.
std::optional<numerics::PrecisionPolicy> policyOf(PrecisionAttr attribute);

/// Checks that the attribute is on an operation that its form is for.
LogicalResult verifyPrecisionAttribute(Operation *op, NamedAttribute attribute);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_ADPRECISIONATTRIBUTES_H
