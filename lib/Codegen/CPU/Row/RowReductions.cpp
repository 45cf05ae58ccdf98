// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over the lanes of short rows, vectorized over rows. The tree of one short row has a long latency
// and fills a fraction of its vectors. The trees of all rows have the same shape, so a vector of rows joins
// each level of them with whole vectors. Every row keeps its own order.

#include "RowReductions.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Rows up to this length are read column by column.
static constexpr int64_t kFewColumns = 6;

FailureOr<Value> RowReductions::reduceRows(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity) {
  int64_t size = *reductionLoops.elementsOfShortRow(generic), orderLanes = kernel.getOrderAttr().getLanes();
  // If vectors run along rows, their columns are computed anyway.
  bool byColumn = interleavedStores.columnsOfRows > 1 && size <= std::min(vectorLanes, orderLanes);
  bool contiguous =
      !byColumn && !isa<VectorType>(identity.getType()) && rowsAreContiguous(generic, loops, size);
  if (byColumn || (!contiguous && size <= std::min(kFewColumns, orderLanes)))
    return reduceColumns(generic, loops, identity);
  auto vectors = contiguous ? lanesOfContiguousRows(generic, loops, identity, size)
                            : lanesOfRows(generic, loops, identity, size);
  if (failed(vectors))
    return failure();
  int64_t width = std::min<int64_t>(llvm::PowerOf2Ceil(size), orderLanes);
  return joinLanes(combiningOp(generic), *vectors, std::min(width, lanes));
}

// A vector for each column: the tree joins them as they are.
FailureOr<Value> RowReductions::reduceColumns(linalg::GenericOp generic, ArrayRef<Index> loops,
                                              Value identity) {
  if (failed(hoisting.hoistReduced(generic, SmallVector<Index>(loops))))
    return failure();
  int64_t size = *reductionLoops.elementsOfShortRow(generic);
  SmallVector<Value> accumulators;
  for (int64_t column = 0; column < size; ++column) {
    SmallVector<Index> inner(loops);
    reductionLoops.setIndex(generic, inner, {indexConstant(column), 0, nullptr});
    auto results = evaluator.applyBody(generic, inner, laneValues.splat(identity, lanes));
    if (failed(results))
      return failure();
    accumulators.push_back(laneValues.splat(results->front(), lanes));
  }
  for (int64_t half = llvm::PowerOf2Ceil(size) / 2; half >= 1; half /= 2) {
    for (int64_t low = 0; low + half < int64_t(accumulators.size()); ++low)
      accumulators[low] =
          joinPartialResults(builder, loc, combiningOp(generic), accumulators[low], accumulators[low + half]);
    accumulators.resize(std::min<size_t>(accumulators.size(), half));
  }
  return accumulators.front();
}

// Whether adjacent rows follow each other in memory: the last two axes are the rows and their elements, and
// no other axis depends on either.
static bool followEachOther(AffineMap map, unsigned row, unsigned element) {
  ArrayRef<AffineExpr> axes = map.getResults();
  return axes.size() >= 2 && axes.back() == getAffineDimExpr(element, map.getContext()) &&
         axes[axes.size() - 2] == getAffineDimExpr(row, map.getContext()) &&
         llvm::none_of(axes.drop_back(2), [&](AffineExpr axis) {
           return axis.isFunctionOfDim(row) || axis.isFunctionOfDim(element);
         });
}

// Whether rows fill vectors without gaps and are contiguous in all operands.
bool RowReductions::rowsAreContiguous(linalg::GenericOp generic, ArrayRef<Index> loops, int64_t size) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  int64_t row = -1;
  for (auto [dim, index] : llvm::enumerate(loops)) {
    if (dim == reduced.front() || index.isUniform())
      continue;
    if (row >= 0 || index.lanes || index.step != 1)
      return false;
    row = dim;
  }
  bool isAligned =
      llvm::isPowerOf2_64(size) && size > 1 && size < lanes && size <= kernel.getOrderAttr().getLanes();
  if (row < 0 || reduced.size() != 1 || mask || !isAligned)
    return false;
  if (llvm::any_of(*generic.getBlock(),
                   [](Operation &op) { return isa<linalg::IndexOp, tensor::ExtractOp>(op); }))
    return false;
  return llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
    return !isa<RankedTensorType>(input->get().getType()) ||
           (followEachOther(generic.getMatchingIndexingMap(input), row, reduced.front()) &&
            transposedOperands.isContiguous(input->get()));
  });
}

// Vectors of several whole rows each. A vector along a row continues in the next rows.
FailureOr<SmallVector<Value>> RowReductions::lanesOfContiguousRows(linalg::GenericOp generic,
                                                                   ArrayRef<Index> loops, Value identity,
                                                                   int64_t size) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  SmallVector<Value> vectors;
  for (int64_t row = 0; row < lanes; row += lanes / size) {
    Scope scope(context);
    SmallVector<Index> inner(loops);
    for (Index &index : inner)
      if (!index.isUniform())
        index = {binary<arith::AddIOp>(index.base, indexConstant(row)), 0, nullptr};
    inner[reduced.front()] = {indexConstant(0), 1, nullptr};
    auto results = evaluator.applyBody(generic, inner, laneValues.splat(identity, lanes));
    if (failed(results))
      return failure();
    vectors.push_back(laneValues.splat(results->front(), lanes));
  }
  return vectors;
}

// A vector for each row. Short code is unrolled, other code is in a loop.
FailureOr<SmallVector<Value>> RowReductions::lanesOfRows(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                         Value identity, int64_t size) {
  bool isShort = size <= vectorLanes && llvm::none_of(generic.getDpsInputs(), [](Value input) {
                   return dependsOn(input, [](linalg::GenericOp producer) {
                     return isExpensive(producer) || producer.getNumReductionLoops() > 0;
                   });
                 });
  if (!isShort)
    return lanesOfRowsInLoop(generic, loops, identity, size);
  SmallVector<Value> vectors;
  for (int64_t row = 0; row < lanes; ++row) {
    FailureOr<Value> vector = lanesOfRow(generic, loops, identity, indexConstant(row), size);
    if (failed(vector))
      return failure();
    vectors.push_back(*vector);
  }
  return vectors;
}

// A loop over the rows, which stores the vectors on the stack.
FailureOr<SmallVector<Value>> RowReductions::lanesOfRowsInLoop(linalg::GenericOp generic,
                                                               ArrayRef<Index> loops, Value identity,
                                                               int64_t size) {
  int64_t orderLanes = kernel.getOrderAttr().getLanes();
  int64_t width = std::min({int64_t(llvm::PowerOf2Ceil(size)), orderLanes, lanes});
  Type element = getElementTypeOrSelf(generic.getResultTypes()[0]);
  Buffer stack{stackMemory.allocate(memoryType(element), lanes * width), element, {}, {}};
  auto loop = scf::ForOp::create(builder, loc, indexConstant(0), indexConstant(lanes), indexConstant(1));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value row = loop.getInductionVar();
    FailureOr<Value> vector = lanesOfRow(generic, loops, identity, row, size);
    if (failed(vector))
      return failure();
    Value slot = memoryAccess.pointerAt(stack, binary<arith::MulIOp>(row, indexConstant(width)));
    LLVM::StoreOp::create(builder, loc, toMemory(*vector), slot, memoryBytes(element));
  }
  auto type = VectorType::get(width, memoryType(element));
  SmallVector<Value> vectors;
  for (int64_t row = 0; row < lanes; ++row) {
    Value slot = memoryAccess.pointerAt(stack, indexConstant(row * width));
    Value vector = LLVM::LoadOp::create(builder, loc, type, slot, memoryBytes(element));
    vectors.push_back(fromMemory(vector, element));
  }
  return vectors;
}

// One row, whose number in the vector is `row`, down to the lanes of one vector. Rows that are not active
// repeat the first one.
FailureOr<Value> RowReductions::lanesOfRow(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                           Value row, int64_t size) {
  auto lane = [&](Value vector, Value number) -> Value {
    return vector::ExtractOp::create(builder, loc, vector, ArrayRef<OpFoldResult>{getAsOpFoldResult(number)});
  };
  Value active = mask ? lane(mask, row) : Value(), zero = indexConstant(0);
  Value from = active ? builder.createOrFold<arith::SelectOp>(loc, active, row, zero) : row;
  SmallVector<Index> ofRow(loops);
  for (Index &index : ofRow) {
    if (index.isUniform())
      continue;
    Value distance = index.lanes ? Value() : binary<arith::MulIOp>(from, indexConstant(index.step));
    index = {index.lanes ? lane(index.lanes, from) : binary<arith::AddIOp>(index.base, distance), 0, nullptr};
  }
  if (isa<VectorType>(identity.getType()))
    identity = lane(identity, from);
  int64_t minLanes = lanes,
          width = std::min<int64_t>(llvm::PowerOf2Ceil(size), kernel.getOrderAttr().getLanes());
  Scope scope(context);
  {
    WithLanes scalarCode(context, 1, nullptr);
    if (failed(hoisting.hoistReduced(generic, ofRow)))
      return failure();
  }
  WithLanes laneCode(context, width, nullptr);
  FailureOr<Value> accumulators = laneAccumulators.reduceChunk(
      generic, ofRow, laneValues.splat(identity, width), indexConstant(0), indexConstant(size));
  if (failed(accumulators))
    return failure();
  auto join = [&](Value low, Value high) {
    return joinPartialResults(builder, loc, combiningOp(generic), low, high);
  };
  return laneAccumulators.halve(*accumulators, join, std::min(minLanes, width));
}

// Each vector holds the `width` lanes of one or more rows, one row after the other. Each step joins the
// halves of the lanes of all rows of two vectors; at last there is one lane for each row.
Value RowReductions::joinLanes(Operation *join, SmallVector<Value> vectors, int64_t width) {
  Type element = getElementTypeOrSelf(vectors.front());
  while (vectors.size() > 1) {
    int64_t count = cast<VectorType>(vectors.front().getType()).getNumElements(),
            half = std::max<int64_t>(1, width / 2);
    // The lanes [from, from + half) of all rows of both.
    auto part = [&](Value first, Value second, int64_t from) {
      SmallVector<int64_t> order;
      for (int64_t row = 0; row < 2 * count / width; ++row)
        for (int64_t lane = from; lane < from + half; ++lane)
          order.push_back(row * width + lane);
      Value picked = vector::ShuffleOp::create(builder, loc, movable(first), movable(second), order);
      return fromMemory(picked, element);
    };
    SmallVector<Value> joined;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      Value low = part(vectors[i], vectors[i + 1], 0);
      joined.push_back(
          width == 1 ? low
                     : joinPartialResults(builder, loc, join, low, part(vectors[i], vectors[i + 1], half)));
    }
    vectors = std::move(joined);
    width = half;
  }
  return vectors.front();
}
