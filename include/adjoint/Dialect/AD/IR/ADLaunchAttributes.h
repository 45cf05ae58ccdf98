// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The launch configuration of a GPU kernel and its tensor maps.

#ifndef ADJOINT_DIALECT_AD_IR_ADLAUNCHATTRIBUTES_H
#define ADJOINT_DIALECT_AD_IR_ADLAUNCHATTRIBUTES_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"

#include "adjoint/Dialect/AD/IR/ADLaunchEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h.inc"

namespace mlir::ad {
/// Attribute (#ad.launch_config) of the function that declares a GPU kernel.
constexpr StringLiteral kLaunchConfigAttr = "ad.launch_config";
/// Attribute (array of #ad.tensor_map) of a GPU kernel: its last arguments are tensor maps.
constexpr StringLiteral kTensorMapsAttr = "ad.tensor_maps";

/// Checks one of these attributes on an operation.
LogicalResult verifyLaunchAttribute(Operation *op, NamedAttribute attribute);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_ADLAUNCHATTRIBUTES_H
