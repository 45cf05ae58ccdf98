// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks that the entry of a program has an effect that is visible outside.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-verify-entry"

namespace mlir::ad {
#define GEN_PASS_DEF_VERIFYENTRYPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// Whether the operation is visible outside: the host receives, or a check fails. The check dialect is known
// by name, since the passes of `ad` do not depend on it.
static bool isSeen(Operation *op) {
  return isa<ReceiveOp>(op) || op->getName().getDialectNamespace() == "check";
}

// Whether the function, or one that it names in any way, has an operation that is seen.
static bool reachesSeen(ModuleOp module, FunctionOpInterface entry) {
  SymbolTable symbols(module);
  llvm::SmallSetVector<Operation *, 8> functions;
  functions.insert(entry);
  for (size_t i = 0; i < functions.size(); ++i) {
    Operation *function = functions[i];
    if (function
            ->walk([](Operation *op) { return isSeen(op) ? WalkResult::interrupt() : WalkResult::advance(); })
            .wasInterrupted())
      return true;
    std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function);
    if (!uses)
      continue;
    for (const SymbolTable::SymbolUse &use : *uses)
      if (Operation *callee = symbols.lookup(use.getSymbolRef().getRootReference()))
        functions.insert(callee);
  }
  return false;
}

// Iterations are counted in 64 bits. A loop that does not advance never ends, and simplification would drop
// it. Steps that are known at run time only are checked there.
static LogicalResult verifyLoops(ModuleOp module) {
  WalkResult result = module.walk([](scf::ForOp loop) -> WalkResult {
    Type type = loop.getInductionVar().getType();
    if (type.isInteger() && type.getIntOrFloatBitWidth() > 64)
      return loop.emitOpError("requires an index of at most 64 bits, but got ") << type;
    LoopRange range{APInt(), APInt(), APInt(), loop.getUnsignedCmp()};
    if (matchPattern(loop.getStep(), m_ConstantInt(&range.step)) && !range.hasPositiveStep())
      return loop.emitOpError("requires a positive step, but got ") << range.step.getSExtValue();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// The host passes and receives only ranked tensors.
static LogicalResult verifyTypes(FunctionOpInterface entry) {
  auto passes = [](Type type) {
    return isa<RankedTensorType>(type) && !getElementTypeOrSelf(type).isIndex();
  };
  auto refuse = [&](Location loc, Type type) {
    return emitError(loc)
           << "entry '@" << entry.getName() << "' has an argument or result of type " << type
           << "; expected ranked tensors of numbers, a scalar as one of rank 0, an index as i64";
  };
  for (BlockArgument argument : entry.getArguments())
    if (!passes(argument.getType()))
      return refuse(argument.getLoc(), argument.getType());
  for (Type type : entry.getResultTypes())
    if (!passes(type))
      return refuse(entry.getLoc(), type);
  return success();
}

LogicalResult ad::verifyEntry(ModuleOp module, StringRef name) {
  Operation *symbol = SymbolTable::lookupSymbolIn(module, name);
  auto entry = dyn_cast_if_present<FunctionOpInterface>(symbol);
  if (!entry) {
    InFlightDiagnostic diagnostic = emitError(module.getLoc(), "expected a function '@")
                                    << name << "' as the entry";
    if (symbol)
      diagnostic << ", but '@" << name << "' is " << symbol->getName();
    for (auto other : module.getOps<FunctionOpInterface>())
      if (!other.isExternal() && other.isPublic())
        diagnostic.attachNote(other.getLoc()) << "there is a function '@" << other.getName() << "'";
    return diagnostic;
  }
  if (entry.isExternal())
    return entry.emitError("entry '@") << name << "' has no body";
  LDBG() << "the entry is @" << name << " with " << entry.getNumResults() << " results";
  if (failed(verifyTypes(entry)))
    return failure();
  if (entry.getNumResults() == 0 && !reachesSeen(module, entry))
    return entry.emitError("entry '@")
           << name << "' has neither results nor an ad.receive, so that nothing of it can be seen";
  return verifyLoops(module);
}

namespace {
struct VerifyEntryPass : ad::impl::VerifyEntryPassBase<VerifyEntryPass> {
  using VerifyEntryPassBase::VerifyEntryPassBase;

  void runOnOperation() override {
    if (failed(verifyEntry(getOperation(), entry)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
