// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-strip-attributes`: code that tools without our dialects read.

#include "OwnNames.h"
#include "adjoint/Conversion/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-strip-attributes"

namespace mlir::ad {
#define GEN_PASS_DEF_STRIPATTRIBUTESPASS
#include "adjoint/Conversion/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

// Also those of arguments and results.
static void stripDictionaries(FunctionOpInterface function) {
  auto rest = [&](DictionaryAttr dictionary) {
    SmallVector<NamedAttribute> kept = llvm::to_vector(
        llvm::make_filter_range(dictionary, [](NamedAttribute attribute) { return !hasOurName(attribute); }));
    return DictionaryAttr::get(function.getContext(), kept);
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (DictionaryAttr attributes = function.getArgAttrDict(i))
      function.setArgAttrs(i, rest(attributes));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (DictionaryAttr attributes = function.getResultAttrDict(i))
      function.setResultAttrs(i, rest(attributes));
}

namespace {
struct StripAttributesPass : ad::impl::StripAttributesPassBase<StripAttributesPass> {
  void runOnOperation() override {
    int64_t stripped = 0;
    getOperation()->walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getDiscardableAttrs())
        if (hasOurName(attribute)) {
          op->removeDiscardableAttr(attribute.getName());
          ++stripped;
        }
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        stripDictionaries(function);
    });
    LDBG() << stripped << " attributes of operations are gone";
  }
};
} // namespace
