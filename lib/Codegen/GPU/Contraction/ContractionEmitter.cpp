// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionEmitter.h"
#include "Products/ByteFloats.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ContractionEmitter::ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                       const Contraction &contraction, const ContractionTile &tile)
    : GPUKernelEmitter(kernel, function), contraction(contraction), tile(tile) {}

int64_t ContractionEmitter::minBlocksPerSM() const { return tile.blocksPerSM; }

// ptxas interleaves the elements of the epilogue's vectors and takes all registers that it may have, so
// kernels of large tiles have a limit. With promoted sums a thread has two sets of accumulators, and as many
// where its warp has a tile of 64 x 64.
int64_t ContractionEmitter::maxRegisters() const {
  constexpr int64_t ofOneSet = 192, ofMany = 255;
  if (contraction.instruction != MathInstruction::MmaSync || tile.m <= 64 || tile.blocksPerSM > 1 ||
      tile.loadsByTma)
    return 0;
  bool isLarge = hasLargeWarps(tile);
  return isLarge || promotionStep(contraction.op) != 0 ? ofMany : ofOneSet;
}

// Sums of integers are the same in any order, so they need no permission.
void ContractionEmitter::recordPermissions() {
  linalg::GenericOp op = contraction.op;
  Type element = getElementTypeOrSelf(contraction.operandA->get().getType());
  if (contraction.instruction == MathInstruction::Fma)
    return;
  if (element.isF32())
    recordNumericsUse(op.getLoc(), "tf32", Permissions::narrow);
  else if (isa<FloatType>(element))
    recordNumericsUse(op.getLoc(), "tensor-cores", Permissions::mma);
  NumericsLog *log = NumericsLog::get(op.getContext());
  if (log && promotionStep(op) != 0)
    log->record(op.getLoc(), "instruction", describePromoted(contraction));
}

// K of an operand in GPU memory is less than the bytes of that memory. Each thread keeps one accumulator per
// doubling of K for the pairwise tree.
void ContractionEmitter::boundReductions() {
  int64_t k = reducedElements(contraction.op);
  if (work == Work::partial && !ShapedType::isDynamic(k))
    longestReduction = k;
  else if (buffers.count(contraction.operandA->get()) || buffers.count(contraction.operandB->get()))
    longestReduction = kMaxMemoryBytes;
}

LogicalResult ContractionEmitter::emitPartialNodes() {
  boundReductions();
  recordPermissions();
  partialTree.layOutNodes();
  return contractionKernel.emitNodes();
}

LogicalResult ContractionEmitter::emitOutputs() {
  if (work == Work::partial)
    return emitPartialNodes();
  boundReductions();
  recordPermissions();
  return contraction.instruction == MathInstruction::Wgmma ? warpgroupKernel.emit()
                                                           : contractionKernel.emit();
}
