// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which operands are transposed in registers, and the blocks of the chain that is being emitted.

#include "TransposedOperands.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

std::optional<unsigned> cpu::singleReduction(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  return dims.size() == 1 ? std::optional(dims.front()) : std::nullopt;
}

// Whether elements that are adjacent along the last axis can be loaded as a vector: the tensor is an
// argument, or computed from arguments element by element.
bool TransposedOperands::isContiguous(Value tensor) {
  if (buffers.count(tensor))
    return true;
  if (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    return isContiguous(cast.getSource());
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  return generic && isPointwise(generic) && llvm::all_of(generic.getDpsInputs(), [&](Value input) {
           return !isa<RankedTensorType>(input.getType()) || isContiguous(input);
         });
}

// Whether the operand is contiguous along K and its other axes are loops of the result, `columnLoop` among
// them.
bool TransposedOperands::isContiguousAlongK(OpOperand *operand, unsigned columnLoop) {
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  std::optional<unsigned> k = singleReduction(generic);
  AffineMap map = generic.getMatchingIndexingMap(operand);
  if (vectorLanes == 1 || !k || !map.isProjectedPermutation() || map.getNumResults() < 2 ||
      map.getResults().back() != builder.getAffineDimExpr(*k) || !map.isFunctionOfDim(columnLoop))
    return false;
  int64_t group = productGroups.groupSize(generic);
  bool converts = group == kBF16DotProduct.group && convertedFrom(operand->get());
  return group == 1 || converts ? isContiguous(operand->get()) : buffers.count(operand->get());
}

// The maximum number of vectors of columns in a tile of the nest. Their accumulators and the transposed block
// have to fit registers; two vectors hide the latency of their chains, four are no faster. An operand from
// memory is read by few rows at a time, which the hardware prefetches.
int64_t TransposedOperands::maxTransposedVectors(const CPUNest &nest, unsigned columnLoop) {
  constexpr int64_t kRowsOfTwoVectors = 6;
  int64_t rows = nest.rowCount(), maxVectors = tiles.vectors;
  auto limit = [&](linalg::GenericOp generic) {
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      bool fewRows = !ShapedType::isDynamic(rows) && rows <= tiles.rows;
      if (type && (fewRows || !type.hasStaticShape()) && isContiguousAlongK(operand, columnLoop))
        maxVectors = std::min<int64_t>(maxVectors,
                                       fewRows && rows <= kRowsOfTwoVectors && !isFromMemory(type) ? 2 : 1);
    }
    return false;
  };
  for (Value output : nest.outputs)
    dependsOn(output, limit);
  return maxVectors;
}

// The operands that this chain transposes in registers: lanes are indexed by one loop alone, which is not
// along the contiguous axis, and no packed copy exists.
SmallVector<OpOperand *> TransposedOperands::operandsToTranspose(linalg::GenericOp generic,
                                                                 ArrayRef<Index> loops) {
  SmallVector<OpOperand *> operands;
  auto isLane = [](const Index &index) { return !index.isUniform(); };
  auto lane = llvm::find_if(loops, isLane);
  if (lanes != vectorLanes || flat || lane == loops.end() || lane->lanes || lane->step != 1 ||
      llvm::count_if(loops, isLane) != 1)
    return operands;
  for (OpOperand *input : generic.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()) && !panels.operands.count(input) &&
        isContiguousAlongK(input, lane - loops.begin()))
      operands.push_back(input);
  return operands;
}

Value TransposedOperands::transposedValue(OpOperand *operand, ArrayRef<Index> loops) {
  if (blocks.empty())
    return {};
  auto generic = cast<linalg::GenericOp>(operand->getOwner());
  Position position = maps.apply(generic.getMatchingIndexingMap(operand), loops);
  auto found = blocks.find({operand, {position.begin(), position.end()}});
  return found == blocks.end() ? Value() : found->second;
}
