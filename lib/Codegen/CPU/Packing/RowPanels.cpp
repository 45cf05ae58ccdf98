// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowPanels.h"
#include "../Contraction/TransposedOperands.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// A copy takes about as long as a sixth of the products with one tile of columns.
static constexpr int64_t kTilesOfColumns = 8;

// Of a panel: more would not stay in the second-level cache with the panels of the columns.
static constexpr int64_t kPanelBytes = 128 * 1024;

// Whether all tiles of columns read the rows from beyond the second-level cache again.
bool RowPanels::isWorthCopying(OpOperand *operand, const CPUNest &nest, int64_t sizeK) {
  auto type = cast<RankedTensorType>(operand->get().getType());
  Type element = type.getElementType();
  int64_t columns = nest.shape[nest.laneAxis()];
  return (element.isF32() || element.isF64()) && isLargerThan(type, tiles.straightBytes) &&
         sizeK * vectorLanes * memoryBytes(element) <= kPanelBytes &&
         columns >= kTilesOfColumns * nest.vectors * vectorLanes;
}

// The loop of the rows, if the operand is an argument with the rows as its last axis, and worth copying.
std::optional<unsigned> RowPanels::loopToCopyAlong(OpOperand *operand, const CPUNest &nest) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  std::optional<unsigned> k = singleReduction(generic);
  AffineMap map = generic.getMatchingIndexingMap(operand);
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (!k || nest.rowAxes.size() != 1 || !isContraction(generic) || generic.getNumResults() != 1 ||
      productGroups.groupSize(generic) != 1 || !buffers.count(operand->get()) ||
      !map.isProjectedPermutation() || map.getNumResults() < 2 || out.getNumResults() != nest.shape.size() ||
      !out.isProjectedPermutation())
    return std::nullopt;
  unsigned rows = out.getDimPosition(nest.rowAxes.front()), columns = out.getDimPosition(nest.laneAxis());
  SmallVector<int64_t> ranges = generic.getStaticLoopRanges();
  int64_t sizeK = nest.longestPart ? nest.longestPart : ranges[*k];
  bool isRowMajorInK = map.getDimPosition(map.getNumResults() - 1) == rows && map.isFunctionOfDim(*k) &&
                       !map.isFunctionOfDim(columns);
  return isRowMajorInK && llvm::none_of(ranges, ShapedType::isDynamic) && isWorthCopying(operand, nest, sizeK)
             ? std::optional(rows)
             : std::nullopt;
}

LogicalResult RowPanels::copy(OpOperand *operand, const CPUNest &nest, const Position &outer,
                              const Panel &panel) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  Value sizeK = nest.firstK ? nest.sizeOfPart : indexConstant(generic.getStaticLoopRanges()[panel.loopK]);
  return emitLoop(indexConstant(0), sizeK, indexConstant(1), [&](Value k) -> LogicalResult {
    WithLanes vectorCode(context, vectorLanes, nullptr);
    mask = laneValues.lanesBelow(indexConstant(panel.rows.size()));
    SmallVector<Index> loops(generic.getNumLoops(), {indexConstant(0), 0, nullptr});
    for (auto [axis, index] : llvm::enumerate(outer))
      loops[out.getDimPosition(axis)] = index;
    loops[panel.loopOfRows] = {panel.rows.front(), 1, nullptr};
    loops[panel.loopK] = {panel.firstK ? binary<arith::AddIOp>(panel.firstK, k) : k, 0, nullptr};
    Value row = memoryAccess.load(buffers.find(operand->get())->second,
                                  maps.apply(generic.getMatchingIndexingMap(operand), loops));
    mask = nullptr;
    Value slot = memoryAccess.pointerAt(panel.buffer, binary<arith::MulIOp>(k, indexConstant(vectorLanes)));
    LLVM::StoreOp::create(builder, loc, row, slot, memoryBytes(panel.buffer.element));
    return success();
  });
}

LogicalResult RowPanels::withCopies(const CPUNest &nest, const Position &outer, ArrayRef<Position> rows,
                                    function_ref<LogicalResult()> tile) {
  llvm::scope_exit forget([&] { panels.clear(); });
  ReductionsAtPoints atPoints = reductionsAtPoints(nest.outputs);
  bool fillsVector = rows.size() > 1 && static_cast<int64_t>(rows.size()) <= vectorLanes;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>()) {
    if (!fillsVector || !nest.vectorize || !atPoints.contains(generic))
      continue;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      std::optional<unsigned> loop = loopToCopyAlong(operand, nest);
      if (!loop)
        continue;
      Type element = getElementTypeOrSelf(operand->get().getType());
      unsigned loopK = *singleReduction(generic);
      int64_t sizeK = nest.longestPart ? nest.longestPart : generic.getStaticLoopRanges()[loopK];
      Value &pointer = memory[operand];
      if (!pointer)
        pointer = stackMemory.allocate(element, sizeK * vectorLanes);
      Panel panel{{pointer, element, {}, {}}, loopK, *loop, nest.firstK, {}};
      for (const Position &row : rows)
        panel.rows.push_back(row[nest.rowAxes.front()].base);
      if (failed(copy(operand, nest, outer, panel)))
        return failure();
      panels[operand] = panel;
    }
  }
  return tile();
}

Value RowPanels::load(OpOperand *input, ArrayRef<Index> loops) {
  auto found = panels.find(input);
  if (found == panels.end())
    return {};
  const Panel &panel = found->second;
  const auto *row = llvm::find(panel.rows, loops[panel.loopOfRows].base);
  const Index &k = loops[panel.loopK];
  if (row == panel.rows.end() || !loops[panel.loopOfRows].isUniform() || !k.isUniform() || k.varies)
    return {};
  Value step = panel.firstK ? binary<arith::SubIOp>(k.base, panel.firstK) : k.base;
  Value index = binary<arith::AddIOp>(binary<arith::MulIOp>(step, indexConstant(vectorLanes)),
                                      indexConstant(row - panel.rows.begin()));
  return LLVM::LoadOp::create(builder, loc, panel.buffer.element, memoryAccess.pointerAt(panel.buffer, index),
                              memoryBytes(panel.buffer.element));
}
