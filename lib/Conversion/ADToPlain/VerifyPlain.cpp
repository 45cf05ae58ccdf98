// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-verify-plain`: programs that tools without our dialects read.

#include "OwnNames.h"
#include "adjoint/Conversion/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-verify-plain"

namespace mlir::ad {
#define GEN_PASS_DEF_VERIFYPLAINPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

static bool holdsOurs(Attribute root) {
  auto named = [](Attribute attribute) {
    auto dictionary = dyn_cast<DictionaryAttr>(attribute);
    return isOurs(attribute.getDialect().getNamespace()) ||
           (dictionary && llvm::any_of(dictionary, hasOurName));
  };
  return root
      .walk(
          [&](Attribute attribute) {
            return named(attribute) ? WalkResult::interrupt() : WalkResult::advance();
          },
          [](Type type) {
            return isOurs(type.getDialect().getNamespace()) ? WalkResult::interrupt() : WalkResult::advance();
          })
      .wasInterrupted();
}

namespace {
struct VerifyPlainPass : ad::impl::VerifyPlainPassBase<VerifyPlainPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    int64_t wrong = 0;
    getOperation()->walk([&](Operation *op) { wrong += verify(op).failed(); });
    LDBG() << wrong << " operations are not plain";
    if (wrong > 0)
      signalPassFailure();
  }

  static LogicalResult verify(Operation *op) {
    if (isOurs(op->getName().getDialectNamespace()))
      return op->emitOpError(
          "is no operation of upstream; run --ad-to-plain-linalg, which ends with this pass");
    if (holdsOurs(op->getAttrDictionary()))
      return op->emitOpError("has an attribute of Adjoint; run --ad-strip-attributes first");
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      if (holdsOurs(TypeAttr::get(type)))
        return op->emitOpError("has a value of type ") << type << ", which upstream does not have";
    return success();
  }
};
} // namespace
