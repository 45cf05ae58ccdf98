// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two versions of a function whose broadcasts are decided by run-time sizes: one for arguments of which none
// is broadcast, chosen at its entry, and the written one.

#include "SizeClasses.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
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

// The argument with the first size of its class in each dimension: an ad.reshape to its own shape, which
// moves nothing, and through which every later pass sees that the sizes are the same.
static Value withFirstSizes(OpBuilder &builder, BlockArgument argument, ArrayRef<SizeClass> classes) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type)
    return argument;
  SmallVector<Value> sizes;
  bool differs = false;
  for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
    if (!type.isDynamicDim(dimension))
      continue;
    EntrySize size{argument, dimension};
    const auto *own =
        llvm::find_if(classes, [&](const SizeClass &members) { return llvm::is_contained(members, size); });
    differs |= own != classes.end() && !(own->front() == size);
    sizes.push_back(sizeValue(builder, argument.getLoc(), own == classes.end() ? size : own->front()));
  }
  if (!differs)
    return argument;
  return ReshapeOp::create(builder, argument.getLoc(), type, argument, sizes, PermissionsAttr());
}

// The size of an axis that an operation states: by its type or by an index operand.
template <typename Op> static Value writtenSize(OpBuilder &builder, Op op, int64_t axis) {
  RankedTensorType type = op.getType();
  if (type.isDynamicDim(axis))
    return op.getSizes()[type.getDynamicDimIndex(axis)];
  return arith::ConstantIndexOp::create(builder, op.getLoc(), type.getDimSize(axis));
}

// Says in the program that the operand has the sizes that the operation states: an ad.reshape of the operand
// to its own shape, which folds if that is known anyway.
template <typename Op> static void sayOwnSizes(OpBuilder &builder, Op op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  int64_t lead = type.getRank() - op.getType().getRank(); // negative for a broadcast
  builder.setInsertionPoint(op);
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis))
      continue;
    bool isSummed = axis < lead || op.getType().getDimSize(axis - lead) == 1;
    sizes.push_back(isSummed
                        ? tensor::DimOp::create(builder, op.getLoc(), op->getOperand(0), axis).getResult()
                        : writtenSize(builder, op, axis - lead));
  }
  if (!sizes.empty())
    op->setOperand(
        0, ReshapeOp::create(builder, op.getLoc(), type, op->getOperand(0), sizes, PermissionsAttr()));
}

// The operations of the block, but for constants, which both versions share, and the return.
static SmallVector<Operation *> versionedOperations(Block &block) {
  SmallVector<Operation *> operations;
  for (Operation &op : block.without_terminator())
    if (!matchPattern(&op, m_Constant()))
      operations.push_back(&op);
  return operations;
}

static void makeVersions(func::FuncOp function, const ComparedSizes &sizes) {
  ArrayRef<SizeClass> classes = sizes.classes;
  Block &entry = function.front();
  Operation *exit = entry.getTerminator();
  SmallVector<Operation *> written = versionedOperations(entry);
  OpBuilder builder(exit);
  Location loc = function.getLoc();
  Value condition = haveOneSize(builder, loc, classes);
  auto versions =
      scf::IfOp::create(builder, loc, exit->getOperandTypes(), condition, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(versions.thenBlock());
  IRMapping mapping;
  for (BlockArgument argument : entry.getArguments())
    mapping.map(argument, withFirstSizes(builder, argument, classes));
  for (Operation *op : written)
    builder.clone(*op, mapping);
  SmallVector<Value> results =
      llvm::map_to_vector(exit->getOperands(), [&](Value result) { return mapping.lookupOrDefault(result); });
  scf::YieldOp::create(builder, exit->getLoc(), results);
  for (Operation *op : sizes.compared) {
    Operation *version = mapping.lookup(op->getResult(0)).getDefiningOp();
    if (auto broadcast = dyn_cast<BroadcastOp>(version))
      sayOwnSizes(builder, broadcast);
    else
      sayOwnSizes(builder, cast<SumToShapeOp>(version));
  }

  builder.setInsertionPointToStart(versions.elseBlock());
  auto general = scf::YieldOp::create(builder, exit->getLoc(), exit->getOperands());
  for (Operation *op : written)
    op->moveBefore(general);
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
