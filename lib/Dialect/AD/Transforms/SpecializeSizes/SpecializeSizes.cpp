// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two versions of a function whose broadcasts are decided by run-time sizes: one for arguments of which none
// is broadcast, chosen at its entry, and the written one.

#include "SizeClasses.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-specialize-sizes"

namespace mlir::ad {
#define GEN_PASS_DEF_SPECIALIZESIZESPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

static Value sizeValue(OpBuilder &builder, Location loc, const EntrySize &size) {
  if (!size.argument)
    return arith::ConstantIndexOp::create(builder, loc, size.number);
  return tensor::DimOp::create(builder, loc, size.argument, size.number);
}

// Whether the members of each class have one size.
static Value haveOneSize(OpBuilder &builder, Location loc, ArrayRef<SizeClass> classes) {
  Value all;
  for (const SizeClass &members : classes) {
    Value first = sizeValue(builder, loc, members.front());
    for (const EntrySize &member : ArrayRef(members).drop_front()) {
      Value other = sizeValue(builder, loc, member);
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, other, first);
      all = all ? arith::AndIOp::create(builder, loc, all, same).getResult() : same;
    }
  }
  return all;
}

// The argument with the representative of its class as the size of each dimension: an ad.reshape to its own
// shape, which moves nothing, and through which every later pass sees that sizes are the same.
static Value withRepresentatives(OpBuilder &builder, BlockArgument argument, ArrayRef<SizeClass> classes) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type)
    return argument;
  SmallVector<Value> sizes;
  bool differs = false;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension))
      continue;
    EntrySize size{argument, dimension}, representative = size;
    for (const SizeClass &members : classes)
      if (llvm::is_contained(members, size))
        representative = members.front();
    differs |= !(representative == size);
    sizes.push_back(sizeValue(builder, argument.getLoc(), representative));
  }
  if (!differs)
    return argument;
  NumericsAttr contract = numericsInForceAt(builder.getInsertionBlock()->getParentOp());
  auto allow =
      contract ? PermissionsAttr::get(builder.getContext(), contract.permissions()) : PermissionsAttr();
  return ReshapeOp::create(builder, argument.getLoc(), type, argument, sizes, allow);
}

// Gives the operand the sizes that the operation compares them with, by an ad.reshape to its own shape, which
// folds if they are known to be the same anyway.
template <typename Op> static void reshapeOperand(OpBuilder &builder, Op op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  int64_t lead = type.getRank() - op.getType().getRank(); // negative for a broadcast
  builder.setInsertionPoint(op);
  SmallVector<OpFoldResult> compared = mixedSizes(builder, op.getType(), op.getSizes());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    bool isSummed = axis < lead || op.getType().getDimSize(axis - lead) == 1;
    OpFoldResult size = isSummed ? OpFoldResult(tensor::DimOp::create(builder, loc, op->getOperand(0), axis))
                                 : compared[axis - lead];
    sizes.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  }
  if (!sizes.empty())
    op->setOperand(0, ReshapeOp::create(builder, loc, type, op->getOperand(0), sizes, op.getAllowAttr()));
}

// The operations of the block, but for constants, which both versions share, and the return.
static SmallVector<Operation *> versionedOperations(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    if (!matchPattern(&op, m_Constant()))
      operations.push_back(&op);
  return operations;
}

// Fills the region for sizes that are equal with copies of the operations.
static void fillEqual(Region &region, ArrayRef<Operation *> written, const ComparedSizes &sizes,
                      Operation *exit) {
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  IRMapping mapping;
  for (BlockArgument argument : exit->getBlock()->getArguments())
    mapping.map(argument, withRepresentatives(builder, argument, sizes.classes));
  for (Operation *op : written)
    builder.clone(*op, mapping);
  auto results =
      llvm::map_to_vector(exit->getOperands(), [&](Value result) { return mapping.lookupOrDefault(result); });
  scf::YieldOp::create(builder, exit->getLoc(), results);
  for (Operation *op : sizes.compared)
    llvm::TypeSwitch<Operation *>(mapping.lookup(op->getResult(0)).getDefiningOp())
        .Case<BroadcastOp, SumToShapeOp>([&](auto copy) { reshapeOperand(builder, copy); });
}

// Moves the operations to the region for all sizes.
static void fillGeneral(Region &region, ArrayRef<Operation *> written, Operation *exit) {
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  auto yield = scf::YieldOp::create(builder, exit->getLoc(), exit->getOperands());
  for (Operation *op : written)
    op->moveBefore(yield);
}

static void makeVersions(func::FuncOp function, const ComparedSizes &sizes) {
  Operation *exit = function.front().getTerminator();
  SmallVector<Operation *> written = versionedOperations(function.front());
  OpBuilder builder(exit);
  Value condition = haveOneSize(builder, function.getLoc(), sizes.classes);
  auto versions = scf::IfOp::create(builder, function.getLoc(), exit->getOperandTypes(), condition,
                                    /*withElseRegion=*/true);
  fillEqual(versions.getThenRegion(), written, sizes, exit);
  fillGeneral(versions.getElseRegion(), written, exit);
  exit->setOperands(versions.getResults());
}

namespace {
struct SpecializeSizesPass : ad::impl::SpecializeSizesPassBase<SpecializeSizesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    ComparedSizes sizes = findComparedSizes(function);
    if (sizes.classes.empty())
      return;
    LDBG() << "two versions of '" << function.getName() << "', for " << sizes.classes.size()
           << " classes of sizes";
    makeVersions(function, sizes);
  }
};
} // namespace
