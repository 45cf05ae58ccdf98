// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which names are those of our dialects.

#ifndef ADJOINT_LIB_CONVERSION_ADTOPLAIN_OWNNAMES_H
#define ADJOINT_LIB_CONVERSION_ADTOPLAIN_OWNNAMES_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"

namespace mlir::ad::plain {
inline bool isOurs(StringRef nameSpace) {
  return nameSpace == ADDialect::getDialectNamespace() ||
         nameSpace == check::CheckDialect::getDialectNamespace();
}

inline bool hasOurName(NamedAttribute attribute) {
  return isOurs(attribute.getName().getValue().split('.').first);
}
} // namespace mlir::ad::plain

#endif // ADJOINT_LIB_CONVERSION_ADTOPLAIN_OWNNAMES_H
