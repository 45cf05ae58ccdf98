// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The `ad` dialect class, its enumerations, attributes and types. Light enough for every file that only reads
// attributes.

#ifndef ADJOINT_DIALECT_AD_IR_ADDIALECT_H
#define ADJOINT_DIALECT_AD_IR_ADDIALECT_H

#include "adjoint/Dialect/AD/IR/OrderLevel.h"
#include "adjoint/Interfaces/Enums.h"
#include "adjoint/Numerics/Elementary.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"

#include "adjoint/Dialect/AD/IR/ADDialect.h.inc"

#include "adjoint/Dialect/AD/IR/ADBufferEnums.h.inc"

namespace mlir {
/// An elementary function as a parameter of an attribute: its name as a keyword.
template <> struct FieldParser<ad::numerics::Elementary> {
  static FailureOr<ad::numerics::Elementary> parse(AsmParser &parser);
};
namespace ad::numerics {
AsmPrinter &operator<<(AsmPrinter &printer, Elementary function);
} // namespace ad::numerics
} // namespace mlir

#define GET_ATTRDEF_CLASSES
#include "adjoint/Dialect/AD/IR/ADAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "adjoint/Dialect/AD/IR/ADTypes.h.inc"

namespace mlir::ad {
/// The permissions that a mode includes (docs/numerics.md).
Permissions permissionsOfMode(NumericsMode mode);

/// The contract in force at `op`: that of the nearest enclosing function or module with `ad.numerics`; null
/// when none has one (the default is then `strict`).
NumericsAttr numericsInForceAt(Operation *op);

/// The type in which values of `element` are accumulated: f32 for f32 and narrower floats, f64 for f64, i32
/// for i8, else the type itself.
Type accumulatorType(Type element);

/// The type in which elementwise operations on `element` compute: f32 for 16- and 8-bit floats, else the type
/// itself.
Type computeType(Type element);
} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_IR_ADDIALECT_H
