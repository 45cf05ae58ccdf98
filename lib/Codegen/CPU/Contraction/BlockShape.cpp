// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Selects the axes of a contraction's result that are rows of its blocks. The rows of a block use one operand
// of the columns; the other axes are batches. Several row axes count as one, whatever axes are between them:
// a unit axis or a group of heads does not leave tiles with a single row.
// The register tile and the columns of a block follow from them and from the tile tables.

#include "BlockShape.h"
#include "adjoint/Codegen/Kernel/RegisterTile.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// The widest accumulator type of all reductions that the outputs depend on; null if there is none.
static Type widestSum(ArrayRef<Value> outputs) {
  Type widest;
  auto consider = [&](linalg::GenericOp generic) {
    Type type = getElementTypeOrSelf(generic.getResultTypes().front());
    if (generic.getNumReductionLoops() > 0 &&
        (!widest || widest.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth()))
      widest = type;
    return false;
  };
  for (Value output : outputs)
    dependsOn(output, consider);
  return widest;
}

// Whether an operand was packed before the kernel: only blocks read panels. Their maps divide the column.
static bool readsPanels(KernelOp kernel) {
  auto isPanel = [](AffineMap map) {
    return llvm::any_of(map.getResults(), [](AffineExpr axis) { return isa<AffineBinaryOpExpr>(axis); });
  };
  return llvm::any_of(kernel.getBody().getOps<linalg::GenericOp>(), [&](linalg::GenericOp generic) {
    return generic.getNumReductionLoops() > 0 && llvm::any_of(generic.getIndexingMapsArray(), isPanel);
  });
}

// Whether the argument is large and better read in one sweep than in blocks of columns. Rows of an operand
// that is contiguous along K are no rows of columns: how far they are apart decides nothing.
static bool isSwept(Value argument) {
  if (!isFromMemory(argument.getType()))
    return false;
  for (OpOperand &use : argument.getUses()) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (generic && convertedFrom(generic.getResult(0)))
      return isSwept(generic.getResult(0));
    if (!generic || generic.getNumReductionLoops() == 0 || !generic.isDpsInput(&use))
      continue;
    ArrayRef<AffineExpr> axes = generic.getMatchingIndexingMap(&use).getResults();
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    bool contiguousAlongK = !axes.empty() && !llvm::is_contained(out.getResults(), axes.back());
    return contiguousAlongK || isSweptFaster(argument.getType());
  }
  return true;
}

// With one row no operand is read again, and the hardware would prefetch past the end of each block.
static bool sweepsOneRow(KernelOp kernel, ArrayRef<int64_t> rows) {
  return llvm::all_of(rows, [](int64_t size) { return size == 1; }) && !readsPanels(kernel) &&
         llvm::any_of(kernel.getBody().getArguments(), isSwept);
}

// Whether each column has its own sums: of a convolution of single channels.
static bool sumsColumnsApart(ArrayRef<Value> outputs) {
  auto isApart = [](linalg::GenericOp generic) {
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    return isConvolution(generic) && llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
             AffineMap map = generic.getMatchingIndexingMap(input);
             return out.getNumResults() > 0 && map.getResults().back() == out.getResults().back();
           });
  };
  return llvm::any_of(outputs, [&](Value output) { return dependsOn(output, isApart); });
}

// The rows that a tile may have. Where columns have their own sums, a tile loads an element for each product,
// and computes an address for each row: few rows of many vectors have few addresses. Each tile of rows reads
// the whole filter, which has to be in the first-level cache for that.
int64_t BlockShape::rowsToTile(const CPUNest &nest) const {
  constexpr int64_t kWideTile = 4;
  int64_t rows = nest.rowCount(), columns = nest.shape[nest.laneAxis()];
  if (ShapedType::isDynamic(rows) || ShapedType::isDynamic(columns) || !sumsColumnsApart(nest.outputs) ||
      reducedSize(nest.outputs) * columns * memoryBytes(results.front().element) > tiles.alignedBytes)
    return rows;
  int64_t vectors = std::clamp<int64_t>(columns / vectorLanes, 1, std::min(tiles.vectors, kWideTile));
  return std::min(rows, std::max<int64_t>(tiles.accumulators / vectors, 1));
}

void BlockShape::chooseBlock(CPUNest &nest) {
  Type sum = widestSum(nest.outputs);
  int64_t axis = nest.vectorize ? nest.laneAxis() : -1;
  if (!sum || axis < 0)
    return;
  nest.rowAxes = rowAxesOf(nest, axis);
  nest.blocked = !nest.rowAxes.empty() && !sweepsOneRow(kernel, ArrayRef(nest.shape).take_front(axis));
  int64_t rows = rowsToTile(nest);
  nest.rows = chooseRegisterTile(tiles, rows, nest.shape[axis], vectorLanes, sum).rows;
  byteProducts.chooseByteProducts(nest, axis);
  nest.vectors = vectorsFor(nest, rows);
}

// A tile of fewer rows has registers for more vectors. Byte products have been chosen: they transpose
// otherwise.
int64_t BlockShape::vectorsFor(const CPUNest &nest, int64_t rows) {
  int64_t axis = nest.laneAxis();
  RegisterTile tile = chooseRegisterTile(tiles, rows, nest.shape[axis], vectorLanes, widestSum(nest.outputs));
  return std::min(tile.vectors, transposedOperands.maxTransposedVectors(nest, axis));
}

// For the host, which decides whether several threads are faster.
void BlockShape::recordK(ValueRange outputs) {
  int64_t k = 0;
  for (Value output : outputs)
    k += reducedSize(output);
  if (k > 0)
    function->setAttr("ad.k", builder.getI64IntegerAttr(k));
}

// Whether the outputs need a contraction whose K is not known.
static bool hasDynamicK(ArrayRef<Value> outputs) {
  auto isDynamic = [](linalg::GenericOp generic) {
    SmallVector<unsigned> dims;
    generic.getReductionDims(dims);
    return dims.size() == 1 && generic.getNumDpsInputs() == 2 &&
           ShapedType::isDynamic(generic.getStaticLoopRanges()[dims.front()]);
  };
  return llvm::any_of(outputs, [&](Value output) { return dependsOn(output, isDynamic); });
}

// Columns whose part of the right operand stays in the cache while all rows pass: whole tiles.
int64_t BlockShape::blockColumns(const CPUNest &nest) {
  int64_t tile = nest.vectors * vectorLanes;
  int64_t sizeK = reducedSize(nest.outputs);
  if (sizeK == 0 && !hasDynamicK(nest.outputs))
    return 0;
  bool areBytes = !byteProducts.chosen.empty();
  // Of a dynamic K, a longer one than usual fits the panels of bytes, too.
  sizeK = sizeK == 0 ? kUsualK * (areBytes ? kBytesPerLane : 1) : sizeK;
  int64_t element = areBytes ? 1 : memoryBytes(results.front().element);
  return std::max<int64_t>(1, tiles.blockBytes / (sizeK * element * tile)) * tile;
}

// The axes before the lanes on which no operand along the lanes depends; if all of them are batches, the last
// one. Only the outermost row axis may have a dynamic size.
SmallVector<int64_t> BlockShape::rowAxesOf(const CPUNest &nest, int64_t laneAxis) {
  auto isBatch = [&](int64_t axis) {
    auto readsAlong = [&](linalg::GenericOp generic) {
      return llvm::any_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
        AffineMap map = generic.getMatchingIndexingMap(operand);
        return generic.getNumReductionLoops() > 0 && map.isFunctionOfDim(laneAxis) &&
               map.isFunctionOfDim(axis);
      });
    };
    return llvm::any_of(nest.outputs, [&](Value output) { return dependsOn(output, readsAlong); });
  };
  SmallVector<int64_t> axes;
  for (int64_t axis = laneAxis - 1; axis >= 0; --axis) {
    if (isBatch(axis))
      continue;
    axes.insert(axes.begin(), axis);
    if (ShapedType::isDynamic(nest.shape[axis]))
      break;
  }
  if (axes.empty() && laneAxis > 0)
    axes.push_back(laneAxis - 1);
  return axes;
}
