// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds machine code in programs.
#include "NativeCode.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/PassAttributes.h"
#include "adjoint/Support/Error.h"

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

/// Their operations, or the code that they hold, reach the code generator without a check of ours.
constexpr StringRef nativeDialects[] = {"gpu", "llvm", "memref", "nvgpu", "nvvm", "vector"};

/// Values of these types are addresses.
bool isAddress(Type type) {
  return isa<BaseMemRefType>(type) || llvm::is_contained(nativeDialects, type.getDialect().getNamespace());
}

/// After code generation a launch names a function, whose arguments are addresses.
bool launchesCode(Operation *op) {
  auto launch = dyn_cast<ad::LaunchOp>(op);
  return launch && !SymbolTable::lookupNearestSymbolFrom<ad::KernelOp>(launch, launch.getKernelAttr());
}

bool isNative(Operation *op) {
  return launchesCode(op) ||
         llvm::is_contained(nativeDialects, op->getName().getDialectNamespace()) ||
         llvm::any_of(op->getResultTypes(), isAddress) || llvm::any_of(op->getOperandTypes(), isAddress);
}

} // namespace

llvm::Error mlir::ad::runner::refuseNativeCode(ModuleOp module, const Options &options) {
  bool isReplay = !options.replayFolder.empty();
  if (options.allowNative && !isReplay)
    return llvm::Error::success();
  ad::dropPassAttributes(module);
  WalkResult found = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isNative(op))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName() << "' is native code, which may do whatever this process may do; "
                    << (isReplay ? "no trace may have it: run the program itself, if you trust it"
                                 : "if you trust the program, add --allow-native");
    return WalkResult::interrupt();
  });
  return found.wasInterrupted() ? exitError(ExitProgramError, "") : llvm::Error::success(); // explained above
}
