// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Control flow that the host program does not have, as scf.for, scf.if and scf.while. Branches between blocks
// are lifted by upstream's transformation.

#include "Importer.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/CFGToSCF.h"

using namespace mlir;
using namespace mlir::ad;

bool ad::hasForeignControlFlow(Operation *op) {
  if (isa<func::FuncOp>(op))
    return op->getRegion(0).getBlocks().size() > 1;
  return isa<scf::ForallOp, scf::ParallelOp, scf::IndexSwitchOp, scf::ExecuteRegionOp, cf::AssertOp,
             func::CallIndirectOp, func::ConstantOp>(op);
}

//===- Blocks -===//

// What a path does not set is used by nothing on this path.
static void replacePoison(Region &region) {
  region.walk([](ub::PoisonOp poison) {
    OpBuilder builder(poison);
    auto type = dyn_cast<RankedTensorType>(poison.getType());
    if (type && !type.hasStaticShape())
      return; // refused where it is used
    builder.setInsertionPoint(poison);
    TypedAttr zero = builder.getZeroAttr(poison.getType());
    if (!zero)
      return;
    Value constant = type ? Value(ConstantOp::create(builder, poison.getLoc(), cast<ElementsAttr>(zero)))
                          : Value(arith::ConstantOp::create(builder, poison.getLoc(), zero));
    poison.getResult().replaceAllUsesWith(constant);
    poison.erase();
  });
}

static LogicalResult liftBlocks(Operation *op, Region &region, Refusals &refusals) {
  if (region.hasOneBlock() || region.empty())
    return success();
  ControlFlowToSCFTransformation transformation;
  DominanceInfo dominance(op);
  if (failed(transformCFGToSCF(region, transformation, dominance)) || !region.hasOneBlock())
    return refusals.add(
        op, "has branches between blocks that are no structured control flow; write scf.if, scf.for or "
            "scf.while");
  replacePoison(region);
  return success();
}

static LogicalResult importRegion(scf::ExecuteRegionOp op, IRRewriter &rewriter, Refusals &refusals) {
  if (failed(liftBlocks(op, op.getRegion(), refusals)))
    return failure();
  Operation *yield = op.getRegion().front().getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.inlineBlockBefore(&op.getRegion().front(), op);
  rewriter.eraseOp(yield);
  rewriter.replaceOp(op, results);
  return success();
}

//===- Branches -===//

// The first case that the number is, one scf.if in the other.
static void importSwitch(scf::IndexSwitchOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Value number = op.getArg();
  SmallVector<Value> results;
  Region *last = nullptr;
  for (auto [value, region] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    Value wanted = arith::ConstantIndexOp::create(rewriter, op.getLoc(), value);
    Value isCase = arith::CmpIOp::create(rewriter, op.getLoc(), arith::CmpIPredicate::eq, number, wanted);
    auto branch =
        scf::IfOp::create(rewriter, op.getLoc(), op.getResultTypes(), isCase, /*withElseRegion=*/true);
    if (last) {
      rewriter.setInsertionPointToEnd(branch->getBlock());
      if (!branch->getBlock()->mightHaveTerminator())
        scf::YieldOp::create(rewriter, op.getLoc(), branch.getResults());
    } else {
      results.assign(branch->result_begin(), branch->result_end());
    }
    branch.getThenRegion().takeBody(region);
    last = &branch.getElseRegion();
    if (last->empty())
      last->emplaceBlock();
    rewriter.setInsertionPointToStart(&last->front());
  }
  if (last) {
    last->takeBody(op.getDefaultRegion());
    rewriter.replaceOp(op, results);
    return;
  }
  Block &body = op.getDefaultRegion().front();
  SmallVector<Value> yielded(body.getTerminator()->getOperands());
  rewriter.eraseOp(body.getTerminator());
  rewriter.inlineBlockBefore(&body, op);
  rewriter.replaceOp(op, yielded);
}

//===- Loops -===//

// The iterations one after another: each writes its slices into what the one before has left.
static void importForall(scf::ForallOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  TensorCode code(rewriter, loc);
  auto body = [&](OpBuilder &builder, Location, ValueRange iterations, ValueRange carried) {
    IRMapping mapping;
    mapping.map(op.getInductionVars(), iterations);
    mapping.map(op.getRegionIterArgs(), carried);
    for (Operation &inner : op.getBody()->without_terminator())
      builder.clone(inner, mapping);
    for (Operation &inner : op.getTerminator().getYieldingOps()) {
      auto insert = cast<tensor::ParallelInsertSliceOp>(inner);
      auto mapped = [&](ArrayRef<OpFoldResult> numbers) {
        return llvm::map_to_vector(numbers, [&](OpFoldResult number) -> OpFoldResult {
          auto value = dyn_cast<Value>(number);
          return value ? OpFoldResult(mapping.lookupOrDefault(value)) : number;
        });
      };
      Value updated = tensor::InsertSliceOp::create(
          builder, insert.getLoc(), mapping.lookupOrDefault(insert.getSource()),
          mapping.lookupOrDefault(insert.getDest()), mapped(insert.getMixedOffsets()),
          mapped(insert.getMixedSizes()), mapped(insert.getMixedStrides()));
      mapping.map(insert.getDest(), updated);
    }
    return llvm::map_to_vector(op.getRegionIterArgs(),
                               [&](Value argument) { return mapping.lookupOrDefault(argument); });
  };
  scf::LoopNest nest = scf::buildLoopNest(rewriter, loc, code.indices(op.getMixedLowerBound()),
                                          code.indices(op.getMixedUpperBound()),
                                          code.indices(op.getMixedStep()), op.getOutputs(), body);
  rewriter.replaceOp(op, nest.results);
}

// The iterations one after another, which is one of the orders in which they may be reduced.
static void importParallel(scf::ParallelOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  auto body = [&](OpBuilder &builder, Location, ValueRange iterations, ValueRange carried) {
    IRMapping mapping;
    mapping.map(op.getInductionVars(), iterations);
    for (Operation &inner : op.getBody()->without_terminator())
      builder.clone(inner, mapping);
    auto reduction = cast<scf::ReduceOp>(op.getBody()->getTerminator());
    scf::ValueVector next;
    for (auto [region, operand, value] :
         llvm::zip_equal(reduction.getReductions(), reduction.getOperands(), carried)) {
      IRMapping combined = mapping;
      combined.map(region.getArgument(0), value);
      combined.map(region.getArgument(1), mapping.lookupOrDefault(operand));
      for (Operation &inner : region.front().without_terminator())
        builder.clone(inner, combined);
      next.push_back(combined.lookupOrDefault(region.front().getTerminator()->getOperand(0)));
    }
    return next;
  };
  scf::LoopNest nest = scf::buildLoopNest(rewriter, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                                          op.getStep(), op.getInitVals(), body);
  rewriter.replaceOp(op, nest.results);
}

//===- Calls and conditions -===//

static LogicalResult importCall(func::CallIndirectOp op, IRRewriter &rewriter, Refusals &refusals) {
  auto callee = op.getCallee().getDefiningOp<func::ConstantOp>();
  if (!callee)
    return refusals.add(op, "calls a function that is known at run time only; expected func.call");
  rewriter.setInsertionPoint(op);
  rewriter.replaceOpWithNewOp<func::CallOp>(op, callee.getValueAttr(), op.getResultTypes(),
                                            op.getCalleeOperands());
  return success();
}

static void importAssert(cf::AssertOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  TensorCode code(rewriter, rememberAs(op, ("cf.assert \"" + op.getMsg() + "\"").str()));
  Value holds = code.ofScalar(op.getArg());
  check::ExpectEqOp::create(rewriter, code.loc, holds, code.ofConstant(rewriter.getBoolAttr(true)));
  rewriter.eraseOp(op);
}

//===- All of them -===//

static void importOp(Operation *op, IRRewriter &rewriter, Refusals &refusals) {
  if (auto loop = dyn_cast<scf::ForallOp>(op))
    importForall(loop, rewriter);
  else if (auto loop = dyn_cast<scf::ParallelOp>(op))
    importParallel(loop, rewriter);
  else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    importSwitch(branch, rewriter);
  else if (auto region = dyn_cast<scf::ExecuteRegionOp>(op))
    (void)importRegion(region, rewriter, refusals);
  else if (auto condition = dyn_cast<cf::AssertOp>(op))
    importAssert(condition, rewriter);
  else if (auto call = dyn_cast<func::CallIndirectOp>(op))
    (void)importCall(call, rewriter, refusals);
}

void ad::importControlFlow(ModuleOp module, Refusals &refusals) {
  IRRewriter rewriter(module.getContext());
  for (auto function : module.getOps<func::FuncOp>()) {
    (void)liftBlocks(function, function.getBody(), refusals);
    // Inner operations first: loops are copied.
    SmallVector<Operation *> found;
    function.walk<WalkOrder::PostOrder>([&](Operation *op) {
      if (op != function && hasForeignControlFlow(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      importOp(op, rewriter, refusals);
  }
}
