// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `convert-host-to-llvm`: every public function becomes an entry of the runtime's C ABI.

#include "HostEmitter.h"
#include "Launches/KernelFunctions.h"
#include "VerifyPlannedProgram.h"
#include "adjoint/Codegen/Kernel/TotalScalars.h"
#include "adjoint/Conversion/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-host-to-llvm"

namespace mlir::ad {
#define GEN_PASS_DEF_CONVERTHOSTTOLLVMPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

// What a user may call; entries are there already when the pass runs again.
static bool isHostProgram(func::FuncOp function) {
  return function.isPublic() && !function.isExternal() &&
         function.getFunctionType() != entryType(function.getContext());
}

static LogicalResult verifySignature(func::FuncOp function) {
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return function.emitOpError(
                 "cannot be an entry: arguments and results must be ranked tensors, but there is ")
             << type;
  return success();
}

namespace {
class ConvertHostToLLVMPass : public ad::impl::ConvertHostToLLVMPassBase<ConvertHostToLLVMPass> {
public:
  using ConvertHostToLLVMPassBase::ConvertHostToLLVMPassBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    HostModule shared(module);
    SmallVector<func::FuncOp> programs;
    for (func::FuncOp function : module.getOps<func::FuncOp>())
      if (isHostProgram(function))
        programs.push_back(function);
    HostOptions options{profile, device};
    for (func::FuncOp program : programs) {
      if (failed(verifySignature(program)) || failed(verifyPlannedProgram(program, options)))
        return signalPassFailure();
      LDBG() << "@" << program.getSymName() << " becomes an entry";
      makeScalarsTotal(program);
      if (failed(HostEmitter(program, shared, options).emit()))
        return signalPassFailure();
      program.erase();
    }
    shared.eraseInlined();
    eraseUncalled(module);
    if (profile || device) {
      Builder builder(module.getContext());
      SmallVector<StringRef> names(shared.kernelNames().begin(), shared.kernelNames().end());
      module->setAttr("adrt.kernel_names", builder.getStrArrayAttr(names));
    }
  }

  static void makeScalarsTotal(func::FuncOp program) {
    SmallVector<Operation *> ops;
    program.walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        makeTotal(op);
  }

  // Private functions were inlined or are kernels. Functions on tensors that are left have no caller, and
  // neither have declarations of a device's kernels.
  static void eraseUncalled(ModuleOp module) {
    for (func::FuncOp function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (launchConfigOf(function))
        function.erase();
      else if (function.isPrivate() &&
               llvm::any_of(llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()),
                            [](Type type) { return isa<TensorType>(type); }))
        function.erase();
  }
};
} // namespace
