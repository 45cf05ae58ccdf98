// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes the numerics contract explicit: the mode on the module, then permissions, orders and broadcasts
// (WriteContract.cpp).

#include "../Verify/VerifyReproducible.h"
#include "WriteContract.h"

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/NumericsContract.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-set-numerics"

namespace mlir::ad {
#define GEN_PASS_DEF_SETNUMERICSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

// One permission after the mode; empty unless it is refused.
static std::string addPermission(StringRef word, StringRef mode, Permissions &extra) {
  std::optional<Permissions> one = symbolizePermissions(word);
  if (symbolizeNumericsMode(word))
    return ("expected permissions after the mode '" + mode + "', but got '" + word +
            "', a mode too; give one mode")
        .str();
  if (!one || *one == Permissions::none)
    return ("expected reorder, algebra, contract, widen, mma, narrow, approx or finite as a permission, "
            "but got '" +
            word + "'")
        .str();
  if (allows(extra, *one))
    return ("expected distinct permissions, but got '" + word + "' twice").str();
  extra = extra | *one;
  return "";
}

FailureOr<NumericsAttr> ad::parseNumerics(MLIRContext *context, StringRef text, std::string &error) {
  SmallVector<StringRef> words;
  text.split(words, ',');
  std::optional<NumericsMode> mode = symbolizeNumericsMode(words.front().trim());
  if (!mode) {
    error =
        ("expected reproducible, strict or fast as the numerics mode, but got '" + words.front().trim() + "'")
            .str();
    return failure();
  }
  Permissions extra = Permissions::none;
  for (StringRef word : ArrayRef(words).drop_front())
    if (error = addPermission(word.trim(), words.front().trim(), extra); !error.empty())
      return failure();
  if (error = checkContract(*mode, extra); !error.empty())
    return failure();
  return NumericsAttr::get(context, *mode, extra);
}

namespace {
struct SetNumericsPass : ad::impl::SetNumericsPassBase<SetNumericsPass> {
  using SetNumericsPassBase::SetNumericsPassBase;

  LogicalResult setModuleAttribute() {
    ModuleOp module = getOperation();
    NumericsAttr contract = module->getAttrOfType<NumericsAttr>(ADDialect::kNumericsAttr);
    if (!numerics.empty()) {
      std::string error;
      FailureOr<NumericsAttr> given = parseNumerics(&getContext(), numerics, error);
      if (failed(given))
        return emitError(module.getLoc()) << "option numerics: " << error;
      contract = *given;
    } else if (!contract) {
      contract = NumericsAttr::get(&getContext(), NumericsMode::strict, Permissions::none);
    }
    LDBG() << "the contract of the module is " << contract;
    module->setAttr(ADDialect::kNumericsAttr, contract);
    return success();
  }

  // No pass reads a contract under another name, such as `numerics` or `da.numerics`.
  LogicalResult checkNames() {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (!isa<ModuleOp, FunctionOpInterface>(op))
        return WalkResult::advance();
      for (NamedAttribute attribute : op->getAttrs()) {
        StringRef name = attribute.getName();
        if (!isa<NumericsAttr>(attribute.getValue()) || name == ADDialect::kNumericsAttr ||
            name == ADDialect::kAdjointNumericsAttr)
          continue;
        op->emitOpError("expected a contract as ad.numerics or ad.adjoint_numerics, but got it as '")
            << name << "', which nothing reads";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    if (failed(checkNames()) || failed(setModuleAttribute()) || failed(verifyReproducible(getOperation())))
      return signalPassFailure();
    writeContract(getOperation());
  }
};
} // namespace
