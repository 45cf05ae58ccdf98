// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Custom directives in the assembly formats of ADBuffers.td.

#ifndef ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_BUFFERASSEMBLY_H
#define ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_BUFFERASSEMBLY_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"

namespace mlir::ad {
/// `arena`, `pool`, `argument` or `result`
ParseResult parseStorage(AsmParser &parser, StorageKind &storage);
void printStorage(AsmPrinter &printer, StorageKind storage);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_IR_ATTRIBUTES_BUFFERASSEMBLY_H
