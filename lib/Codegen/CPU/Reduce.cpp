// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions in exactly the order that stands on the kernel: blocks of an ascending chain, or lanes and their
// halving tree, joined by a balanced pairwise tree (docs/numerics.md).

#include "KernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static std::optional<int64_t> constantOf(Value value) {
  return getConstantIntValue(getAsOpFoldResult(value));
}

// Null for one chain, which has nothing to join: the verifier keeps it from orders that join.
Operation *cpu::combiningOp(linalg::GenericOp generic) { return matchReduction(generic).combiner; }

Value KernelEmitter::joinValues(Operation *join, Value lhs, Value rhs) {
  return joinPartialResults(builder, loc, join, lhs, rhs);
}

bool KernelEmitter::usesLanes(linalg::GenericOp generic) {
  OrderAttr order = kernel.getOrderAttr();
  return order && order.isLanes() && generic.getNumResults() == 1 && generic.getNumReductionLoops() > 0;
}

static SmallVector<unsigned> reductionDims(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  return dims;
}

// Sets the reduced loops from one running index, the last loop fastest.
void KernelEmitter::setReductionIndex(linalg::GenericOp generic, SmallVectorImpl<Index> &loops,
                                      const Index &linear) {
  SmallVector<unsigned> dims = reductionDims(generic);
  if (dims.size() == 1) {
    loops[dims.front()] = linear;
    return;
  }
  bool isVector = linear.lanes || (linear.step != 0 && lanes > 1);
  Value rest = isVector ? laneVector(linear) : linear.base;
  for (auto [i, dim] : llvm::enumerate(llvm::reverse(dims))) {
    Value index = rest;
    if (i + 1 < dims.size()) {
      Value size = loopSize(generic, dim);
      if (isVector)
        size = splat(size, lanes);
      index = binary<arith::RemUIOp>(rest, size);
      rest = binary<arith::DivUIOp>(rest, size);
    }
    loops[dim] = isVector ? Index{nullptr, 0, index} : Index{index, 0, nullptr};
  }
}

// The extent of one loop, from an operand that it indexes directly.
Value KernelEmitter::loopSize(linalg::GenericOp generic, unsigned dim) {
  for (OpOperand &operand : generic->getOpOperands()) {
    AffineMap map = generic.getMatchingIndexingMap(&operand);
    for (auto [axis, expr] : llvm::enumerate(map.getResults()))
      if (auto d = dyn_cast<AffineDimExpr>(expr); d && d.getPosition() == dim)
        return sizeOf(operand.get(), axis);
  }
  return nullptr;
}

FailureOr<SmallVector<Value>> KernelEmitter::reduce(linalg::GenericOp generic, unsigned result,
                                                    ArrayRef<Position> positions) {
  FailureOr<SmallVector<Value>> all = reduceAll(generic, result, positions);
  if (failed(all) || generic.getNumResults() == 1)
    return all;
  SmallVector<Value> picked;
  for (size_t i = result; i < all->size(); i += generic.getNumResults())
    picked.push_back((*all)[i]);
  return picked;
}

FailureOr<SmallVector<Value>> KernelEmitter::wholeChain(linalg::GenericOp generic,
                                                        ArrayRef<SmallVector<Index>> loops,
                                                        ArrayRef<Value> start, ArrayRef<Position>) {
  return chain(generic, loops, start, indexConstant(0), reducedTotal(generic));
}

FailureOr<SmallVector<Value>> KernelEmitter::reduceAll(linalg::GenericOp generic, unsigned result,
                                                       ArrayRef<Position> positions) {
  SmallVector<SmallVector<Index>> loops;
  SmallVector<Value> start;
  AffineMap map = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result));
  for (const Position &position : positions) {
    loops.push_back(loopsFromOutput(generic, map, position));
    for (OpOperand &init : generic.getDpsInitsMutable()) {
      FailureOr<Value> identity = evaluateOne(init.get(), position);
      if (failed(identity))
        return failure();
      start.push_back(*identity);
    }
  }
  if (usesLanes(generic)) {
    SmallVector<Value> sums;
    for (auto [loop, identity, position] : llvm::zip_equal(loops, start, positions)) {
      FailureOr<Value> sum = reduceLanes(generic, loop, identity, position);
      if (failed(sum))
        return failure();
      sums.push_back(*sum);
    }
    return sums;
  }
  if (lanes > 1)
    for (Value &value : start)
      value = splat(value, lanes);
  if (generic.getNumResults() == 1)
    return reduceBlocks(generic, loops, start, positions);
  return wholeChain(generic, loops, start, positions);
}

FailureOr<SmallVector<Value>> KernelEmitter::reduceBlocks(linalg::GenericOp generic,
                                                          ArrayRef<SmallVector<Index>> loops,
                                                          ArrayRef<Value> identities,
                                                          ArrayRef<Position> positions) {
  // Sums of integers are the same in any order.
  if (dots.groupSize(generic) == kBytesPerLane)
    return byteDots.byteChain(generic, loops, identities);
  OrderAttr order = kernel.getOrderAttr();
  auto block = [&](Value lower, Value upper) { return chain(generic, loops, identities, lower, upper); };
  if (!order || order.isLanes())
    return block(indexConstant(0), reducedTotal(generic));
  int64_t together = interleaver.interleavedBlocks(generic, loops);
  if (together == 1)
    return orderedTree(generic, identities, positions, block, 1);
  auto group = [&](Value lower, Value upper) {
    return interleaver.interleavedGroup(generic, loops, identities, lower, upper, together);
  };
  return orderedTree(generic, identities, positions, group, together);
}

// acc = body(k, acc) for ascending k, all positions in one loop. `start` holds the accumulators of each
// position in turn.
FailureOr<SmallVector<Value>> KernelEmitter::chain(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                   Value lower, Value upper) {
  if (failed(hoistReduced(generic, loops)))
    return failure();
  if (dots.groupSize(generic) == 2) {
    if (recorded.insert(generic).second)
      recordNumericsUse(generic.getLoc(), "dot-product-instruction", Permissions::mma);
    lower = binary<arith::DivUIOp>(lower, indexConstant(2));
    upper = binary<arith::DivUIOp>(upper, indexConstant(2));
  }
  if (generic.getNumResults() == 1 && !registerTranspose.operandsToTranspose(generic, loops.front()).empty())
    return registerTranspose.transposedChain(generic, loops, start, lower, upper);
  return plainChain(generic, loops, start, lower, upper);
}

// The positions of a tile, which come vector by vector. Row by row, one element of a row and one vector for
// each column are in registers at a time: fewer, where a tile has more rows than vectors.
static SmallVector<size_t> orderForRegisters(ArrayRef<SmallVector<Index>> loops) {
  llvm::SmallDenseSet<Value> columns;
  for (const SmallVector<Index> &position : loops)
    for (const Index &index : position)
      if (index.step != 0)
        columns.insert(index.base);
  size_t vectors = std::max<size_t>(columns.size(), 1), rows = loops.size() / vectors;
  auto order = llvm::to_vector(llvm::seq<size_t>(0, loops.size()));
  if (rows > vectors && rows * vectors == loops.size())
    for (size_t i : llvm::seq<size_t>(0, loops.size()))
      order[i] = i % vectors * rows + i / vectors;
  return order;
}

FailureOr<SmallVector<Value>> KernelEmitter::plainChain(linalg::GenericOp generic,
                                                        ArrayRef<SmallVector<Index>> loops,
                                                        ArrayRef<Value> start, Value lower, Value upper) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  SmallVector<Value> next(loop.getRegionIterArgs());
  unsigned count = generic.getNumResults();
  for (size_t i : orderForRegisters(loops))
    if (failed(chainStep(generic, loops[i], loop.getInductionVar(),
                         MutableArrayRef(next).slice(i * count, count))))
      return failure();
  if (dots.groupSize(generic) == 1)
    prefetcher.fetchNextTile(generic, loops, loop.getInductionVar());
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

// One step of the chain of one position: `sums` holds its accumulators, and then the next ones.
LogicalResult KernelEmitter::chainStep(linalg::GenericOp generic, ArrayRef<Index> loops, Value k,
                                       MutableArrayRef<Value> sums) {
  SmallVector<Index> inner(loops);
  setReductionIndex(generic, inner, {k, 0, nullptr});
  int64_t group = dots.groupSize(generic);
  auto results = group == 1   ? applyBody(generic, inner, sums)
                 : group == 2 ? dots.addDotProduct(generic, inner, sums.front())
                              : byteDots.addByteProducts(generic, inner, sums.front());
  if (failed(results))
    return failure();
  for (auto [sum, value] : llvm::zip_equal(sums, *results))
    sum = isa<VectorType>(sum.getType()) ? splat(value, lanes) : value;
  return success();
}

FailureOr<Value> KernelEmitter::reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops,
                                            Value identity, const Position &position) {
  if (lanes != 1 && rowReductions.sumsRowsTogether(generic))
    return rowReductions.reduceRows(generic, loops, identity);
  if (lanes != 1)
    return generic.emitOpError("sums over lanes inside vector code; this kernel needs another shape");
  OrderAttr order = kernel.getOrderAttr();
  auto chunk = [&](Value lower, Value upper) -> FailureOr<SmallVector<Value>> {
    FailureOr<Value> sum = laneChunk(generic, loops, identity, lower, upper, order.getLanes());
    if (failed(sum))
      return failure();
    return SmallVector<Value>{*sum};
  };
  auto sums = orderedTree(generic, identity, position, chunk, 1);
  if (failed(sums))
    return failure();
  rowCache.endPass();
  return sums->front();
}

// Lanes that no element has gone to take part in no join: they hold -0, which every sum keeps. What started
// from +0 would turn the -0 of a product that underflows.
Value KernelEmitter::withoutAbsentLanes(Value sum, Value size) {
  auto type = cast<VectorType>(sum.getType());
  Value zero = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), -0.0)));
  // Of no elements at all the sum is what it starts from.
  Value some = binary<arith::MaxUIOp>(size, indexConstant(1));
  Value present = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, laneNumbers(),
                                        splat(some, type.getNumElements()));
  return arith::SelectOp::create(builder, loc, present, sum, zero);
}

// The lanes of one chunk: element j goes to lane j mod `lanes`; the last, partial row of lanes is masked.
FailureOr<Value> KernelEmitter::laneSums(linalg::GenericOp generic, ArrayRef<Index> loops, Value sum,
                                         Value lower, Value upper) {
  int64_t count = lanes;
  Value wide = indexConstant(count);
  Value size = binary<arith::SubIOp>(upper, lower);
  Value whole = binary<arith::MulIOp>(binary<arith::DivUIOp>(size, wide), wide);
  Value mainEnd = binary<arith::AddIOp>(lower, whole);
  Value rest = binary<arith::SubIOp>(size, whole);
  auto step = [&](Value at, Value acc) -> FailureOr<Value> {
    Scope scope(*this);
    SmallVector<Index> inner(loops);
    setReductionIndex(generic, inner, {at, 1, nullptr});
    auto results = applyBody(generic, inner, acc);
    if (failed(results))
      return failure();
    prefetcher.fetchInSum(generic, at);
    return splat(results->front(), count);
  };
  if (constantOf(whole) != 0) {
    auto loop = scf::ForOp::create(builder, loc, lower, mainEnd, wide, sum);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    FailureOr<Value> next = step(loop.getInductionVar(), loop.getRegionIterArg(0));
    if (failed(next))
      return failure();
    scf::YieldOp::create(builder, loc, *next);
    sum = loop.getResult(0);
  }
  if (constantOf(rest) != 0) {
    // With nothing left the mask is empty, and the select keeps the sum.
    mask = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, laneNumbers(), splat(rest, count));
    FailureOr<Value> next = step(mainEnd, sum);
    if (failed(next))
      return failure();
    sum = arith::SelectOp::create(builder, loc, mask, *next, sum);
    mask = nullptr;
  }
  if (constantOf(whole).value_or(0) == 0 && isa<FloatType>(getElementTypeOrSelf(sum)) &&
      isa<math::FmaOp, arith::AddFOp>(combiningOp(generic)))
    return withoutAbsentLanes(sum, size);
  return sum;
}

// One chunk: the sums of its lanes, and then the tree.
FailureOr<Value> KernelEmitter::laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                          Value lower, Value upper, int64_t count) {
  if (failed(hoistReduced(generic, loops)))
    return failure();
  WithLanes laneCode(*this, count, nullptr);
  Value start = splat(identity, count), wide = indexConstant(count);
  auto exactly = [&]() -> FailureOr<Value> {
    FailureOr<Value> sums = laneSums(generic, loops, start, lower, upper);
    if (failed(sums))
      return failure();
    Operation *join = combiningOp(generic);
    return joinAllLanes(*sums, [&](Value low, Value high) { return joinValues(join, low, high); });
  };
  Value size = binary<arith::SubIOp>(upper, lower);
  std::optional<int64_t> rest = constantOf(binary<arith::RemUIOp>(size, wide));
  bool isWhole = rest == 0 && constantOf(binary<arith::DivUIOp>(size, wide)) != 0;
  if (isWhole && minMax.isPlainExtreme(generic))
    return minMax.extremeOfLanes(generic, loops, {lower, upper, wide}, start, exactly);
  return exactly();
}

Value KernelEmitter::joinAllLanes(Value sum, llvm::function_ref<Value(Value, Value)> join) {
  return vector::ExtractOp::create(builder, loc, halve(sum, join, 1), ArrayRef<int64_t>{0});
}

// The tree that joins the lower half of the lanes with the upper one, down to `most` lanes.
Value KernelEmitter::halve(Value sum, llvm::function_ref<Value(Value, Value)> join, int64_t most) {
  for (int64_t half = cast<VectorType>(sum.getType()).getNumElements() / 2; half >= most; half /= 2) {
    Value low = vector::ExtractStridedSliceOp::create(builder, loc, sum, ArrayRef<int64_t>{0},
                                                      ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    Value high = vector::ExtractStridedSliceOp::create(builder, loc, sum, ArrayRef<int64_t>{half},
                                                       ArrayRef<int64_t>{half}, ArrayRef<int64_t>{1});
    sum = join(low, high);
  }
  return sum;
}
