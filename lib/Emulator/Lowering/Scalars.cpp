// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Approximations and conversions of scalars.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;

static LogicalResult lowerReciprocal(Lowering &l, NVVM::RcpApproxFtzF32Op op) {
  l.replace(l.call("adsim_rcp_approx", l.f32, {op.getArg(), l.constant(1)}));
  return success();
}

static LogicalResult lowerToTF32(Lowering &l, NVVM::ConvertFloatToTF32Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA && op.getRnd() != NVVM::FPRoundingMode::RN)
    return l.refuse("rounds in a way that the emulator does not know");
  if (op.getRelu() || op.getSat() != NVVM::SaturationMode::NONE)
    return l.refuse("clamps, which the emulator does not have");
  l.replace(
      l.call("adsim_to_tf32", l.i32, {op.getSrc(), l.constant(op.getRnd() == NVVM::FPRoundingMode::RN)}));
  return success();
}

static StringRef approximationOf(StringRef intrinsic, bool &flushes) {
  static const llvm::StringMap<StringRef> functions = {
      {"llvm.nvvm.ex2.approx", "adsim_ex2_approx"},   {"llvm.nvvm.lg2.approx", "adsim_lg2_approx"},
      {"llvm.nvvm.rcp.approx", "adsim_rcp_approx"},   {"llvm.nvvm.rsqrt.approx", "adsim_rsqrt_approx"},
      {"llvm.nvvm.sqrt.approx", "adsim_sqrt_approx"}, {"llvm.nvvm.sin.approx", "adsim_sin_approx"},
      {"llvm.nvvm.cos.approx", "adsim_cos_approx"},   {"llvm.nvvm.tanh.approx", "adsim_tanh_approx"},
  };
  intrinsic.consume_back(".f");
  intrinsic.consume_back(".f32");
  flushes = intrinsic.consume_back(".ftz");
  return functions.lookup(intrinsic);
}

LogicalResult mlir::ad::emulator::lowerIntrinsic(Lowering &l, LLVM::CallIntrinsicOp op) {
  if (op.getIntrin() == "llvm.arithmetic.fence") // LLVM's back ends of hosts implement it
    return success();
  if (op.getIntrin().starts_with("llvm.nvvm.mma."))
    return lowerMmaIntrinsic(l, op);
  bool flushes = false;
  StringRef function = approximationOf(op.getIntrin(), flushes);
  if (function.empty() || op.getNumResults() != 1 || op.getResult(0).getType() != l.f32)
    return l.refuse("is an intrinsic that the emulator does not have: " + op.getIntrin());
  l.replace(l.call(function, l.f32, {op.getArgs().front(), l.constant(flushes)}));
  return success();
}

void mlir::ad::emulator::addScalars(InstructionTable &table) {
  addInstruction(table, lowerReciprocal);
  addInstruction(table, lowerToTF32);
  addInstruction(table, lowerIntrinsic);
}
