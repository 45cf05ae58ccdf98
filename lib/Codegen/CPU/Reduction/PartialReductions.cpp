// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions with few results, such as the sum of a whole tensor or a contraction with a large K: the reduced
// elements are divided, for threads or for the caches. The balanced tree of an order is cut below some level,
// where each node is the sum of 2 to the power of k blocks that follow each other. One function computes such
// nodes, the partial results, into memory of the runtime; another one is the kernel, but merges them. Both
// follow the tree, so the bits are those of the undivided kernel.

#include "PartialReductions.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

static SmallVector<int64_t> withoutUnits(Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
}

int64_t PartialReductions::tilesOfResult(const CPUNest &nest) {
  int64_t tiles = 1, laneAxis = nest.laneAxis();
  for (auto [axis, size] : llvm::enumerate(nest.shape))
    if (int64_t(axis) != laneAxis && !llvm::is_contained(nest.rowAxes, int64_t(axis)))
      tiles *= size;
  return tiles * llvm::divideCeil(nest.rowCount(), nest.rows) *
         llvm::divideCeil(nest.shape[laneAxis], nest.vectors * vectorLanes);
}

// Whether every tile can read the operand in place: a tile of columns would transpose an operand that is
// contiguous along K, again for each tile of rows.
bool PartialReductions::isReadInPlace(OpOperand &operand, const CPUNest &nest) {
  auto generic = cast<linalg::GenericOp>(operand.getOwner());
  bool oneTile = nest.rowCount() <= nest.rows;
  return (generic.getMatchingIndexingMap(&operand).isProjectedPermutation() || isDeepConvolution(generic)) &&
         (oneTile || !transposedOperands.isContiguousAlongK(&operand, nest.laneAxis()));
}

// Whether to divide K of a contraction: there are too few tiles for threads, or several tiles would each
// read operands from memory again.
bool PartialReductions::isDeep(const CPUNest &nest) {
  constexpr int64_t kFewTiles = 32, kShortTimes = 4;
  std::optional<int64_t> nanoseconds = distribution.knownNanoseconds();
  if (llvm::is_contained(nest.shape, ShapedType::kDynamic) ||
      (nanoseconds && *nanoseconds < kShortTimes * tiles.shortNanoseconds))
    return false;
  bool inPlace = true, isLarge = false;
  for (linalg::GenericOp generic : kernel.getBody().getOps<linalg::GenericOp>())
    for (OpOperand &operand : generic->getOpOperands())
      if (reduces(generic) && generic.isDpsInput(&operand) &&
          isa<RankedTensorType>(operand.get().getType())) {
        inPlace &= isReadInPlace(operand, nest);
        isLarge |= isFromMemory(operand.get().getType());
      }
  return inPlace && (isLarge || tilesOfResult(nest) < kFewTiles);
}

// One thread gains where several tiles would read operands from memory again and again, and where rows of one
// are streamed.
int64_t PartialReductions::threadsForPartials(ArrayRef<linalg::GenericOp> reductions) {
  ValueRange outputs = kernel.getBody().front().getTerminator()->getOperands();
  CPUNest nest = kernelOutputs.nestOver(results[*kernelOutputs.rowSpaceOf(outputs)], outputs);
  if (!hoisting.sumsLanesAlong(outputs, nest, nest.laneAxis()))
    blockShape.chooseBlock(nest);
  bool rereads =
      nest.blocked && tilesOfResult(nest) > 1 && llvm::any_of(reductions, [](linalg::GenericOp generic) {
        return llvm::any_of(generic.getDpsInputs(),
                            [](Value input) { return isFromMemory(input.getType()); });
      });
  return rereads || (reductions.size() == 1 && streamedReductions.streamedColumns(reductions.front()) > 0)
             ? 1
             : 2;
}

SmallVector<linalg::GenericOp> PartialReductions::divisibleReductions(ValueRange outputs) {
  std::optional<unsigned> space = kernelOutputs.rowSpaceOf(outputs);
  if (!space)
    return {};
  CPUNest nest = kernelOutputs.nestOver(results[*space], outputs);
  bool lanesAreSummed = hoisting.sumsLanesAlong(outputs, nest, nest.laneAxis());
  if (!lanesAreSummed)
    blockShape.chooseBlock(nest);
  auto reductions =
      llvm::to_vector(llvm::make_filter_range(kernel.getBody().getOps<linalg::GenericOp>(), reduces));
  bool isStreamed = reductions.size() == 1 && partialTrees.isDivisible(reductions.front()) &&
                    streamedReductions.streamedColumns(reductions.front()) > 0;
  bool areFew = knownElements(nest.shape) <= kMaxResults || llvm::all_of(reductions, isDeepConvolution);
  if (!isStreamed && (!areFew || (nest.blocked && !isDeep(nest))))
    return {};
  auto isLong = [&](linalg::GenericOp generic) {
    int64_t total = reducedElements(generic);
    return isStreamed || ShapedType::isDynamic(total) ||
           total > kernel.getOrderAttr().getPartLength() * partialTrees.blocksOfPartial(generic);
  };
  auto isOfOutputs = [&](linalg::GenericOp generic) {
    return partialTrees.isDivisible(generic) && llvm::all_of(outputs, [&](Value output) {
             return withoutUnits(output) == withoutUnits(generic.getResult(0));
           });
  };
  // A short one among them has one partial result.
  bool shared = llvm::all_of(reductions, isOfOutputs) && llvm::any_of(reductions, isLong);
  return shared ? reductions : SmallVector<linalg::GenericOp>();
}

// Lays out the partial results of all reductions one after the other in the memory; returns the bytes of all.
Value PartialReductions::bindPartialResults(ArrayRef<linalg::GenericOp> reductions) {
  Value bytes = indexConstant(0);
  for (linalg::GenericOp generic : reductions) {
    auto type = cast<RankedTensorType>(generic.getResult(0).getType());
    PartialResults partial;
    partial.length = kernel.getOrderAttr().getPartLength() * partialTrees.blocksOfPartial(generic);
    partial.total = reductionLoops.total(generic);
    partial.count = binary<arith::CeilDivUIOp>(partial.total, indexConstant(partial.length));
    partial.buffer.element = type.getElementType();
    partial.buffer.shape = {ShapedType::kDynamic};
    partial.buffer.sizes = {partial.count};
    Value elements = partial.count;
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      partial.buffer.shape.push_back(size);
      partial.buffer.sizes.push_back(kernelArguments.sizeOf(generic.getResult(0), axis));
      elements = binary<arith::MulIOp>(elements, partial.buffer.sizes.back());
    }
    partial.columns = reductions.size() == 1 ? streamedReductions.streamedColumns(generic) : 0;
    CPUNest nest;
    nest.shape.assign(type.getShape().begin(), type.getShape().end());
    int64_t across = partial.columns ? llvm::divideCeil(nest.shape[nest.laneAxis()], partial.columns) : 1;
    partial.units = binary<arith::MulIOp>(partial.count, indexConstant(across));
    if (memory) {
      Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
      partial.buffer.pointer = LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(),
                                                   memory, ValueRange{offset});
    }
    Value own = binary<arith::MulIOp>(elements, indexConstant(memoryBytes(type.getElementType())));
    Value alignment = indexConstant(kCore.lineBytes);
    own = binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(own, alignment), alignment);
    bytes = binary<arith::AddIOp>(bytes, own);
    partialTrees.partials[generic] = partial;
  }
  return bytes;
}

// Whether the operand with the columns is a matrix of K and columns, of which each part packs its own.
static bool isMatrixOfK(linalg::GenericOp generic, const CPUNest &nest) {
  std::optional<unsigned> k = singleReduction(generic);
  return k && isContraction(generic) && llvm::any_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
           AffineMap map = generic.getMatchingIndexingMap(operand);
           unsigned columns = nest.shape.size() - 1, loops[] = {*k, columns};
           return map == AffineMap::getMultiDimMapWithTargets(map.getNumDims(), loops, generic.getContext());
         });
}

// The part of K of the partial result that is being emitted. The columns of a block are those of an operand
// that stay in the second-level cache together with the rows of the other one.
void PartialReductions::choosePart(CPUNest &nest, const PartialResults &partial) {
  nest.longestPart = partial.length;
  nest.firstK = binary<arith::MulIOp>(partial.number, indexConstant(partial.length));
  nest.sizeOfPart = binary<arith::MinUIOp>(binary<arith::SubIOp>(partial.total, nest.firstK),
                                           indexConstant(partial.length));
  int64_t tile = nest.vectors * vectorLanes,
          bytes = partial.length * memoryBytes(partial.buffer.element) * tile;
  nest.columns = std::max<int64_t>(1, tiles.blockBytes / 4 / bytes) * tile;
}

// Partial results of a contraction: a block of all its results, for one range of K after the other, so that
// the operands stay in the caches.
LogicalResult PartialReductions::emitPartialBlocks(linalg::GenericOp generic, CPUNest &nest, Buffer &result,
                                                   UnitRange units) {
  PartialResults &partial = partialTrees.partials[generic];
  nest.inPlace = true;
  return emitLoop(units.begin, units.end, indexConstant(1), [&](Value number) {
    partial.number = number;
    result.pointer = partialTrees.addressOfPartial(partial, result);
    if (isDeepConvolution(generic) || (nest.rowCount() > tiles.rows && isMatrixOfK(generic, nest)))
      choosePart(nest, partial);
    return loopNests.emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
      Scope scope(context);
      FailureOr<SmallVector<Value>> values = reductions.reduce(generic, 0, positions);
      if (failed(values))
        return failure();
      stores.storeAll(result, positions, *values);
      return success();
    });
  });
}

// The partial results of one reduction: a unit is one node of the trees of all its results.
LogicalResult PartialReductions::emitPartialReduction(linalg::GenericOp generic, UnitRange units) {
  PartialResults &partial = partialTrees.partials[generic];
  Value sum = generic.getResult(0);
  Buffer result{nullptr, partial.buffer.element, llvm::to_vector(ArrayRef(partial.buffer.shape).drop_front()),
                llvm::to_vector(ArrayRef(partial.buffer.sizes).drop_front())};
  if (partial.columns)
    return streamedReductions.emitStreamedReduction(generic, result, units);
  CPUNest each = kernelOutputs.nestOver(result, sum);
  bool lanesAreSummed =
      reductionLoops.usesLanes(generic) || hoisting.sumsLanesAlong(sum, each, each.laneAxis());
  if (!lanesAreSummed && each.laneAxis() >= 0)
    blockShape.chooseBlock(each);
  if (each.blocked)
    return emitPartialBlocks(generic, each, result, units);
  CPUNest nest = kernelOutputs.nestOver(partial.buffer, {});
  nest.vectorize = !lanesAreSummed && each.laneAxis() >= 0;
  nest.vectors = each.vectors;
  nest.unitLoops = {{{0}, 1}};
  nest.units = units;
  return loopNests.emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(context);
    partial.number = positions.front().front().base;
    SmallVector<Position> inner;
    for (const Position &position : positions)
      inner.emplace_back(llvm::drop_begin(position));
    FailureOr<SmallVector<Value>> values = reductions.reduce(generic, 0, inner);
    if (failed(values))
      return failure();
    stores.storeAll(partial.buffer, positions, *values);
    return success();
  });
}

// All reductions of the kernel, each over the units that it has.
LogicalResult PartialReductions::emitPartialReductions(ArrayRef<linalg::GenericOp> reductions) {
  for (linalg::GenericOp generic : reductions) {
    Value count = partialTrees.partials[generic].units;
    UnitRange ofCall = distribution.unitsOfCall;
    UnitRange units{binary<arith::MinUIOp>(ofCall.begin, count), binary<arith::MinUIOp>(ofCall.end, count)};
    if (failed(emitPartialReduction(generic, units)))
      return failure();
  }
  return success();
}

// The number of units, which are partial results, and the bytes of their memory.
SmallVector<Value> PartialReductions::emitPartialSizes(ArrayRef<linalg::GenericOp> reductions) {
  Value bytes = bindPartialResults(reductions), count = indexConstant(0);
  for (linalg::GenericOp generic : reductions)
    count = binary<arith::MaxUIOp>(count, partialTrees.partials[generic].units);
  return {count, bytes};
}
