// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Custom directives in the assembly formats of ADLaunchAttributes.td.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_LAUNCHASSEMBLY_H
#define ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_LAUNCHASSEMBLY_H

#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"

namespace mlir::ad {
/// `thread`, `warp` or `block`
ParseResult parseLevel(AsmParser &parser, MappingLevel &level);
void printLevel(AsmPrinter &printer, MappingLevel level);

/// `128x64`
ParseResult parseExtents(AsmParser &parser, SmallVector<int64_t> &extents);
void printExtents(AsmPrinter &printer, ArrayRef<int64_t> extents);

/// `[<operand = 0, box = 8x8>, …]`
ParseResult parseTensorMaps(AsmParser &parser, SmallVector<TensorMapAttr> &maps);
void printTensorMaps(AsmPrinter &printer, ArrayRef<TensorMapAttr> maps);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_LAUNCHASSEMBLY_H
