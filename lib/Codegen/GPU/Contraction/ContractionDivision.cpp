// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionDivision.h"
#include "../../Kernel/KernelTypes.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;
using namespace mlir::ad::device;

// Tensor cores have one chain unless the instruction is written with several.
static bool hasNodes(const Contraction &contraction) {
  return contraction.instruction == MathInstruction::Fma || chainLength(contraction.op) != 0;
}

bool device::mustDivide(const Contraction &contraction) {
  int64_t chain = chainLength(contraction.op), k = reducedElements(contraction.op);
  return chain != 0 && (ShapedType::isDynamic(k) || k > chain);
}

std::optional<Division> device::divideContraction(KernelOp kernel, const Contraction &contraction,
                                                  const ContractionTile &tile) {
  if (!hasNodes(contraction))
    return std::nullopt;
  Division division;
  division.reductions = divisibleReductions(kernel);
  if (division.reductions.size() != 1)
    return std::nullopt;
  division.tiles = NodeTiles{contraction.mAxis, tile.m,       tile.n,
                             tile.blocksPerSM,  tile.threads, chainLength(contraction.op)};
  int64_t k = reducedElements(contraction.op);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(contraction.op->getResult(0).getType()).getShape();
  bool isStatic = !ShapedType::isDynamicShape(shape);
  bool isShort = !ShapedType::isDynamic(k) && k <= leafLength(kernel, contraction.op, division);
  bool isFull = isStatic && countTiles(shape, contraction.mAxis, tile) >= kDefaultSMCount;
  if (isShort || (isFull && division.tiles->chain == 0))
    return std::nullopt;
  division.joinsByThreads = !isStatic || ShapedType::getNumElements(shape) >= kManyResults;
  division.always = isStatic && !ShapedType::isDynamic(k);
  return division;
}

// As the host does (PartialSizes::chooseLeaves).
int64_t device::nodeCount(const Contraction &contraction, const ContractionTile &tile) {
  linalg::GenericOp op = contraction.op;
  auto kernel = op->getParentOfType<KernelOp>();
  std::optional<Division> division = divideContraction(kernel, contraction, tile);
  if (!division)
    return 1;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getResult(0).getType()).getShape();
  auto leaves =
      static_cast<int64_t>(llvm::divideCeil(reducedElements(op), leafLength(kernel, op, *division)));
  if (division->tiles->chain != 0)
    return leaves;
  auto wanted = static_cast<int64_t>(
      llvm::divideCeil(kDefaultSMCount * tile.blocksPerSM, countTiles(shape, contraction.mAxis, tile)));
  uint64_t ofNode = llvm::bit_floor<uint64_t>(std::max<int64_t>(leaves / wanted, 1));
  return static_cast<int64_t>(llvm::divideCeil(leaves, ofNode));
}
