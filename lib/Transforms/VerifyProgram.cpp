// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-verify-program`: what no target runs is refused before any pass looks at it.

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Transforms/HostProgram.h"
#include "adjoint/Transforms/Passes.h"
#include "adjoint/Transforms/UnsupportedForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-verify-program"

namespace mlir::ad {
#define GEN_PASS_DEF_VERIFYPROGRAMPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static LogicalResult verifyTypes(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(verifyHostType(argument.getLoc(), argument.getType())))
          return failure();
  for (Type type : op->getResultTypes())
    if (failed(verifyHostType(op->getLoc(), type)))
      return failure();
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function || !function.isExternal())
    return success();
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (failed(verifyHostType(op->getLoc(), type)))
      return failure();
  return success();
}

// Names that the host program or the emulated GPU gives to functions and data. Functions and kernels of the
// program get other names.
static LogicalResult verifySymbol(Operation *op) {
  auto symbol = dyn_cast<SymbolOpInterface>(op);
  auto function = dyn_cast<func::FuncOp>(op);
  if (!symbol || !symbol.getNameAttr() || isa<KernelOp>(op) || (function && !function.isExternal()))
    return success();
  for (StringRef prefix : {"adrt_", "adsim_", "ad_string_", "ad_site_", "ad_data_"})
    if (symbol.getName().starts_with(prefix))
      return op->emitOpError(
                 "has a name of the runtime or of generated code; expected one that does not begin "
                 "with '")
             << prefix << "', but got '@" << symbol.getName() << "'";
  return success();
}

static LogicalResult verifyRegistered(Operation *op) {
  if (op->isRegistered())
    return success();
  return op->emitOpError(
      "is not registered; programs are written in ad, arith, check, func, linalg, math, scf and tensor, and "
      "docs/reference lists the operations of ad");
}

static LogicalResult verifyForm(Operation *op) {
  std::string problem = findUnsupportedForm(op);
  return problem.empty() ? success() : LogicalResult(op->emitOpError(problem));
}

// Built once where nothing uses it. No target verifies what it makes of the code, and bits of another type
// would be taken for elements.
static LogicalResult verifyScalarCode(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  if (!elementwise || isa<ADDialect>(op->getDialect()))
    return success();
  Block code;
  SmallVector<Value> scalars;
  for (Value operand : op->getOperands())
    scalars.push_back(code.addArgument(getElementTypeOrSelf(operand), op->getLoc()));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&code);
  Value element = elementwise.emitScalar(builder, op->getLoc(), scalars);
  Type expected = getElementTypeOrSelf(op->getResult(0));
  if (!element || element.getType() != expected) {
    auto error = op->emitOpError("expected scalar code that gives a value of type ")
                 << expected << ", but got ";
    return element ? error << "one of type " << element.getType() : error << "none";
  }
  return success(llvm::all_of(code, [](Operation &part) { return succeeded(verify(&part)); }));
}

// Operations of linalg in kernels have types of their own, and a verifier.
static WalkResult verifyOp(Operation *op) {
  return WalkResult(success(succeeded(verifyRegistered(op)) && succeeded(verifyForm(op)) &&
                            succeeded(verifyScalarCode(op)) &&
                            (isInKernel(op) || succeeded(verifyTypes(op)))));
}

namespace {
struct VerifyProgramPass : ad::impl::VerifyProgramPassBase<VerifyProgramPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    for (Operation &op : *getOperation().getBody()) {
      bool isProgram = isa<func::FuncOp, KernelOp>(op); // lowered code may be in the same module
      if (failed(verifySymbol(&op)) || failed(verifyRegistered(&op)) ||
          (isProgram && op.walk<WalkOrder::PreOrder>(verifyOp).wasInterrupted()))
        return signalPassFailure();
    }
    LDBG() << "knows all operations, types and symbols";
  }
};
} // namespace
