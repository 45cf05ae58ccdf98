// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// As in Written.cpp, the group is metadata of a fused location.

#include "adjoint/Dialect/AD/IR/FuseGroups.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

Attribute ad::fuseGroupOf(Operation *op) {
  Attribute group;
  op->getLoc()->walk([&](Location part) {
    if (auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(part))
      group = fused.getMetadata().get(kFuseGroupAttr);
    return group ? WalkResult::interrupt() : WalkResult::advance();
  });
  return group;
}

static void keepGroup(Operation *op, Attribute group) {
  Builder builder(op->getContext());
  DictionaryAttr metadata = builder.getDictionaryAttr(builder.getNamedAttr(kFuseGroupAttr, group));
  op->walk([&](Operation *part) {
    part->setLoc(FusedLoc::get({part->getLoc()}, metadata, builder.getContext()));
  });
}

int64_t ad::keepFuseGroups(Operation *root) {
  int64_t alone = 0;
  root->walk([&](Operation *op) {
    if (Attribute group = op->removeDiscardableAttr(kFuseGroupAttr))
      keepGroup(op, group);
    if (Attribute unit = op->removeDiscardableAttr(kNoFuseAttr)) {
      keepGroup(op, DistinctAttr::create(unit));
      ++alone;
    }
  });
  return alone;
}

static bool computesTensors(Operation *op) {
  return op->getNumResults() > 0 && llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
         !isa<CallOpInterface, SymbolUserOpInterface, RegionBranchOpInterface>(op);
}

static bool hasNoKernel(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || isa<FeedOp, tensor::EmptyOp>(op);
}

LogicalResult ad::verifyFuseGroup(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (op->getParentOfType<FusionOp>() || isa<FusionOp>(op))
    return op->emitOpError("expected no '") << name << "' in 'ad.fusion', which is one kernel by itself";
  if (hasNoKernel(op))
    return op->emitOpError("expected no '") << name << "' on an operation that has no kernel";
  if (!computesTensors(op))
    return op->emitOpError("expected '") << name << "' on an operation that computes tensors by itself";
  if (name == kNoFuseAttr && !isa<UnitAttr>(attribute.getValue()))
    return op->emitOpError("expected '") << name << "' without a value, but got " << attribute.getValue();
  auto group = dyn_cast<StringAttr>(attribute.getValue());
  if (name == kFuseGroupAttr && (!group || group.empty()))
    return op->emitOpError("expected '") << name << "' to be a name, but got " << attribute.getValue();
  if (name == kFuseGroupAttr && op->hasAttr(kNoFuseAttr))
    return op->emitOpError("expected '") << name << "' or '" << kNoFuseAttr << "', not both";
  return success();
}
