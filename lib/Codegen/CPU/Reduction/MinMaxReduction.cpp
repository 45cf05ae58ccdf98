// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The largest or smallest element of a row. Exactly, each step costs five instructions that wait for each
// other: NaN has to win, and -0 is less than +0. A first loop compares and notes the largest bits without
// sign instead; only rows with a NaN, and those with a zero as the best of a lane, go through the exact loop
// as well.

#include "MinMaxReduction.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Registers of each of the two values of the quick loop: enough chains to hide the latency of a comparison.
static constexpr int64_t kQuickVectors = 4;

// Whether the value is in memory, or computed from memory without reductions and expensive functions: both
// loops over a row may compute it.
bool MinMaxReduction::isCheap(Value tensor) {
  return !anyProducer(tensor, [&](Value value) {
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    return generic && (reduces(generic) || isExpensive(generic) || !extractedTensors(generic).empty());
  });
}

// A maximum or minimum of elements in memory, or of values that are cheap to compute twice.
bool MinMaxReduction::isPlainMinMax(linalg::GenericOp generic) {
  Block *body = generic.getBlock();
  if (generic.getNumResults() != 1 || generic.getNumDpsInputs() != 1 || body->getOperations().size() != 2)
    return false;
  return isa<arith::MaximumFOp, arith::MinimumFOp>(body->front()) &&
         llvm::is_contained(body->front().getOperands(), body->getArgument(0)) &&
         (getElementTypeOrSelf(generic.getResultTypes()[0]).isF32() ||
          getElementTypeOrSelf(generic.getResultTypes()[0]).isF64()) &&
         isCheap(generic.getDpsInputOperand(0)->get());
}

// Tests whether the quick loop was right, in the integer type of the float's width.
class MinMaxReduction::Bits {
public:
  Bits(OpBuilder &builder, Location loc, VectorType floats)
      : builder(builder), loc(loc),
        type(VectorType::get(floats.getShape(), builder.getIntegerType(floats.getElementTypeBitWidth()))),
        infinity(
            APFloat::getInf(cast<FloatType>(floats.getElementType()).getFloatSemantics()).bitcastToAPInt()) {}

  Value constant(const APInt &bits) {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, bits));
  }
  Value zero() { return constant(APInt::getZero(infinity.getBitWidth())); }
  Value withoutSign(Value floats) {
    Value bits = arith::BitcastOp::create(builder, loc, type, floats);
    return arith::AndIOp::create(builder, loc, bits,
                                 constant(APInt::getSignedMaxValue(infinity.getBitWidth())));
  }
  Value any(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    Value each = arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
    return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, each);
  }
  Value anyNaN(Value largest) { return any(arith::CmpIPredicate::ugt, largest, constant(infinity)); }
  Value anyZero(Value floats) { return any(arith::CmpIPredicate::eq, withoutSign(floats), zero()); }

private:
  OpBuilder &builder;
  Location loc;
  VectorType type;
  APInt infinity;
};

Value MinMaxReduction::better(linalg::GenericOp generic, Value value, Value best) {
  auto order = isa<arith::MaximumFOp>(generic.getBlock()->front()) ? arith::CmpFPredicate::OGT
                                                                   : arith::CmpFPredicate::OLT;
  Value wins = arith::CmpFOp::create(builder, loc, order, value, best);
  return arith::SelectOp::create(builder, loc, wins, value, best);
}

// One step of the quick loop: the best element of each lane, and the largest bits without sign.
FailureOr<SmallVector<Value>> MinMaxReduction::compare(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                       Value at, ValueRange before, Bits &bits) {
  OpOperand *input = generic.getDpsInputOperand(0);
  Scope scope(context);
  SmallVector<Index> inner(loops);
  reductionLoops.setIndex(generic, inner, {at, 1, nullptr});
  FailureOr<Value> read =
      evaluator.evaluateOne(input->get(), maps.apply(generic.getMatchingIndexingMap(input), inner));
  if (failed(read))
    return failure();
  Value value = laneValues.splat(*read, lanes);
  Value largest = binary<arith::MaxUIOp>(before[1], bits.withoutSign(value));
  return SmallVector<Value>{better(generic, value, before[0]), largest};
}

// The quick loop over whole rows of lanes, and the remainder.
FailureOr<SmallVector<Value>> MinMaxReduction::compareAll(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                          const Range &range, Value start) {
  Bits bits(builder, loc, cast<VectorType>(start.getType()));
  Value size = binary<arith::SubIOp>(range.upper, range.lower), width = indexConstant(lanes);
  Value rest = binary<arith::RemUIOp>(size, width), end = binary<arith::SubIOp>(range.upper, rest);
  auto loop = scf::ForOp::create(builder, loc, range.lower, end, width, ValueRange{start, bits.zero()});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto next = compare(generic, loops, loop.getInductionVar(), loop.getRegionIterArgs(), bits);
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
  }
  auto step = [&](Value at, ArrayRef<Value> before) {
    Bits narrow(builder, loc, cast<VectorType>(before.front().getType()));
    return compare(generic, loops, at, before, narrow);
  };
  SmallVector<Value> found(loop.getResults());
  return constantOf(rest) == 0 ? found : laneAccumulators.overRest({end, rest}, found, step);
}

// The best of all elements is the same for any number of lanes: as many as fit the registers.
FailureOr<Value> MinMaxReduction::minMaxOfChunk(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                const Range &range, Value identity,
                                                llvm::function_ref<FailureOr<Value>()> exactly) {
  int64_t allLanes = lanes, registers = std::max<int64_t>(1, memoryBytes(identity.getType()) / kLaneBytes);
  WithLanes quickCode(context, std::min(lanes, kQuickVectors * vectorLanes / registers), nullptr);
  Value start = laneValues.splat(identity, lanes);
  FailureOr<SmallVector<Value>> found = compareAll(generic, loops, range, start);
  if (failed(found))
    return failure();
  Bits bits(builder, loc, cast<VectorType>(start.getType()));
  Value best = found->front();
  Value doubtful = binary<arith::OrIOp>(bits.anyNaN(found->back()), bits.anyZero(best));
  auto branch =
      scf::IfOp::create(builder, loc, getElementTypeOrSelf(best), doubtful, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  auto join = [&](Value low, Value high) { return better(generic, low, high); };
  scf::YieldOp::create(builder, loc, laneAccumulators.joinAllLanes(best, join));
  builder.setInsertionPointToStart(branch.thenBlock());
  Scope scope(context);
  WithLanes laneCode(context, allLanes, nullptr);
  FailureOr<Value> exact = exactly();
  if (failed(exact))
    return failure();
  scf::YieldOp::create(builder, loc, *exact);
  return branch.getResult(0);
}
