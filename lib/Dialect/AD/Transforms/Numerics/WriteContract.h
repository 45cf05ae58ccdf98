// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What ad-set-numerics writes, for the program and for what later passes make.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_NUMERICS_WRITECONTRACT_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_NUMERICS_WRITECONTRACT_H

#include "adjoint/Dialect/AD/IR/ADDialect.h"
#include "adjoint/Dialect/AD/IR/NumericsOpInterface.h"
#include "mlir/IR/Builders.h"

namespace mlir::ad {
/// Writes what the operations lack: the permissions of the contract in force, canonical orders, and implicit
/// broadcasts as operations. In a module without a contract permissions stay open.
void writeContract(ArrayRef<Operation *> ops);
/// The same for all operations below `root`.
void writeContract(Operation *root);

/// The broadcasts alone.
void writeBroadcasts(Operation *root);

/// Gives operations these permissions as they are built, unless they have some; none are given without
/// permissions.
struct PermissionWriter : OpBuilder::Listener {
  explicit PermissionWriter(std::optional<Permissions> permissions) : permissions(permissions) {}
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    auto made = dyn_cast<NumericsOpInterface>(op);
    if (permissions && made && !made.hasPermissions())
      made.setPermissions(*permissions);
  }
  std::optional<Permissions> permissions;
};

/// Whether a contract is in force at `root` and each operation below has permissions: a pass then writes the
/// contract of the operations that it makes.
bool hasWrittenContract(Operation *root);
} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_NUMERICS_WRITECONTRACT_H
