// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations in a reproducible module or function have no permissions, and call nothing that has some:
// each would change bits between targets.

#include "VerifyReproducible.h"

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

// The nearest module or function around `op`, or `op` itself, with `ad.numerics`; null when none has it.
static Operation *findContract(Operation *op) {
  while (op && !(isa<FunctionOpInterface, ModuleOp>(op) && op->hasAttr(ADDialect::kNumericsAttr)))
    op = op->getParentOp();
  return op;
}

// The module or function that promises the same bits for `op`; null when its contract is another.
static Operation *findPromise(Operation *op) {
  Operation *owner = findContract(op);
  auto numerics = owner ? owner->getAttrOfType<NumericsAttr>(ADDialect::kNumericsAttr) : nullptr;
  return numerics && numerics.getMode() == NumericsMode::reproducible ? owner : nullptr;
}

static std::string describe(Operation *owner) {
  auto function = dyn_cast<FunctionOpInterface>(owner);
  return function ? "the reproducible function @" + function.getName().str() : "a reproducible module";
}

// Permissions on an operation, a fusion or a kernel.
static LogicalResult checkAllow(Operation *op, Operation *promise) {
  if (permissionsOf(op) == Permissions::none)
    return success();
  return op->emitOpError("expected no permissions in ")
         << describe(promise) << ", which promises the same bits everywhere, but got allow = "
         << PermissionsAttr::get(op->getContext(), permissionsOf(op))
         << "; remove it, or make the contract strict or fast";
}

// A refinement of a function, or of a module in a module.
static LogicalResult checkRefinement(Operation *op, StringRef name, Operation *promise) {
  auto numerics = op->getAttrOfType<NumericsAttr>(name);
  if (!numerics || numerics.permissions() == Permissions::none)
    return success();
  return op->emitOpError("expected no permissions ")
         << (promise == op ? "after reproducible" : "in " + describe(promise))
         << ", which promises the same bits everywhere, but got " << name << " = " << numerics
         << "; remove it, or make the contract of the " << (isa<ModuleOp>(promise) ? "module" : "function")
         << " strict or fast";
}

// Modes say nothing about a kernel: its permissions are its attribute.
static bool isReproducible(Operation *callee) {
  if (!isa<KernelOp>(callee))
    return findPromise(callee);
  return permissionsOf(callee) == Permissions::none;
}

// A call has the bits of its callee, whose contract must be reproducible too.
static LogicalResult checkCallees(Operation *op, Operation *promise, SymbolTableCollection &symbols) {
  for (NamedAttribute attribute : op->getAttrs()) {
    auto symbol = dyn_cast<SymbolRefAttr>(attribute.getValue());
    Operation *callee = symbol ? symbols.lookupNearestSymbolFrom(op, symbol) : nullptr;
    // A callee inside of the reproducible function or module is checked by itself.
    if (!isa_and_nonnull<FunctionOpInterface>(callee) || promise->isAncestor(callee) ||
        isReproducible(callee))
      continue;
    InFlightDiagnostic error =
        op->emitOpError("expected calls of reproducible functions only in ")
        << describe(promise) << ", but got " << symbol << "; "
        << (isa<KernelOp>(callee) ? "remove 'allow' there"
                                  : "give it ad.numerics = #ad.numerics<reproducible>");
    error.attachNote(callee->getLoc()) << symbol << " has permissions";
    return error;
  }
  return success();
}

LogicalResult ad::verifyReproducible(Operation *root) {
  SymbolTableCollection symbols;
  bool failed = false;
  root->walk([&](Operation *op) {
    if (Operation *promise = findPromise(op->getParentOp() ? op->getParentOp() : op))
      failed |= checkRefinement(op, ADDialect::kNumericsAttr, promise).failed();
    Operation *promise = findPromise(op);
    if (!promise)
      return;
    failed |= checkRefinement(op, ADDialect::kAdjointNumericsAttr, promise).failed();
    failed |= checkAllow(op, promise).failed() || checkCallees(op, promise, symbols).failed();
  });
  return failure(failed);
}
