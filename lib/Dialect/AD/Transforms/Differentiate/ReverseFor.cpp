// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reverse of scf.for: a loop over the iterations from the last to the first. It reads the values at the
// start of each iteration, and the results of contractions, from tapes, computes the rest of the body again
// and reverses it. It carries the cotangents of the forward loop's carries, and one sum for each value that
// the body captures. The sum of a value of which the body reads only parts starts with what later uses
// contribute, and each part is added in place.

#include "Loops.h"
#include "Reverse.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Interfaces/DerivativeTypeInterface.h"
#include "adjoint/Support/TripCount.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
/// A value of the forward loop, and its placeholder in the reverse body until it is known whether it is
/// needed there. The placeholder is before the reverse loop, where erasing dead operations of the body
/// leaves it alone.
struct Placeholder {
  Saved saved;
  Operation *operation;
  /// For the value that the iteration yields to the carry, if it is saved too.
  Operation *yielded = nullptr;

  bool isUsed() const { return !operation->use_empty() || (yielded && !yielded->use_empty()); }
};

} // namespace

struct Reverser::ReverseLoop {
  scf::ForOp forward, reversed;
  LoopBounds bounds;
  /// Indices of the carries that have a cotangent, and the captured values that have one.
  SmallVector<unsigned> carries;
  SmallVector<Value> captured;
  /// For each captured value the sum that the loop continues; null if the loop starts from zeros.
  SmallVector<Value> sumsSoFar;
  SmallVector<Placeholder> placeholders;
  /// From operations of the reverse body to the operations of the forward body that they are copies of.
  DenseMap<Operation *, Operation *> originals;
};

static bool isInvariant(scf::ForOp loop, unsigned carry) {
  return loop.getYieldedValues()[carry] == loop.getRegionIterArg(carry);
}

// The number of the forward iteration, in the reverse body.
static Value forwardIteration(Reverser::ReverseLoop &state, OpBuilder &builder) {
  Location loc = state.forward.getLoc();
  if (std::optional<int64_t> trips = getConstantIntValue(state.bounds.trips)) {
    Value last = arith::ConstantIndexOp::create(builder, loc, *trips - 1);
    return arith::SubIOp::create(builder, loc, last, state.reversed.getInductionVar());
  }
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value last = arith::SubIOp::create(builder, loc, asValue(builder, loc, state.bounds.trips), one);
  return arith::SubIOp::create(builder, loc, last,
                               iterationNumber(builder, loc, state.reversed, state.bounds));
}

// The forward induction variable. It is right modulo the width of its type, which the casts and sums keep.
static Value forwardIndex(Reverser::ReverseLoop &state, OpBuilder &builder) {
  Location loc = state.forward.getLoc();
  auto asIndex = [&](OpFoldResult bound) -> Value {
    if (std::optional<int64_t> constant = getConstantIntValue(bound))
      return arith::ConstantIndexOp::create(builder, loc, *constant);
    Value value = cast<Value>(bound);
    return value.getType().isIndex()
               ? value
               : arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value).getResult();
  };
  Value index = forwardIteration(state, builder);
  if (!isConstantIntValue(state.bounds.step, 1))
    index = arith::MulIOp::create(builder, loc, index, asIndex(state.bounds.step));
  if (!isConstantIntValue(state.bounds.lower, 0))
    index = arith::AddIOp::create(builder, loc, index, asIndex(state.bounds.lower));
  Type type = state.forward.getInductionVar().getType();
  return type.isIndex() ? index : arith::IndexCastOp::create(builder, loc, type, index).getResult();
}

static void addPlaceholder(Reverser::ReverseLoop &state, Saved saved, IRMapping &copies, OpBuilder &outside) {
  auto operation = UnrealizedConversionCastOp::create(outside, state.forward.getLoc(),
                                                      TypeRange(saved.value.getType()), ValueRange());
  copies.map(saved.value, operation.getResult(0));
  state.placeholders.push_back({std::move(saved), operation});
}

// Maps the values that an iteration starts from. A carry that no iteration changes is its initial value.
static IRMapping mapStartOfIteration(Reverser::ReverseLoop &state, OpBuilder &outside, OpBuilder &builder) {
  IRMapping copies;
  scf::ForOp loop = state.forward;
  copies.map(loop.getInductionVar(), forwardIndex(state, builder));
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
    Value init = loop.getInitArgs()[index];
    if (isInvariant(loop, index) && !carriesDerivative(argument.getType())) {
      copies.map(argument, init);
      continue;
    }
    // In front of the forward loop, since the tape needs the sizes too.
    OpBuilder before(loop, builder.getListener());
    SmallVector<Value> sizes;
    if (isa<RankedTensorType>(init.getType()))
      sizes = dynamicSizes(before, loop.getLoc(), init);
    addPlaceholder(state, {argument, sizes}, copies, outside);
  }
  for (Operation *effect : effectsWithResults(loop))
    for (Value result : effect->getResults())
      addPlaceholder(state, {result, llvm::to_vector(effect->getOperands())}, copies, outside);
  return copies;
}

static void recordOriginals(Reverser::ReverseLoop &state, const IRMapping &copies) {
  for (Operation &op : *state.forward.getBody())
    for (Value result : op.getResults())
      if (Operation *copy = copies.contains(result) ? copies.lookup(result).getDefiningOp() : nullptr)
        state.originals[copy] = &op;
}

// Collects the reads of parts of the value in the reverse body. False if the value has other uses.
static bool collectReads(Reverser::ReverseLoop &state, Value value, llvm::SetVector<Operation *> &reads) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (!state.originals.contains(user) || user->getNumResults() != 1)
      return false;
    if (!readsPart(use))
      return collectReads(state, user->getResult(0), reads);
    auto type = dyn_cast<RankedTensorType>(user->getResult(0).getType());
    reads.insert(user);
    return type && type.hasStaticShape() && canBeSaved(type);
  });
}

static int64_t elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements() : std::numeric_limits<int64_t>::max();
}

// Saves only the parts of a carry if the reverse body uses no other element. Otherwise a loop that updates
// one row per iteration would save all rows in each iteration.
static void savePartsOfCarries(Reverser::ReverseLoop &state, Activity &activity, OpBuilder &builder) {
  OpBuilder outside(state.reversed, builder.getListener());
  for (size_t index = 0; index < state.placeholders.size(); ++index) {
    Value used = state.placeholders[index].operation->getResult(0),
          saved = state.placeholders[index].saved.value;
    llvm::SetVector<Operation *> reads;
    int64_t elements = 0;
    if (!isa<BlockArgument>(saved) || used.use_empty() || !collectReads(state, used, reads))
      continue;
    for (Operation *read : reads)
      elements += elementsOf(read->getResult(0).getType());
    if (elements >= elementsOf(saved.getType()))
      continue;
    for (Operation *read : reads) {
      IRMapping ignored;
      addPlaceholder(state, {state.originals.lookup(read)->getResult(0), {}}, ignored, outside);
      read->getResult(0).replaceAllUsesWith(state.placeholders.back().operation->getResult(0));
    }
    eraseDead(*state.reversed.getBody(), &activity);
  }
}

// The copy of the value in the reverse body, or null.
static Value copyOf(Reverser::ReverseLoop &state, Value value) {
  for (Operation &op : *state.reversed.getBody())
    if (value.getDefiningOp() && state.originals.lookup(&op) == value.getDefiningOp())
      return op.getResult(cast<OpResult>(value).getResultNumber());
  return Value();
}

// Saves results of contractions that the reverse body uses and that take long to compute.
static void saveContractions(Reverser::ReverseLoop &state, Activity &activity, OpBuilder &builder) {
  OpBuilder outside(state.reversed, builder.getListener()), before(state.forward, builder.getListener());
  for (Operation &op : *state.reversed.getBody()) {
    Operation *original = state.originals.lookup(&op);
    if (!original || op.use_empty())
      continue;
    std::optional<Saved> saved = savedContraction(state.forward, original, before);
    if (!saved)
      continue;
    IRMapping ignored;
    addPlaceholder(state, *saved, ignored, outside);
    op.getResult(0).replaceAllUsesWith(state.placeholders.back().operation->getResult(0));
  }
  eraseDead(*state.reversed.getBody(), &activity);
}

// If a carry is on a tape, the value that an iteration yields to it is in the next row. A reverse body that
// uses this value, such as the derivative of tanh, reads it there instead of computing it again.
static void saveYieldedCarries(Reverser::ReverseLoop &state, Activity &activity, OpBuilder &builder) {
  OpBuilder outside(state.reversed, builder.getListener());
  scf::ForOp loop = state.forward;
  for (Placeholder &placeholder : state.placeholders) {
    auto argument = dyn_cast<BlockArgument>(placeholder.saved.value);
    if (!argument || !isa<RankedTensorType>(argument.getType()) || placeholder.operation->use_empty() ||
        isInvariant(loop, argument.getArgNumber() - 1))
      continue;
    Value copy = copyOf(state, loop.getYieldedValues()[argument.getArgNumber() - 1]);
    if (!copy || copy.use_empty() || copy.getType() != argument.getType())
      continue;
    placeholder.saved.withYielded = true;
    placeholder.yielded = UnrealizedConversionCastOp::create(outside, loop.getLoc(),
                                                             TypeRange(argument.getType()), ValueRange());
    copy.replaceAllUsesWith(placeholder.yielded->getResult(0));
  }
  eraseDead(*state.reversed.getBody(), &activity);
}

static void replaceByTape(Operation *operation, Value value, Activity &activity) {
  activity.forget(operation->getResult(0));
  operation->replaceAllUsesWith(ValueRange(value));
  operation->erase();
}

// The placeholders that the reverse body uses; the others are erased.
static SmallVector<Placeholder> usedPlaceholders(Reverser::ReverseLoop &state, Activity &activity) {
  scf::ForOp loop = state.forward;
  SmallVector<Placeholder> needed;
  for (Placeholder &placeholder : state.placeholders) {
    Value value = placeholder.operation->getResult(0);
    auto argument = dyn_cast<BlockArgument>(placeholder.saved.value);
    if (argument && isInvariant(loop, argument.getArgNumber() - 1))
      value.replaceAllUsesWith(loop.getInitArgs()[argument.getArgNumber() - 1]);
    if (placeholder.isUsed()) {
      needed.push_back(placeholder);
      continue;
    }
    activity.forget(value);
    placeholder.operation->erase();
    if (placeholder.yielded)
      placeholder.yielded->erase();
  }
  return needed;
}

// Makes the forward loop write the values to tapes.
static TapedLoop tape(Reverser::ReverseLoop &state, ArrayRef<Placeholder> needed, Activity &activity,
                      OpBuilder &builder) {
  scf::ForOp loop = state.forward;
  SmallVector<Value> before(loop.getResults());
  llvm::append_range(before, loop.getBody()->getArguments());
  TapedLoop taped = saveOnTapes(loop, state.bounds,
                                llvm::map_to_vector(needed, [](auto &one) { return one.saved; }), builder);
  SmallVector<Value> after(taped.loop.getResults().take_front(taped.loop.getNumResults() - needed.size()));
  llvm::append_range(after, taped.loop.getBody()->getArguments().drop_back(needed.size()));
  for (auto [value, by] : llvm::zip(before, after))
    activity.replace(value, by);
  state.forward = taped.loop; // the loop before taping is erased
  return taped;
}

// Replaces the placeholders that the reverse body uses by reads of tapes.
static void replacePlaceholders(Reverser::ReverseLoop &state, Activity &activity, OpBuilder &builder) {
  saveContractions(state, activity, builder);
  savePartsOfCarries(state, activity, builder);
  saveYieldedCarries(state, activity, builder);
  SmallVector<Placeholder> needed = usedPlaceholders(state, activity);
  if (needed.empty())
    return;
  TapedLoop taped = tape(state, needed, activity, builder);

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(state.reversed.getBody());
  Value iteration = forwardIteration(state, builder);
  for (auto [placeholder, rows] : llvm::zip(needed, taped.tapes)) {
    auto read = [&, &one = placeholder, from = rows](Operation *operation, Value row) {
      Type type = operation->getResult(0).getType();
      return readTape(builder, taped.loop.getLoc(), type, from, row, one.saved.sizes);
    };
    replaceByTape(placeholder.operation, read(placeholder.operation, iteration), activity);
    if (!placeholder.yielded)
      continue;
    Value step = arith::ConstantIndexOp::create(builder, taped.loop.getLoc(), 1);
    Value next = arith::AddIOp::create(builder, taped.loop.getLoc(), iteration, step);
    replaceByTape(placeholder.yielded, read(placeholder.yielded, next), activity);
  }
}

// The reverse loop, which has the bounds of the forward loop where these are values: a step that is not
// positive is an error of this loop too, since the forward loop goes if nothing reads its results.
static scf::ForOp createEmptyLoop(Reverser::ReverseLoop &state, ValueRange inits, OpBuilder &builder) {
  scf::ForOp loop = state.forward;
  Location loc = loop.getLoc();
  auto noBody = [](OpBuilder &, Location, Value, ValueRange) {};
  if (!state.bounds.areStatic())
    return scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
                              noBody, loop.getUnsignedCmp());
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); };
  return scf::ForOp::create(builder, loc, constant(0), constant(*getConstantIntValue(state.bounds.trips)),
                            constant(1), inits, noBody);
}

// Starts the reverse loop: cotangents of the results, then zero sums.
static void createLoop(Reverser::ReverseLoop &state, ArrayRef<Value> ofResults, const Cotangents &cotangents,
                       OpBuilder &builder) {
  Location loc = state.forward.getLoc();
  SmallVector<Value> inits;
  for (unsigned index : state.carries) {
    Value cotangent = ofResults[index];
    inits.push_back(cotangent ? cotangent : zerosLike(builder, loc, state.forward.getInitArgs()[index]));
  }
  for (auto [value, sum] : llvm::zip(state.captured, state.sumsSoFar))
    inits.push_back(sum ? sum : cotangents.zeroSum(builder, loc, value));
  state.reversed = createEmptyLoop(state, inits, builder);
  builder.setInsertionPointToStart(state.reversed.getBody());
}

// One iteration, from the cotangents that the loop carries to those of the iteration before.
LogicalResult Reverser::reverseIteration(ReverseLoop &state, SumType sumType, OpBuilder &builder) {
  scf::ForOp loop = state.forward;
  Location loc = loop.getLoc();
  OpBuilder outside(state.reversed, builder.getListener());
  IRMapping copies = mapStartOfIteration(state, outside, builder);
  SmallVector<Operation *> ops = recompute(*loop.getBody(), copies, builder);
  recordOriginals(state, copies);

  Cotangents inIteration(sumType);
  SmallVector<Value> carried(state.reversed.getRegionIterArgs()), yielded, added;
  ArrayRef<Value> sums = ArrayRef(carried).drop_front(state.carries.size());
  for (auto [value, sum] : llvm::zip(state.captured, sums))
    inIteration.continueFrom(value, sum);
  for (auto [index, cotangent] : llvm::zip(state.carries, carried)) {
    Value value = loop.getYieldedValues()[index];
    yielded.push_back(copies.lookupOrDefault(value));
    added.push_back(activity.isActive(value) ? cotangent : Value());
  }
  inIteration.addInOrder(yielded, added);
  if (failed(reverse(ops, inIteration, builder)))
    return failure();

  SmallVector<Value> yields;
  for (unsigned index : state.carries) {
    Value argument = copies.lookup(loop.getRegionIterArg(index));
    Value cotangent = inIteration.take(builder, loc, argument);
    yields.push_back(cotangent ? cotangent : zerosLike(builder, loc, loop.getInitArgs()[index]));
  }
  for (Value value : state.captured)
    yields.push_back(inIteration.takeSum(builder, loc, value));
  scf::YieldOp::create(builder, loc, yields);
  eraseDead(*state.reversed.getBody(), &activity);
  return success();
}

LogicalResult Reverser::reverseFor(scf::ForOp loop, Cotangents &cotangents, OpBuilder &builder) {
  SmallVector<Value> ofResults;
  for (Value result : loop.getResults())
    ofResults.push_back(cotangents.take(builder, loop.getLoc(), result));
  if (llvm::none_of(ofResults, [](Value value) { return static_cast<bool>(value); }))
    return success();

  if (staticTripCount(loop) == uint64_t(0)) {
    cotangents.addInOrder(loop.getInitArgs(), ofResults);
    return success();
  }
  ReverseLoop state;
  state.forward = loop;
  OpBuilder before(loop, builder.getListener());
  state.bounds = boundsOf(loop, before);
  state.captured = activity.activeCaptures(loop);
  state.sumsSoFar = takeSumsOfParts(loop, state.captured, cotangents, builder);
  for (unsigned index = 0; index < loop.getNumResults(); ++index)
    if (activity.isActive(loop.getRegionIterArg(index)) || activity.isActive(loop.getResult(index)))
      state.carries.push_back(index);

  OpBuilder::InsertionGuard guard(builder);
  createLoop(state, ofResults, cotangents, builder);
  if (failed(reverseIteration(state, cotangents.getSumType(), builder)))
    return failure();

  // The loop is replaced if values are saved; its initial values stay.
  SmallVector<Value> sources, sums;
  for (auto [position, index] : llvm::enumerate(state.carries)) {
    Value init = loop.getInitArgs()[index];
    sources.push_back(init);
    sums.push_back(activity.isActive(init) ? state.reversed.getResult(position) : Value());
  }
  replacePlaceholders(state, activity, builder);
  addSums(cotangents, state.captured, state.sumsSoFar,
          state.reversed.getResults().drop_front(state.carries.size()));
  cotangents.addInOrder(sources, sums);
  return success();
}
