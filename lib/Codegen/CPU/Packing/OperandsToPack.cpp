// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operands of contractions OperandPacking.cpp packs. If K is dynamic, panels have room for a usual one,
// and longer ones are read in place. Packing pays if the rows of an operand are a multiple of the page size
// apart or do not fit the cache, and if the columns are not contiguous.

#include "OperandsToPack.h"
#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Of the panels of one operand whose K is dynamic.
static constexpr int64_t kDynamicBytes = kStackBytes / 2;

// The axis of the operand that runs along loop `dim`, alone; -1 when there is none.
static int64_t axisOfLoop(AffineMap map, unsigned dim) {
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    if (auto d = dyn_cast<AffineDimExpr>(expr); d && d.getPosition() == dim)
      return axis;
  return -1;
}

// An operand of unknown size may be.
static bool isLarge(const TileTable &tiles, RankedTensorType type) {
  if (!type.hasStaticShape())
    return true;
  int64_t bytes = type.getNumElements() * memoryBytes(type.getElementType());
  return bytes > tiles.straightBytes;
}

// Rows of an operand a multiple of the page size apart map to one set of the first-level cache. If the result
// has more rows than this, its tiles have so few columns that packing, which reads longer parts of each row,
// is faster.
static constexpr int64_t kMaxRowsReadFromPages = 4;

// Whether there are elements to pack. Of an operand that the kernel converts, sizes are known by the type
// only.
static bool mayBePacked(RankedTensorType type, bool isArgument) {
  return type && !llvm::is_contained(type.getShape(), 0) && (isArgument || type.hasStaticShape());
}

// With fewer rows, groups of bytes are joined when they are loaded.
static constexpr int64_t kRowsForBytes = 4;

// A single row loads so many vectors in sequence that the hardware prefetches them.
static constexpr int64_t kRowsInStep = 1;

// Whether the lines of a panel, one of each row of the operand, do not fit the sets of the first-level cache
// that the rows map to. Each tile of rows would then load the panel from the second-level cache again.
static bool conflictsInCache(const TileTable &tiles, RankedTensorType type, int64_t axisK) {
  ArrayRef<int64_t> inRow = type.getShape().drop_front(axisK + 1);
  if (ShapedType::isDynamic(type.getDimSize(axisK)) || ShapedType::isDynamicShape(inRow))
    return false;
  int64_t bytes = ShapedType::getNumElements(inRow) * memoryBytes(type.getElementType());
  int64_t sets = kCore.pageBytes / kCore.lineBytes, lines = bytes / kCore.lineBytes;
  int64_t ways = std::max<int64_t>(1, tiles.alignedBytes / kCore.pageBytes);
  return bytes % kCore.lineBytes == 0 && lines > 0 &&
         type.getDimSize(axisK) > ways * sets / std::gcd(sets, lines);
}

// A transposed operand is always packed for several tiles of rows: all of them use the transposed panel.
static bool isWorthPacking(const TileTable &tiles, RankedTensorType type, const PackedOperand &packed,
                           int64_t rows) {
  if (packed.columnAxis + 1 != type.getRank())
    return true;
  bool manyRows = ShapedType::isDynamic(rows) || rows > tiles.rows;
  return (manyRows && isLarge(tiles, type)) ||
         (rows >= tiles.conflictRows && conflictsInCache(tiles, type, packed.axisK));
}

// Whether groups are packed, which few rows join when they are loaded.
static bool isPackedInGroups(const PackedOperand &packed, RankedTensorType type, int64_t rows, bool oneTile) {
  bool arePagesApart = areRowsPagesApart(type.getShape().back(), memoryBytes(type.getElementType()));
  bool pairs = packed.group == kBF16DotProduct.group;
  bool joinsOnLoad = pairs ? oneTile && (rows <= kMaxRowsReadFromPages || !arePagesApart)
                           : !ShapedType::isDynamic(rows) && rows < kRowsForBytes;
  return type.getRank() - 1 == std::max(packed.columnAxis, packed.axisK) &&
         (!joinsOnLoad || packed.isTransposed());
}

// The axes of the columns and of K; false if the operand has rows, or no such axis.
bool OperandsToPack::findAxes(PackedOperand &packed, unsigned loopK, const CPUNest &nest) {
  packed.columnAxis = axisOfLoop(packed.map, nest.shape.size() - 1);
  packed.axisK = axisOfLoop(packed.map, loopK);
  return packed.map.isProjectedPermutation() && packed.columnAxis >= 0 && packed.axisK >= 0 &&
         llvm::none_of(nest.rowAxes, [&](int64_t rowLoop) { return packed.map.isFunctionOfDim(rowLoop); });
}

// The layout of the packed operand, without its address; none if the operand is read in place.
std::optional<PackedOperand> OperandsToPack::packingOf(OpOperand *operand, unsigned loopK,
                                                       const CPUNest &nest) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap map = generic.getMatchingIndexingMap(operand);
  auto type = dyn_cast<RankedTensorType>(operand->get().getType());
  auto buffer = buffers.find(operand->get());
  bool converts = convertedFrom(operand->get()) != nullptr;
  bool isArgument = buffer != buffers.end();
  if ((!isArgument && !converts) || !mayBePacked(type, isArgument))
    return std::nullopt;
  unsigned columnLoop = nest.shape.size() - 1;
  int64_t rows = nest.rowCount();
  PackedOperand packed{operand, map};
  packed.group = productGroups.groupSize(generic);
  bool grouped = packed.group > 1;
  packed.memory = grouped ? builder.getI32Type() : memoryType(type.getElementType());
  if (auto layout = converts
                        ? std::nullopt
                        : PackedLayout::match(map, type, generic.getStaticLoopRanges(), columnLoop, loopK);
      layout && layout->group == packed.group && layout->tile % vectorLanes == 0) {
    packed.prepacked = true;
    packed.sizeK = type.getDimSize(1);
    packed.tile = layout->tile;
    packed.pointer = buffer->second.pointer;
    return packed;
  }
  if (!findAxes(packed, loopK, nest))
    return std::nullopt;
  bool oneTile = !ShapedType::isDynamic(rows) && rows <= tiles.rows;
  if (oneTile && transposedOperands.isContiguousAlongK(operand, columnLoop))
    return std::nullopt;
  packed.biased = packed.group == kByteDotProduct.group;
  packed.inPlace = !grouped && panels.canPrefetch(packed) && isLarge(tiles, type) &&
                   !ShapedType::isDynamic(rows) && rows <= nest.rows && nest.rows > kRowsInStep;
  // With several tiles of rows, each tile would convert every element of the operand again.
  bool wanted = grouped ? isPackedInGroups(packed, type, rows, oneTile)
                        : (converts && !oneTile) || isWorthPacking(tiles, type, packed, rows);
  int64_t sizeK = type.getDimSize(packed.axisK);
  packed.sizeK = ShapedType::isDynamic(sizeK)
                     ? sizeK
                     : llvm::alignTo(llvm::divideCeil(sizeK, packed.group), vectorLanes);
  packed.tile = nest.vectors * vectorLanes;
  // Code for a dynamic K exists twice, for panels and in place, which pays for bytes and transposed operands
  // alone.
  bool paysTwice = packed.group == kByteDotProduct.group || packed.isTransposed();
  return packed.inPlace || (wanted && (paysTwice || !packed.isDynamicK())) ? std::optional(packed)
                                                                           : std::nullopt;
}

// The same of an operand of a convolution that is a matrix of K and columns, whose K is several loops: the
// filter, or the cotangent in the gradient of the filter. Every tile of rows reads all of its part of a
// panel, whose rows then follow each other. What stays in the first-level cache is read in place.
std::optional<PackedOperand> OperandsToPack::flatPackingOf(OpOperand *operand, ArrayRef<unsigned> reduced,
                                                           const CPUNest &nest) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap map = generic.getMatchingIndexingMap(operand);
  SmallVector<unsigned> loops(reduced);
  loops.push_back(nest.shape.size() - 1);
  int64_t rows = nest.rowCount();
  Type type = operand->get().getType();
  auto buffer = buffers.find(operand->get());
  if (buffer == buffers.end() || !buffer->second.wholeShape.empty() ||
      !isLargerThan(type, tiles.alignedBytes) ||
      map != AffineMap::getMultiDimMapWithTargets(map.getNumDims(), loops, builder.getContext()) ||
      ShapedType::isDynamic(rows) || rows <= tiles.rows)
    return std::nullopt;
  PackedOperand packed{operand, builder.getMultiDimIdentityMap(2), /*columnAxis=*/1, /*axisK=*/0};
  packed.flat = true;
  packed.firstK = nest.firstK;
  packed.sizeOfPart = nest.sizeOfPart;
  packed.memory = memoryType(getElementTypeOrSelf(type));
  packed.sizeK = llvm::alignTo(nest.longestPart ? nest.longestPart : reducedElements(generic), vectorLanes);
  packed.tile = nest.vectors * vectorLanes;
  return packed;
}

// The elements of panels whose steps along K have so many elements each. Panels end with whole vectors of
// steps.
static int64_t roomForDynamicK(PackedOperand &packed, int64_t inStep, int64_t lanes) {
  int64_t elements = kDynamicBytes * 8 / packed.memory.getIntOrFloatBitWidth();
  int64_t steps = llvm::alignDown(elements / inStep, lanes);
  packed.maxK = steps * packed.group;
  return steps * inStep;
}

SmallVector<PackedOperand> OperandsToPack::packedOperandsOf(const CPUNest &nest, int64_t columns) {
  SmallVector<PackedOperand> chosen;
  int64_t left = stackMemory.left();
  unsigned columnLoop = nest.shape.size() - 1;
  int64_t bytes = byteProducts.scratchForRows(nest);
  ReductionsAtPoints atPoints = reductionsAtPoints(nest.outputs);
  auto consider = [&](linalg::GenericOp generic) {
    if (!atPoints.contains(generic))
      return false;
    SmallVector<unsigned> reduced;
    generic.getReductionDims(reduced);
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    if ((reduced.size() != 1 && !isConvolution(generic)) || generic.getNumResults() != 1 ||
        generic.getNumDpsInputs() != 2 || out.getNumResults() != nest.shape.size() ||
        llvm::any_of(llvm::seq<int64_t>(0, columnLoop + 1),
                     [&](int64_t loop) { return axisOfLoop(out, loop) != loop; }))
      return false;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      std::optional<PackedOperand> packed = reduced.size() == 1 && !nest.firstK
                                                ? packingOf(operand, reduced.front(), nest)
                                                : flatPackingOf(operand, reduced, nest);
      if (!packed || (nest.inPlace && !packed->inPlace && !packed->firstK))
        continue;
      if (!packed->prepacked && !packed->inPlace) {
        int64_t inStep = llvm::alignTo(columns, packed->tile);
        int64_t elements =
            packed->isDynamicK() ? roomForDynamicK(*packed, inStep, vectorLanes) : inStep * packed->sizeK;
        if (elements == 0)
          continue;
        int64_t own = elements * packed->memory.getIntOrFloatBitWidth() / 8;
        if (bytes + own > left)
          continue;
        bytes += own;
        packed->pointer = stackMemory.allocate(packed->memory, elements);
      }
      chosen.push_back(*packed);
    }
    return false;
  };
  if (nest.vectorize && nest.laneAxis() == int64_t(columnLoop))
    for (Value output : nest.outputs)
      dependsOn(output, consider);
  return chosen;
}
