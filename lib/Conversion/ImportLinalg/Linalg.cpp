// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations of linalg. Those that `ad` has by name become its own; others are written as linalg.generic
// first, by upstream's rewrites.

#include "Importer.h"
#include "LoopNest.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::ad;

// A destination that the operation only overwrites.
static bool overwrites(linalg::LinalgOp op) {
  return op.getRegionOutputArgs().size() == 1 && op.getRegionOutputArgs()[0].use_empty();
}

static SmallVector<OpFoldResult> sizesOf(TensorCode code, Value tensor) {
  return llvm::map_to_vector(llvm::seq<int64_t>(0, TensorCode::typeOf(tensor).getRank()),
                             [&](int64_t axis) { return sizeOfAxis(code, tensor, axis); });
}

LogicalResult Importer::importLinalg(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return refusals.add(
        op, "works on memory; expected tensors (upstream's bufferization comes after the import)");
  if (failed(refusals.verifyTypes(op)))
    return failure();
  TensorCode code = codeFor(op);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
    return replace(op, code,
                   SoftmaxOp::create(rewriter, code.loc, softmax.getInput(), softmax.getDimension(),
                                     OrderAttr(), PermissionsAttr()));
  if (!structured)
    return refusals.add(
        op, "has no equivalent in ad; expected an operation that is a nest of loops (LinalgOp), or "
            "linalg.softmax");
  if (auto fill = dyn_cast<linalg::FillOp>(op); fill && overwrites(fill)) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (fill.value().getType() == type.getElementType())
      return replace(op, code, code.full(fill.value(), type, sizesOf(code, fill.output())));
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic) {
    FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, structured);
    if (failed(made))
      return refusals.add(op, "is not one that upstream writes as linalg.generic");
    generic = *made;
    rewriter.setInsertionPoint(generic);
  }
  return importGeneric(generic, code);
}
