// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions in the order of their kernel (docs/numerics.md). The elements become partial results: a
// dimension for the parts (blocks or chunks), and one for the lanes of a part. Each partial result is a
// chain. Halves of the lanes are joined, and then neighbouring parts, as tensors.

#include "Orders.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::plain;

namespace {
class OrderedReduction {
public:
  OrderedReduction(OpBuilder &builder, linalg::GenericOp generic, const ReductionStructure &structure)
      : builder(builder), loc(generic.getLoc()), generic(generic), structure(structure),
        element(getElementTypeOrSelf(generic.getResult(0).getType())) {
    readOrder();
    for (Range range : cast<linalg::LinalgOp>(generic.getOperation()).createLoopRanges(builder, loc))
      extents.push_back(range.size);
    generic.getReductionDims(reduced);
    generic.getParallelDims(parallel);
    for (unsigned loop : parallel)
      points.push_back(extents[loop]);
    count = builder.getIndexAttr(1);
    for (unsigned loop : reduced)
      count = mulSizes(builder, loc, count, extents[loop]);
    known = getConstantIntValue(count);
    startsFromOuts = !startsAtNeutral(generic, structure);
  }

  /// Whether the operation already is what the order says: one chain, which starts from the outs.
  bool isOneChain() const {
    return !startsFromOuts && lanes == 1 && (length == 0 || (known && *known <= length));
  }

  Value lower() {
    // Upstream refuses slices of axes without elements.
    if (llvm::any_of(points, [](OpFoldResult size) { return getConstantIntValue(size) == 0; }))
      return generic.getDpsInits()[0];
    Value partial = reducesEvenly() ? reduceAlongDimensions() : reduceByLoops();
    return finish(joinParts(joinLanes(partial)));
  }

private:
  void readOrder() {
    OrderAttr order = orderOfKernel(generic);
    if (!order || order.isChain())
      return;
    lanes = order.hasLanes() ? order.getLanes() : 1;
    length = order.getPartLength();
  }

  Type typeOf(ArrayRef<OpFoldResult> shape) {
    SmallVector<int64_t> sizes;
    for (OpFoldResult size : shape)
      sizes.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    return RankedTensorType::get(sizes, element);
  }

  Value startValue(OpBuilder &at) {
    TypedAttr start = structure.neutral;
    if (!startsFromOuts) { // a sum may also start from the other zero
      auto fill = generic.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
      matchPattern(fill.getInputs()[0], m_Constant(&start));
    }
    return arith::ConstantOp::create(at, loc, start);
  }

  /// How many parts there are. There is one for no elements, too, which has what sums start from.
  OpFoldResult partCount() {
    if (length == 0)
      return builder.getIndexAttr(1);
    if (known)
      return builder.getIndexAttr(std::max<int64_t>(1, llvm::divideCeil(*known, length)));
    AffineExpr size = builder.getAffineSymbolExpr(0);
    AffineMap map =
        AffineMap::get(0, 1, {builder.getAffineConstantExpr(1), size.ceilDiv(length)}, builder.getContext());
    return affine::makeComposedFoldedAffineMax(builder, loc, map, count);
  }

  SmallVector<OpFoldResult> partialShape(int64_t laneCount) {
    SmallVector<OpFoldResult> shape(points);
    shape.push_back(parts);
    shape.push_back(builder.getIndexAttr(laneCount));
    return shape;
  }

  //===- Chains -----------------------------------------------------------===//

  /// Whether all chains have the same number of elements, which are neighbours along one loop.
  bool reducesEvenly() const {
    if (reduced.size() != 1 || !known || *known == 0)
      return false;
    if (length == 0)
      return true;
    return *known % length == 0 || (*known < length && *known % lanes == 0);
  }

  /// Dimensions: those of the result, parts, lanes, and the elements of a chain.
  Value reduceAlongDimensions() {
    parts = partCount();
    int64_t partLength = length == 0 ? *known : std::min(length, *known);
    unsigned rank = points.size();
    AffineExpr part = builder.getAffineDimExpr(rank), lane = builder.getAffineDimExpr(rank + 1),
               step = builder.getAffineDimExpr(rank + 2);
    SmallVector<AffineExpr> moved(extents.size());
    for (auto [position, loop] : llvm::enumerate(parallel))
      moved[loop] = builder.getAffineDimExpr(position);
    moved[reduced.front()] = part * partLength + lane + step * lanes;
    SmallVector<AffineMap> maps;
    SmallVector<Value> inputs(generic.getDpsInputs());
    for (OpOperand *input : generic.getDpsInputOperands())
      maps.push_back(generic.getMatchingIndexingMap(input).replaceDimsAndSymbols(moved, {}, rank + 3, 0));
    // linalg takes the sizes of loops from operands, and no other one has a dimension for the chains.
    inputs.push_back(tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>{partLength / lanes}, element));
    maps.push_back(AffineMap::get(rank + 3, 0, step));
    maps.push_back(
        AffineMap::getMultiDimIdentityMap(rank + 3, builder.getContext()).getMajorSubMap(rank + 2));
    SmallVector<utils::IteratorType> iterators(rank + 2, utils::IteratorType::parallel);
    iterators.push_back(utils::IteratorType::reduction);
    Value empty = tensor::EmptyOp::create(builder, loc, partialShape(lanes), element);
    Value start = linalg::FillOp::create(builder, loc, startValue(builder), empty).getResult(0);
    auto made = linalg::GenericOp::create(builder, loc, start.getType(), inputs, start, maps, iterators,
                                          [&](OpBuilder &nested, Location, ValueRange arguments) {
                                            SmallVector<Value> loops(extents.size()), own;
                                            for (unsigned loop = 0; loop < rank + 3; ++loop)
                                              own.push_back(linalg::IndexOp::create(nested, loc, loop));
                                            for (auto [loop, index] : llvm::enumerate(moved))
                                              loops[loop] = indexValue(nested, loc, index, own);
                                            IRMapping mapping;
                                            mapping.map(generic.getRegionInputArgs(),
                                                        arguments.take_front(generic.getNumDpsInputs()));
                                            yieldNext(nested, mapping, loops, arguments.back());
                                          });
    return made.getResult(0);
  }

  Value next(OpBuilder &nested, IRMapping &mapping, ValueRange loops, Value accumulator) {
    mapping.map(generic.getRegionOutputArgs().front(), accumulator);
    cloneBody(nested, generic, loops, mapping);
    return mapping.lookupOrDefault(generic.getBlock()->getTerminator()->getOperand(0));
  }

  void yieldNext(OpBuilder &nested, IRMapping &mapping, ValueRange loops, Value accumulator) {
    linalg::YieldOp::create(nested, loc, next(nested, mapping, loops, accumulator));
  }

  /// A loop of scalar code for each partial result: for sizes that parts do not divide, sequences over
  /// several loops, and dynamic sizes.
  Value reduceByLoops() {
    parts = partCount();
    unsigned rank = points.size();
    return makePointwise(
        builder, loc, {}, partialShape(lanes), element, [&](OpBuilder &nested, ValueRange) -> Value {
          SmallVector<Value> loops(extents.size());
          for (auto [position, loop] : llvm::enumerate(parallel))
            loops[loop] = linalg::IndexOp::create(nested, loc, position);
          Value part = linalg::IndexOp::create(nested, loc, rank);
          Value lane = linalg::IndexOp::create(nested, loc, rank + 1);
          auto [begin, end] = boundsOfPart(nested, part, lane);
          Value step = arith::ConstantIndexOp::create(nested, loc, lanes);
          auto chain = scf::ForOp::create(
              nested, loc, begin, end, step, startValue(nested),
              [&](OpBuilder &inner, Location, Value position, ValueRange accumulator) {
                placeInSequence(inner, position, loops);
                IRMapping mapping;
                scf::YieldOp::create(inner, loc, next(inner, mapping, loops, accumulator.front()));
              });
          return chain.getResult(0);
        });
  }

  /// The first element of a lane, and the end of its part.
  std::pair<Value, Value> boundsOfPart(OpBuilder &nested, Value part, Value lane) {
    if (length == 0)
      return {lane, getValueOrCreateConstantIndexOp(nested, loc, count)};
    AffineExpr first = nested.getAffineDimExpr(0), second = nested.getAffineDimExpr(1),
               size = nested.getAffineSymbolExpr(0);
    OpFoldResult begin = affine::makeComposedFoldedAffineApply(
        nested, loc, AffineMap::get(2, 0, first * length + second), {part, lane});
    AffineMap ends = AffineMap::get(1, 1, {first * length + length, size}, nested.getContext());
    OpFoldResult end = affine::makeComposedFoldedAffineMin(nested, loc, ends, {part, count});
    return {getValueOrCreateConstantIndexOp(nested, loc, begin),
            getValueOrCreateConstantIndexOp(nested, loc, end)};
  }

  /// The reduced loops at a position of the sequence, in which the last loop is the fastest.
  void placeInSequence(OpBuilder &nested, Value position, MutableArrayRef<Value> loops) {
    for (unsigned loop : llvm::reverse(ArrayRef(reduced).drop_front())) {
      Value extent = getValueOrCreateConstantIndexOp(nested, loc, extents[loop]);
      loops[loop] = arith::RemUIOp::create(nested, loc, position, extent);
      position = arith::DivUIOp::create(nested, loc, position, extent);
    }
    loops[reduced.front()] = position;
  }

  //===- Trees ------------------------------------------------------------===//

  Value join(OpBuilder &nested, Value left, Value right) {
    return joinPartialResults(nested, loc, structure.combiner, left, right);
  }

  /// `size` elements of the last axis from `offset` on.
  Value slice(Value tensor, ArrayRef<OpFoldResult> shape, int64_t offset, int64_t size, int64_t stride = 1) {
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)), sizes(shape),
        strides(shape.size(), builder.getIndexAttr(1));
    offsets.back() = builder.getIndexAttr(offset);
    sizes.back() = builder.getIndexAttr(size);
    strides.back() = builder.getIndexAttr(stride);
    return tensor::ExtractSliceOp::create(builder, loc, tensor, offsets, sizes, strides);
  }

  /// The only element of the last axis, which is dropped.
  Value dropLast(Value tensor, ArrayRef<OpFoldResult> shape) {
    SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)), sizes(shape),
        strides(shape.size(), builder.getIndexAttr(1));
    sizes.back() = builder.getIndexAttr(1);
    return tensor::ExtractSliceOp::create(builder, loc, cast<RankedTensorType>(typeOf(shape.drop_back())),
                                          tensor, offsets, sizes, strides);
  }

  bool lanesMayLackElements() const {
    return !known || (*known % length != 0 && *known % length < lanes) || *known == 0;
  }

  Value joinLanes(Value partial) {
    unsigned rank = points.size();
    for (int64_t half = lanes / 2; half >= 1; half /= 2) {
      SmallVector<OpFoldResult> shape = partialShape(half);
      Value lower = slice(partial, shape, 0, half), upper = slice(partial, shape, half, half);
      partial = makePointwise(builder, loc, {lower, upper}, shape, element,
                              [&](OpBuilder &nested, ValueRange scalars) {
                                Value joined = join(nested, scalars[0], scalars[1]);
                                if (!lanesMayLackElements())
                                  return joined;
                                Value part = linalg::IndexOp::create(nested, loc, rank);
                                Value lane = linalg::IndexOp::create(nested, loc, rank + 1);
                                return selectPresent(nested, part, lane, half, joined, scalars[0]);
                              });
    }
    return dropLast(partial, partialShape(1));
  }

  /// `joined` if the lane that is `half` above has an element.
  Value selectPresent(OpBuilder &nested, Value part, Value lane, int64_t half, Value joined, Value alone) {
    AffineExpr first = nested.getAffineDimExpr(0), second = nested.getAffineDimExpr(1);
    Value other = getValueOrCreateConstantIndexOp(
        nested, loc,
        affine::makeComposedFoldedAffineApply(
            nested, loc, AffineMap::get(2, 0, first * length + second + half), {part, lane}));
    Value isPresent = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::slt, other,
                                            getValueOrCreateConstantIndexOp(nested, loc, count));
    return arith::SelectOp::create(nested, loc, isPresent, joined, alone);
  }

  Value joinParts(Value partial) {
    SmallVector<OpFoldResult> shape(points);
    shape.push_back(parts);
    std::optional<int64_t> size = getConstantIntValue(parts);
    if (!size)
      return dropLast(joinUnknownParts(partial, shape), shape);
    for (int64_t left = *size; left > 1; left = llvm::divideCeil(left, 2)) {
      shape.back() = builder.getIndexAttr(left / 2);
      Value odd = slice(partial, shape, 1, left / 2, 2);
      Value even = slice(partial, shape, 0, left / 2, 2);
      Value joined = makePointwise(
          builder, loc, {even, odd}, shape, element,
          [&](OpBuilder &nested, ValueRange scalars) { return join(nested, scalars[0], scalars[1]); });
      partial = left % 2 == 0 ? joined : appendLast(joined, partial, left);
    }
    shape.back() = builder.getIndexAttr(1);
    return dropLast(partial, shape);
  }

  /// The last of an odd number of parts moves up unchanged.
  Value appendLast(Value joined, Value partial, int64_t count) {
    SmallVector<OpFoldResult> shape(points), offsets(points.size() + 1, builder.getIndexAttr(0)),
        strides(points.size() + 1, builder.getIndexAttr(1));
    shape.push_back(builder.getIndexAttr(count / 2 + 1));
    Value every = slice(partial, shape, 0, count / 2 + 1, 2);
    shape.back() = builder.getIndexAttr(count / 2);
    return tensor::InsertSliceOp::create(builder, loc, joined, every, offsets, shape, strides);
  }

  /// One level after the other, in tensors of one size of which ever fewer elements count.
  Value joinUnknownParts(Value partial, ArrayRef<OpFoldResult> shape) {
    Value all = getValueOrCreateConstantIndexOp(builder, loc, parts);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto levels = scf::WhileOp::create(
        builder, loc, TypeRange{partial.getType(), all.getType()}, ValueRange{partial, all},
        [&](OpBuilder &nested, Location, ValueRange carried) {
          Value goesOn = arith::CmpIOp::create(nested, loc, arith::CmpIPredicate::ugt, carried[1], one);
          scf::ConditionOp::create(nested, loc, goesOn, carried);
        },
        [&](OpBuilder &nested, Location, ValueRange carried) {
          Value level = joinNeighbours(nested, carried[0], carried[1], shape);
          Value half =
              arith::ShRUIOp::create(nested, loc, arith::AddIOp::create(nested, loc, carried[1], one), one);
          scf::YieldOp::create(nested, loc, ValueRange{level, half});
        });
    return levels.getResult(0);
  }

  /// Of the first `left` parts. Elements behind them are of no interest, and read inside of the tensor.
  Value joinNeighbours(OpBuilder &nested, Value partial, Value left, ArrayRef<OpFoldResult> shape) {
    unsigned rank = points.size();
    return makePointwise(nested, loc, {}, shape, element, [&](OpBuilder &inner, ValueRange) -> Value {
      SmallVector<Value> indices;
      for (unsigned axis = 0; axis <= rank; ++axis)
        indices.push_back(linalg::IndexOp::create(inner, loc, axis));
      Value one = arith::ConstantIndexOp::create(inner, loc, 1);
      Value last = arith::SubIOp::create(inner, loc, left, one);
      Value even = arith::ShLIOp::create(inner, loc, indices.back(), one);
      Value odd = arith::AddIOp::create(inner, loc, even, one);
      auto read = [&](Value position) -> Value {
        indices.back() = arith::MinUIOp::create(inner, loc, position, last);
        return tensor::ExtractOp::create(inner, loc, partial, indices);
      };
      Value alone = read(even);
      Value joined = join(inner, alone, read(odd));
      Value isPresent = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ult, odd, left);
      return arith::SelectOp::create(inner, loc, isPresent, joined, alone);
    });
  }

  //===- The result -------------------------------------------------------===//

  /// The totals where the operation writes them, joined with its outs unless those are what sums start from.
  Value finish(Value total) {
    OpOperand &init = *generic.getDpsInitOperand(0);
    unsigned rank = points.size();
    SmallVector<AffineExpr> moved(extents.size(), builder.getAffineConstantExpr(0));
    for (auto [position, loop] : llvm::enumerate(parallel))
      moved[loop] = builder.getAffineDimExpr(position);
    AffineMap written = generic.getMatchingIndexingMap(&init).replaceDimsAndSymbols(moved, {}, rank, 0);
    SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
    auto made = linalg::GenericOp::create(
        builder, loc, init.get().getType(), total, init.get(),
        ArrayRef{builder.getMultiDimIdentityMap(rank), written}, iterators,
        [&](OpBuilder &nested, Location, ValueRange scalars) {
          linalg::YieldOp::create(nested, loc,
                                  startsFromOuts ? join(nested, scalars[1], scalars[0]) : scalars[0]);
        });
    return made.getResult(0);
  }

  OpBuilder &builder;
  Location loc;
  linalg::GenericOp generic;
  const ReductionStructure &structure;
  Type element;
  int64_t lanes = 1, length = 0; ///< elements of a part; 0: there is one part
  SmallVector<unsigned> reduced, parallel;
  SmallVector<OpFoldResult> extents, points; ///< of the loops, and of those of the result
  OpFoldResult count, parts;
  std::optional<int64_t> known; ///< the count
  bool startsFromOuts = false;
};

struct LowerWrittenOrder : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp generic, PatternRewriter &rewriter) const override {
    if (generic.getNumReductionLoops() == 0)
      return rewriter.notifyMatchFailure(generic, "reduces nothing");
    if (!generic.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(generic, "expected tensors");
    ReductionStructure structure = matchReduction(generic);
    if (structure.form == ReductionForm::scan)
      return lowerScan(generic, structure, rewriter);
    if (structure.form != ReductionForm::joined)
      return rewriter.notifyMatchFailure(generic, "its iterations are one chain");
    OrderedReduction reduction(rewriter, generic, structure);
    if (reduction.isOneChain())
      return rewriter.notifyMatchFailure(generic, "the order is one chain");
    rewriter.replaceOp(generic, reduction.lower());
    return success();
  }
};
} // namespace

void ad::populateWrittenOrderPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerWrittenOrder>(patterns.getContext());
}
