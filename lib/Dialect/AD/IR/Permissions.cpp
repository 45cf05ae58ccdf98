// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests of permissions.

#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/NumericsOpInterface.h"

using namespace mlir;
using namespace mlir::ad;

// Fusions and kernels have the attribute without the interface: they sum nothing themselves.
Permissions ad::permissionsOf(Operation *op) {
  if (auto numerics = dyn_cast<NumericsOpInterface>(op))
    return numerics.getPermissions();
  auto allow = op->getAttrOfType<PermissionsAttr>("allow");
  return allow ? allow.getValue() : Permissions::none;
}

Permissions ad::lackingPermissions(Permissions given, Permissions needed) { return needed & ~given; }

bool ad::allows(Permissions given, Permissions needed) { return bitEnumContainsAll(given, needed); }

bool ad::allows(Operation *op, Permissions needed) { return allows(permissionsOf(op), needed); }
