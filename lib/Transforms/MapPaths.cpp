// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-map-paths`: names of files in locations, for outputs that do not depend on a folder.

#include "adjoint/Transforms/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-map-paths"

namespace mlir::ad {
#define GEN_PASS_DEF_MAPPATHSPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class MapPathsPass : public ad::impl::MapPathsPassBase<MapPathsPass> {
public:
  using MapPathsPassBase::MapPathsPassBase;

private:
  LogicalResult initialize(MLIRContext *context) override {
    if (StringRef(prefix).contains('='))
      return success();
    return emitError(UnknownLoc::get(context)) << "expected a prefix map OLD=NEW, but got '" << prefix << "'";
  }

  void runOnOperation() override {
    auto [from, to] = StringRef(prefix).split('=');
    AttrTypeReplacer replacer;
    replacer.addReplacement([from = from, to = to](FileLineColRange range) -> std::optional<Attribute> {
      StringRef name = range.getFilename().getValue();
      if (!name.consume_front(from))
        return std::nullopt;
      auto mapped = StringAttr::get(range.getContext(), to + name);
      return FileLineColRange::get(mapped, range.getStartLine(), range.getStartColumn(), range.getEndLine(),
                                   range.getEndColumn());
    });
    LDBG() << "maps " << from << " to " << to;
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/false, /*replaceLocs=*/true);
    markAllAnalysesPreserved();
  }
};
} // namespace
