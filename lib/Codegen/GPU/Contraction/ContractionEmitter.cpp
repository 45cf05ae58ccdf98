// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionEmitter.h"
#include "Products/ByteFloats.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ContractionEmitter::ContractionEmitter(KernelOp kernel, ::mlir::gpu::GPUFuncOp function,
                                       const Contraction &contraction, const ContractionTile &tile)
    : GPUKernelEmitter(kernel, function), contraction(contraction), tile(tile) {}

// The accumulators of a large tile occupy more than half of the registers.
int64_t ContractionEmitter::minBlocksPerSM() const {
  bool large = contraction.instruction == MathInstruction::Wgmma ? tile.consumerWarpgroups > 1 : tile.m > 64;
  return large ? 1 : 2;
}

// ptxas interleaves the elements of the epilogue's vectors and takes all registers that it may have, so
// kernels of large tiles have a limit. With promoted sums a thread has two sets of accumulators and needs
// more.
int64_t ContractionEmitter::maxRegisters() const {
  constexpr int64_t ofOneSet = 192, ofTwoSets = 255;
  if (contraction.instruction != MathInstruction::MmaSync || tile.m <= 64)
    return 0;
  return promotionStep(contraction.op) != 0 ? ofTwoSets : ofOneSet;
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

LogicalResult ContractionEmitter::emitOutputs() {
  // K of an operand in GPU memory is less than the bytes of that memory. Each thread keeps one accumulator
  // per doubling of K for the pairwise tree.
  if (buffers.count(contraction.operandA->get()) || buffers.count(contraction.operandB->get()))
    longestReduction = kMaxMemoryBytes;
  recordPermissions();
  return contraction.instruction == MathInstruction::Wgmma ? warpgroupKernel.emit()
                                                           : contractionKernel.emit();
}
