// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of permissions.

#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"

using namespace mlir;
using namespace mlir::ad;

// Fusions and kernels have the attribute without the interface: they sum nothing themselves. A linalg.generic
// has it under a name of the dialect.
Permissions ad::permissionsOf(Operation *op) {
  if (auto numerics = dyn_cast<NumericsOpInterface>(op))
    return numerics.getPermissions();
  auto allow = op->getAttrOfType<PermissionsAttr>("allow");
  if (!allow)
    allow = op->getAttrOfType<PermissionsAttr>(kLinalgAllowAttr);
  return allow ? allow.getValue() : Permissions::none;
}

Permissions ad::lackingPermissions(Permissions given, Permissions needed) { return needed & ~given; }

bool ad::allows(Permissions given, Permissions needed) { return bitEnumContainsAll(given, needed); }

bool ad::allows(Operation *op, Permissions needed) { return allows(permissionsOf(op), needed); }
