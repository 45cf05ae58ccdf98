// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "NormalizeKernel.h"
#include "adjoint/Codegen/Kernel/TotalScalars.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::ad;

// Scalars outside of loops: the host program tests sizes and indices that it computes by the same rules.
static void normalizeScalars(KernelOp kernel) {
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front().without_terminator()))
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()))
      makeTotal(&op);
}

static void normalizeScalars(linalg::GenericOp generic) {
  for (Operation &op : llvm::make_early_inc_range(generic.getBlock()->without_terminator())) {
    bool addsUp = llvm::any_of(op.getOperands(), [&](Value operand) {
      return llvm::is_contained(generic.getRegionOutputArgs(), operand);
    });
    // The combiner stays the operation that says how partial results are joined.
    makeTotal(&op, addsUp && generic.getNumReductionLoops() > 0 ? ShortFloats::asIs : ShortFloats::inF32);
  }
}

//===- What operations start from -===//

static linalg::GenericOp makeParallel(OpBuilder &builder, Location loc, ValueRange inputs, Value like,
                                      function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, TypeRange{type}, inputs, ValueRange{like}, maps, iterators,
                                   [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
                                     linalg::YieldOp::create(nested, nestedLoc,
                                                             body(nested, nestedLoc, scalars));
                                   });
}

// Reads the outs as inputs; the outs stay, for their sizes.
static linalg::GenericOp readOutsAsInputs(linalg::GenericOp generic) {
  SmallVector<Value> inputs(generic.getDpsInputs());
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  // Values rather than positions: each input that is inserted moves the arguments after it.
  SmallVector<BlockArgument> read;
  for (OpOperand &init : generic.getDpsInitsMutable()) {
    BlockArgument before = generic.getMatchingBlockArgument(&init);
    if (before.use_empty())
      continue;
    read.push_back(before);
    maps.insert(maps.begin() + inputs.size(), generic.getMatchingIndexingMap(&init));
    inputs.push_back(init.get());
  }
  if (read.empty())
    return generic;
  OpBuilder builder(generic);
  auto made = linalg::GenericOp::create(builder, generic.getLoc(), generic.getResultTypes(), inputs,
                                        generic.getOutputs(), maps, generic.getIteratorTypesArray());
  Block *body = generic.getBlock();
  unsigned next = generic.getNumDpsInputs();
  for (BlockArgument before : read) {
    BlockArgument input = body->insertArgument(next++, before.getType(), before.getLoc());
    before.replaceAllUsesWith(input);
  }
  made.getRegion().takeBody(generic.getRegion());
  generic->replaceAllUsesWith(made);
  generic.erase();
  return made;
}

// total = neutral ∘ elements; outs ∘ total.
static void joinOutsLast(linalg::GenericOp generic, const ReductionStructure &structure) {
  OpBuilder builder(generic);
  Location loc = generic.getLoc();
  Value outs = generic.getDpsInits()[0];
  Value neutral = arith::ConstantOp::create(builder, loc, structure.neutral);
  generic.setDpsInitOperand(0, linalg::FillOp::create(builder, loc, neutral, outs).getResult(0));
  builder.setInsertionPointAfter(generic);
  Value total = generic.getResult(0);
  auto joined = makeParallel(
      builder, loc, {outs, total}, outs, [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        return joinPartialResults(nested, nestedLoc, structure.combiner, scalars[0], scalars[1]);
      });
  total.replaceAllUsesExcept(joined.getResult(0), joined);
}

LogicalResult ad::normalizeKernel(KernelOp kernel) {
  if (failed(verifyLinalgBody(kernel)))
    return failure();
  normalizeScalars(kernel);
  SmallVector<linalg::GenericOp> generics(kernel.getBody().getOps<linalg::GenericOp>());
  for (linalg::GenericOp generic : generics) {
    normalizeScalars(generic);
    if (generic.getNumReductionLoops() == 0) {
      readOutsAsInputs(generic);
      continue;
    }
    ReductionStructure structure = matchReduction(generic);
    if (structure.form == ReductionForm::joined && !startsAtNeutral(generic, structure))
      joinOutsLast(generic, structure);
  }
  return success();
}
