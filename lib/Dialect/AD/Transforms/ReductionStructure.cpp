// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The forms of reductions: the accumulators, how they combine with the elements, and the neutral elements.

#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

//===- Combiners that join partial results -===//

// The value that the combiner keeps; null for operations that join nothing. Of sums it is -0: with +0, a
// result of -0 would become +0.
static TypedAttr neutralOf(Operation *combiner) {
  Builder builder(combiner->getContext());
  Type type = combiner->getResult(0).getType();
  auto number = [&](double value) -> TypedAttr { return builder.getFloatAttr(type, value); };
  auto infinity = [&](bool negative) -> TypedAttr {
    return FloatAttr::get(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), negative));
  };
  unsigned width = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : IndexType::kInternalStorageBitWidth;
  auto bits = [&](const APInt &value) -> TypedAttr { return builder.getIntegerAttr(type, value); };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case<arith::AddFOp, math::FmaOp>([&](Operation *) { return number(-0.0); })
      .Case([&](arith::MulFOp) { return number(1.0); })
      .Case([&](arith::MaximumFOp) { return infinity(/*negative=*/true); })
      .Case([&](arith::MinimumFOp) { return infinity(/*negative=*/false); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return bits(APInt::getZero(width)); })
      .Case([&](arith::MulIOp) { return bits(APInt(width, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](Operation *) { return bits(APInt::getAllOnes(width)); })
      .Case([&](arith::MaxSIOp) { return bits(APInt::getSignedMinValue(width)); })
      .Case([&](arith::MinSIOp) { return bits(APInt::getSignedMaxValue(width)); })
      .Default([](Operation *) { return TypedAttr(); });
}

// Whether the operation joins partial results of the accumulator. Else the reason.
static std::string matchCombiner(Operation *combiner, BlockArgument accumulator,
                                 ReductionStructure &structure) {
  TypedAttr neutral = neutralOf(combiner);
  if (!neutral)
    return "'" + combiner->getName().getStringRef().str() + "' does not join partial results";
  if (auto fused = dyn_cast<math::FmaOp>(combiner); fused && fused.getC() != accumulator)
    return "its body multiplies the accumulator";
  structure.combiner = combiner;
  structure.neutral = neutral;
  return "";
}

// accumulator ∘ value or value ∘ accumulator, or a * b + accumulator, of an accumulator that nothing else
// reads. Else the reason.
static std::string matchJoined(linalg::GenericOp generic, ReductionStructure &structure) {
  BlockArgument accumulator = generic.getRegionOutputArgs().front();
  Operation *combiner = generic.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != generic.getBlock())
    return "its body yields a value that it does not compute";
  if (!accumulator.hasOneUse())
    return accumulator.use_empty() ? "its body does not read the accumulator"
                                   : "its body reads the accumulator more than once";
  if (*accumulator.user_begin() != combiner)
    return "its body reads the accumulator in '" +
           (*accumulator.user_begin())->getName().getStringRef().str() + "', whose result it does not yield";
  std::string reason = matchCombiner(combiner, accumulator, structure);
  if (reason.empty())
    structure.form = ReductionForm::joined;
  return reason;
}

//===- Several accumulators -===//

// select(c, new, accumulator), or with both exchanged, for every result and with one condition.
static bool selects(linalg::GenericOp generic) {
  Value condition;
  bool exchanged = false;
  for (auto [accumulator, yielded] :
       llvm::zip_equal(generic.getRegionOutputArgs(), generic.getBlock()->getTerminator()->getOperands())) {
    auto choice = yielded.getDefiningOp<arith::SelectOp>();
    if (!choice || (choice.getFalseValue() != accumulator && choice.getTrueValue() != accumulator))
      return false;
    bool keepsIfTrue = choice.getTrueValue() == accumulator;
    if (condition && (choice.getCondition() != condition || keepsIfTrue != exchanged))
      return false;
    condition = choice.getCondition();
    exchanged = keepsIfTrue;
  }
  Operation *comparison = condition.getDefiningOp();
  return isa_and_nonnull<arith::CmpIOp, arith::CmpFOp>(comparison) &&
         llvm::is_contained(comparison->getOperands(), generic.getRegionOutputArgs().front());
}

// The first result has every step, the second one carries the accumulator over one reduced loop.
static bool scans(linalg::GenericOp generic) {
  if (generic.getNumResults() != 2 || generic.getNumReductionLoops() != 1)
    return false;
  AffineMap steps = generic.getIndexingMapMatchingResult(generic->getOpResult(0));
  AffineMap sums = generic.getIndexingMapMatchingResult(generic->getOpResult(1));
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  return steps.isPermutation() && sums.isProjectedPermutation() &&
         sums.getNumResults() + 1 == steps.getNumResults() && !sums.isFunctionOfDim(reduced.front()) &&
         generic.getRegionOutputArgs().front().use_empty();
}

// Whether the operation computes an operand from the accumulator, inside of the body.
static bool computesFrom(BlockArgument accumulator, Operation *op) {
  llvm::SmallPtrSet<Operation *, 8> dependent;
  for (Operation &each : *accumulator.getOwner())
    if (llvm::any_of(each.getOperands(), [&](Value operand) {
          return operand == accumulator || dependent.contains(operand.getDefiningOp());
        }))
      dependent.insert(&each);
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return dependent.contains(operand.getDefiningOp()); });
}

// The same of the second accumulator. The steps may read it before and after it is combined with a value.
static std::string matchJoinedScan(linalg::GenericOp generic, ReductionStructure &structure) {
  BlockArgument accumulator = generic.getRegionOutputArgs().back();
  Operation *combiner = generic.getBlock()->getTerminator()->getOperand(1).getDefiningOp();
  if (!combiner || combiner->getBlock() != generic.getBlock())
    return "its body yields an accumulator that it does not compute";
  if (llvm::count(combiner->getOperands(), Value(accumulator)) != 1)
    return "its body yields an accumulator that is not combined with a value";
  if (computesFrom(accumulator, combiner))
    return "its body computes a value from the accumulator";
  return matchCombiner(combiner, accumulator, structure);
}

ReductionStructure ad::matchReduction(linalg::GenericOp generic) {
  ReductionStructure structure;
  if (generic.getNumResults() == 1)
    structure.reason = matchJoined(generic, structure);
  else if (scans(generic)) {
    structure.form = ReductionForm::scan;
    structure.reason = matchJoinedScan(generic, structure);
  } else if (selects(generic))
    structure.form = ReductionForm::selection;
  else
    structure.reason = "it has several results, which one condition does not select";
  return structure;
}

bool ad::startsAtNeutral(linalg::GenericOp generic, const ReductionStructure &structure) {
  auto fill = generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  TypedAttr start;
  if (!fill || !matchPattern(fill.getInputs()[0], m_Constant(&start)))
    return false;
  auto number = dyn_cast<FloatAttr>(start);
  bool sums = isa<arith::AddFOp, math::FmaOp>(structure.combiner);
  return start == structure.neutral || (sums && number && number.getValue().isZero());
}

Value ad::joinPartialResults(OpBuilder &builder, Location loc, Operation *combiner, Value lhs, Value rhs) {
  if (isa<math::FmaOp>(combiner))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  OperationState state(loc, combiner->getName());
  state.addOperands({lhs, rhs});
  state.addTypes(lhs.getType());
  return builder.create(state)->getResult(0);
}
