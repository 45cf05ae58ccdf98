// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "NormalizeKernel.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ad;

//===- Scalar code -===//

// What stands on the kernel alone says what may be done to numbers. Flags that promise no overflow hold for
// the written order of a sum only.
static void dropFlags(Operation *op) {
  if (auto flags = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(flags.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none));
  if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(flags.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none));
}

// Lanes that are masked divide nothing by nothing, which traps on some processors.
static void divideByOneInsteadOfZero(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
           arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value divisor = op->getOperand(1);
  if (divisor.getDefiningOp<arith::ConstantOp>())
    return;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(divisor.getType(), value));
  };
  Value isZero = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor, number(0));
  op->setOperand(1, arith::SelectOp::create(builder, loc, isZero, number(1), divisor));
}

static bool isShort(Type type) { return type.isF16() || type.isBF16(); }

static void convertInOneWay(Operation *op) {
  if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
    return;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!isShort(from) && !isShort(to))
    return;
  OpBuilder builder(op);
  op->replaceAllUsesWith(ConvertOp::create(builder, op->getLoc(), to, op->getOperand(0)));
  op->erase();
}

static void normalizeScalars(linalg::GenericOp generic) {
  for (Operation &op : llvm::make_early_inc_range(generic.getBlock()->without_terminator())) {
    dropFlags(&op);
    divideByOneInsteadOfZero(&op);
    convertInOneWay(&op);
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
  // Values rather than positions: each input that is inserted moves the arguments behind it.
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
