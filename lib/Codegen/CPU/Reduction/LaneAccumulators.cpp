// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The lanes of a chunk: element j goes to lane j mod the number of lanes, and a tree joins the lower half of
// the lanes with the upper one until one lane is left.

#include "LaneAccumulators.h"
#include "../../Kernel/Values/Producers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Lanes without an element must not change a join: they hold -0, which every sum keeps. A lane that started
// from +0 would change a sum of -0, such as a product that underflows. The first lane has the number `first`.
Value LaneAccumulators::withoutAbsentLanes(Value sum, Value size, Value first) {
  auto type = cast<VectorType>(sum.getType());
  Value zero = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), -0.0)));
  // The sum of no elements is the value that it starts from.
  Value some = binary<arith::MaxUIOp>(size, indexConstant(1));
  Value present = lanesBelow(some, first);
  return arith::SelectOp::create(builder, loc, present, sum, zero);
}

// Which lanes have numbers less than `count`; the first one has the number `first`, or 0 if it is null.
Value LaneAccumulators::lanesBelow(Value count, Value first) {
  Value numbers = laneValues.laneNumbers();
  if (first)
    numbers = binary<arith::AddIOp>(numbers, laneValues.splat(first, lanes));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, numbers,
                               laneValues.splat(count, lanes));
}

// The sums plus the elements from `at` on, one for each lane.
FailureOr<Value> LaneAccumulators::addVector(linalg::GenericOp generic, ArrayRef<Index> loops, Value at,
                                             Value sum) {
  Scope scope(context);
  SmallVector<Index> inner(loops);
  reductionLoops.setIndex(generic, inner, {at, 1, nullptr});
  auto results = evaluator.applyBody(generic, inner, sum);
  if (failed(results))
    return failure();
  prefetcher.prefetchInReduction(generic, at);
  return laneValues.splat(results->front(), lanes);
}

// LLVM 22 merges a masked load, the operation that reads it and a select by the same mask into one
// instruction. When it takes that apart again, it loads all lanes, also those past the end of the memory.
// Between the operation and the select, this keeps it from merging them.
static Value withoutMerging(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<VectorType>(value.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth(), floatBits = 32;
  if (bits % floatBits != 0)
    return value; // no arithmetic of x86 has such a mask
  auto floats = VectorType::get(bits / floatBits, builder.getF32Type());
  Value bitcast = LLVM::BitcastOp::create(builder, loc, floats, value);
  Value fenced =
      LLVM::CallIntrinsicOp::create(builder, loc, floats, builder.getStringAttr("llvm.arithmetic.fence"),
                                    ValueRange{bitcast})
          .getResult(0);
  return LLVM::BitcastOp::create(builder, loc, type, fenced);
}

// One step in the lanes whose numbers are less than the count; the others keep their values.
FailureOr<SmallVector<Value>> LaneAccumulators::stepBelow(const Rest &rest, Value number,
                                                          ArrayRef<Value> values, Step step) {
  mask = lanesBelow(rest.count, number);
  FailureOr<SmallVector<Value>> next = step(binary<arith::AddIOp>(rest.at, number), values);
  if (failed(next))
    return failure();
  for (auto [value, before] : llvm::zip_equal(*next, values))
    value = arith::SelectOp::create(builder, loc, mask, withoutMerging(builder, loc, value), before);
  mask = nullptr;
  return next;
}

// What `then` makes of the values if the lane with this number has an element: a step that no lane takes
// costs nothing.
FailureOr<SmallVector<Value>> LaneAccumulators::ifAny(const Rest &rest, Value number, ArrayRef<Value> values,
                                                      Lanes then) {
  Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, rest.count);
  auto branch = scf::IfOp::create(builder, loc, TypeRange(ValueRange(values)), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, values);
  builder.setInsertionPointToStart(branch.thenBlock());
  FailureOr<SmallVector<Value>> next = then();
  if (failed(next))
    return failure();
  scf::YieldOp::create(builder, loc, *next);
  return SmallVector<Value>(branch.getResults());
}

// Lanes [lane, lane + width) of each value.
SmallVector<Value> LaneAccumulators::registersAt(ArrayRef<Value> values, int64_t lane, int64_t width) {
  return llvm::map_to_vector(values, [&](Value value) -> Value {
    return vector::ExtractStridedSliceOp::create(builder, loc, value, lane, width, int64_t(1));
  });
}

void LaneAccumulators::replaceRegisters(MutableArrayRef<Value> values, ArrayRef<Value> registers,
                                        int64_t lane) {
  for (auto [value, part] : llvm::zip_equal(values, registers))
    value = vector::InsertStridedSliceOp::create(builder, loc, part, value, lane, int64_t(1));
}

void LaneAccumulators::storeLanes(ArrayRef<Buffer> memory, ArrayRef<Value> values, Value lane) {
  for (auto [buffer, value] : llvm::zip_equal(memory, values))
    LLVM::StoreOp::create(builder, loc, toMemory(value), memoryAccess.pointerAt(buffer, lane),
                          memoryBytes(buffer.element));
}

SmallVector<Value> LaneAccumulators::loadLanes(ArrayRef<Buffer> memory, Value lane, int64_t count) {
  return llvm::map_to_vector(memory, [&](const Buffer &buffer) {
    Value loaded = LLVM::LoadOp::create(builder, loc, VectorType::get(count, memoryType(buffer.element)),
                                        memoryAccess.pointerAt(buffer, lane), memoryBytes(buffer.element));
    return fromMemory(loaded, buffer.element);
  });
}

// The lanes from `width` on, of all `values`, in a loop over their registers in memory.
FailureOr<SmallVector<Value>> LaneAccumulators::stepInLoop(const Rest &rest, ArrayRef<Value> values,
                                                           int64_t width, Step step) {
  int64_t all = cast<VectorType>(values.front().getType()).getNumElements();
  Value begin = rest.first ? rest.first : indexConstant(0);
  auto inMemory = [&]() -> FailureOr<SmallVector<Value>> {
    auto memory = llvm::map_to_vector(values, [&](Value value) -> Buffer {
      Type element = getElementTypeOrSelf(value);
      return {stackMemory.allocate(memoryType(element), all), element, {}, {}};
    });
    storeLanes(memory, values, indexConstant(0));
    Value end = binary<arith::MinUIOp>(binary<arith::SubIOp>(rest.count, begin), indexConstant(all));
    auto loop = scf::ForOp::create(builder, loc, indexConstant(width), end, indexConstant(width));
    builder.setInsertionPointToStart(loop.getBody());
    Value lane = loop.getInductionVar(), number = binary<arith::AddIOp>(begin, lane);
    FailureOr<SmallVector<Value>> next = stepBelow(rest, number, loadLanes(memory, lane, width), step);
    if (failed(next))
      return failure();
    storeLanes(memory, *next, lane);
    builder.setInsertionPointAfter(loop);
    return loadLanes(memory, indexConstant(0), all);
  };
  return ifAny(rest, binary<arith::AddIOp>(begin, indexConstant(width)), values, inMemory);
}

// Whether code is so long that the loop around it costs little: several functions, unlike those of a softmax.
static bool isLong(Region &code) {
  int expensive = 0;
  code.walk([&](Operation *op) { expensive += isExpensiveScalar(op); });
  return expensive > 1;
}

// Only registers with elements are computed, so that rows of a few elements do not pay for the lanes of long
// ones. Long code for each of them would be most of a kernel, and of the time to compile it: it is in the
// first one, and in a loop over the others.
FailureOr<SmallVector<Value>> LaneAccumulators::overRest(const Rest &rest, SmallVector<Value> values,
                                                         Step step) {
  std::optional<int64_t> known = rest.first ? std::nullopt : constantOf(rest.count);
  int64_t all = lanes, width = vectorLanes > 1 ? std::min(all, vectorLanes) : all;
  if (known)
    width = std::clamp<int64_t>(llvm::PowerOf2Ceil(*known), width, all);
  WithLanes registerCode(context, width, nullptr);
  for (int64_t lane = 0; lane < (known ? width : all); lane += width) {
    Value number = indexConstant(lane);
    number = rest.first ? binary<arith::AddIOp>(rest.first, number) : number;
    SmallVector<Value> parts = registersAt(values, lane, width);
    auto below = [&] { return stepBelow(rest, number, parts, step); };
    auto next = known ? below() : ifAny(rest, number, parts, below);
    if (failed(next))
      return failure();
    replaceRegisters(values, *next, lane);
    if (!known && lane == 0 && all > 2 * width &&
        isLong(next->front().getDefiningOp<scf::IfOp>().getThenRegion()))
      return stepInLoop(rest, values, width, step);
  }
  return values;
}

// The lanes of one chunk: element j goes to lane j mod `lanes`; the last, partial row of lanes is masked.
FailureOr<Value> LaneAccumulators::reduceChunk(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum,
                                               Value lower, Value upper) {
  return reduceChunk(generic, loops, sum, lower, upper, indexConstant(lanes), nullptr);
}

// The same for the vector of lanes that begins with lane `first` (null: lane 0), where the order has `wide`
// lanes.
FailureOr<Value> LaneAccumulators::reduceChunk(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum,
                                               Value lower, Value upper, Value wide, Value first) {
  auto fromFirst = [&](Value at) { return first ? binary<arith::AddIOp>(at, first) : at; };
  Value size = binary<arith::SubIOp>(upper, lower);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(size, wide), wide);
  Value mainEnd = binary<arith::AddIOp>(lower, whole);
  Value rest = binary<arith::SubIOp>(size, whole);
  if (constantOf(whole) != 0) {
    auto loop = scf::ForOp::create(builder, loc, fromFirst(lower), mainEnd, wide, sum);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> next = addVector(generic, loops, loop.getInductionVar(), loop.getRegionIterArg(0));
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    sum = loop.getResult(0);
  }
  if (constantOf(rest) != 0) {
    auto add = [&](Value at, ArrayRef<Value> sums) -> FailureOr<SmallVector<Value>> {
      FailureOr<Value> next = addVector(generic, loops, at, sums.front());
      if (failed(next))
        return failure();
      return SmallVector<Value>{*next};
    };
    FailureOr<SmallVector<Value>> sums = overRest({mainEnd, rest, first}, {sum}, add);
    if (failed(sums))
      return failure();
    sum = sums->front();
  }
  if (constantOf(whole).value_or(0) == 0 && isa<FloatType>(getElementTypeOrSelf(sum)) &&
      isa<math::FmaOp, arith::AddFOp>(combiningOp(generic)))
    return withoutAbsentLanes(sum, size, first);
  return sum;
}

Value LaneAccumulators::joinAllLanes(Value sum, llvm::function_ref<Value(Value, Value)> join) {
  return vector::ExtractOp::create(builder, loc, halve(sum, join, 1), ArrayRef<int64_t>{0});
}

// The tree that joins the lower half of the lanes with the upper one, down to `minLanes` lanes.
Value LaneAccumulators::halve(Value sum, llvm::function_ref<Value(Value, Value)> join, int64_t minLanes) {
  for (int64_t half = cast<VectorType>(sum.getType()).getNumElements() / 2; half >= minLanes; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(builder, loc, sum, ArrayRef<int64_t>{0},
                                                      ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(builder, loc, sum, ArrayRef<int64_t>{half},
                                                       ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    sum = join(low, high);
  }
  return sum;
}
