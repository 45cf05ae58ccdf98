// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds machine code in programs.
#include "NativeCode.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Support/Error.h"

using namespace mlir;
using namespace mlir::ad::runner;

namespace {

/// Their operations, or the code that they hold, reach the code generator without a check of ours.
constexpr StringRef nativeDialects[] = {"dlti", "gpu", "llvm", "memref", "nvgpu", "nvvm", "rocdl", "vector"};

bool isOfNativeDialect(StringRef name) { return llvm::is_contained(nativeDialects, name.split('.').first); }

/// Attributes such as `llvm.module_asm` are code, or change it.
bool hasNativeName(NamedAttribute attribute) {
  StringRef name = attribute.getName();
  return name == "passthrough" || (name.contains('.') && isOfNativeDialect(name));
}

/// Values of these types are addresses.
bool isNativeType(Type type) {
  return isa<BaseMemRefType, VectorType>(type) || isOfNativeDialect(type.getDialect().getNamespace());
}

/// Also inside of other attributes and types.
template <class AttributeOrType> bool holdsNative(AttributeOrType root) {
  WalkResult found = root.template walk<WalkOrder::PreOrder>(
      [](Attribute attribute) {
        auto dictionary = dyn_cast<DictionaryAttr>(attribute);
        bool isNative = isOfNativeDialect(attribute.getDialect().getNamespace()) ||
                        (dictionary && llvm::any_of(dictionary, hasNativeName));
        return isNative ? WalkResult::interrupt() : WalkResult::advance();
      },
      [](Type type) { return isNativeType(type) ? WalkResult::interrupt() : WalkResult::advance(); });
  return found.wasInterrupted();
}

/// After code generation a launch names a function, whose arguments are addresses.
bool launchesCode(Operation *op) {
  auto launch = dyn_cast<ad::LaunchOp>(op);
  return launch && !SymbolTable::lookupNearestSymbolFrom<ad::KernelOp>(launch, launch.getKernelAttr());
}

/// Locations may hold debug information of the LLVM dialect.
bool isNative(Location location) { return holdsNative(Attribute(LocationAttr(location))); }

bool isNative(Operation *op) {
  auto holds = [](Type type) { return holdsNative(type); };
  return launchesCode(op) || isOfNativeDialect(op->getName().getDialectNamespace()) ||
         holdsNative(Attribute(op->getAttrDictionary())) || llvm::any_of(op->getResultTypes(), holds) ||
         isNative(op->getLoc()) || llvm::any_of(op->getRegions(), [&](Region &region) {
           return llvm::any_of(region, [&](Block &block) {
             return llvm::any_of(block.getArguments(), [&](BlockArgument argument) {
               return holds(argument.getType()) || isNative(argument.getLoc());
             });
           });
         });
}

} // namespace

bool mlir::ad::runner::allowsNativeCode(const Options &options) {
  return options.allowNative && options.replayFolder.empty();
}

llvm::Error mlir::ad::runner::refuseNativeCode(ModuleOp module, const Options &options) {
  bool isReplay = !options.replayFolder.empty();
  if (allowsNativeCode(options))
    return llvm::Error::success();
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
