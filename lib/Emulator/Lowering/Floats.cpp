// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Float arithmetic that gives the GPU's bits on the host. Fast-math flags are removed, so that the compiler
// neither contracts nor reorders. bf16 is computed in f32 and rounded by integer arithmetic, since the
// conversions of hosts flush subnormals or call functions that do not exist. The second rounding changes no
// result, since f32 has more than twice the digits of bf16.
#include "Lowering.h"
#include "mlir/Dialect/LLVMIR/LLVMInterfaces.h"

using namespace mlir;
using namespace mlir::ad::emulator;

static bool isBF16(Type type) { return getElementTypeOrSelf(type).isBF16(); }

namespace {

/// Arithmetic on scalars and vectors alike.
class FloatEmitter {
public:
  explicit FloatEmitter(Lowering &l) : l(l) {}

  Value widen(Value value);
  Value round(Value value);

private:
  Type like(Type shape, Type element) const {
    auto vector = dyn_cast<VectorType>(shape);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value splat(Type type, int64_t value) {
    Type element = getElementTypeOrSelf(type);
    Attribute attribute = l.builder.getIntegerAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attribute = DenseElementsAttr::get(vector, attribute);
    return LLVM::ConstantOp::create(l.builder, l.loc(), type, cast<TypedAttr>(attribute));
  }
  Lowering &l;
};

Value FloatEmitter::widen(Value value) {
  Type type = value.getType(), shorts = like(type, l.i16), words = like(type, l.i32);
  Value bits = LLVM::BitcastOp::create(l.builder, l.loc(), shorts, value);
  bits = LLVM::ZExtOp::create(l.builder, l.loc(), words, bits);
  bits = LLVM::ShlOp::create(l.builder, l.loc(), bits, splat(words, 16));
  return LLVM::BitcastOp::create(l.builder, l.loc(), like(type, l.f32), bits);
}

Value FloatEmitter::round(Value value) {
  Type type = value.getType(), words = like(type, l.i32), shorts = like(type, l.i16);
  constexpr int64_t canonicalNaN = 0x7fff, justBelowHalf = 0x7fff;
  Value bits = LLVM::BitcastOp::create(l.builder, l.loc(), words, value);
  Value high = LLVM::LShrOp::create(l.builder, l.loc(), bits, splat(words, 16));
  Value odd = LLVM::AndOp::create(l.builder, l.loc(), high, splat(words, 1));
  Value sum = LLVM::AddOp::create(l.builder, l.loc(), bits, splat(words, justBelowHalf));
  sum = LLVM::AddOp::create(l.builder, l.loc(), sum, odd);
  Value rounded = LLVM::LShrOp::create(l.builder, l.loc(), sum, splat(words, 16));
  Value nan = LLVM::FCmpOp::create(l.builder, l.loc(), LLVM::FCmpPredicate::uno, value, value);
  rounded = LLVM::SelectOp::create(l.builder, l.loc(), nan, splat(words, canonicalNaN), rounded);
  rounded = LLVM::TruncOp::create(l.builder, l.loc(), shorts, rounded);
  return LLVM::BitcastOp::create(l.builder, l.loc(), like(type, l.builder.getBF16Type()), rounded);
}

LogicalResult widenAndRound(Lowering &l, Operation *op) {
  FloatEmitter floats(l);
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(isBF16(operand.getType()) ? floats.widen(operand) : operand);
  state.addAttributes(op->getAttrs());
  for (Type type : op->getResultTypes()) {
    auto vector = dyn_cast<VectorType>(type);
    state.addTypes(!isBF16(type) ? type : vector ? Type(vector.clone(l.f32)) : l.f32);
  }
  Operation *wide = l.builder.create(state);
  Value result = wide->getResult(0);
  l.replace(isBF16(op->getResult(0).getType()) ? floats.round(result) : result);
  return success();
}

LogicalResult expandBF16(Lowering &l, Operation *op) {
  FloatEmitter floats(l);
  if (auto extension = dyn_cast<LLVM::FPExtOp>(op)) {
    Value wide = floats.widen(extension.getArg());
    if (!getElementTypeOrSelf(extension.getType()).isF32())
      wide = LLVM::FPExtOp::create(l.builder, l.loc(), extension.getType(), wide);
    l.replace(wide);
    return success();
  }
  if (auto truncation = dyn_cast<LLVM::FPTruncOp>(op)) {
    if (!getElementTypeOrSelf(truncation.getArg().getType()).isF32())
      return l.refuse("rounds to bf16 from a type other than f32; the emulator would round twice");
    l.replace(floats.round(truncation.getArg()));
    return success();
  }
  if (isa<LLVM::FAddOp, LLVM::FSubOp, LLVM::FMulOp, LLVM::FDivOp, LLVM::FCmpOp, LLVM::FNegOp, LLVM::FAbsOp,
          LLVM::MaxNumOp, LLVM::MinNumOp, LLVM::MaximumOp, LLVM::MinimumOp, LLVM::SqrtOp, LLVM::FPToSIOp,
          LLVM::FPToUIOp>(op))
    return widenAndRound(l, op);
  return l.refuse("computes in bf16 in a way that the emulator does not know; widen to f32 first");
}

/// Operations that only move values.
bool movesValues(Operation *op) {
  return isa<LLVM::LoadOp, LLVM::StoreOp, LLVM::BitcastOp, LLVM::SelectOp, LLVM::ConstantOp, LLVM::UndefOp,
             LLVM::PoisonOp, LLVM::ZeroOp, LLVM::InsertElementOp, LLVM::ExtractElementOp,
             LLVM::ShuffleVectorOp, LLVM::InsertValueOp, LLVM::ExtractValueOp, LLVM::CallOp, LLVM::ReturnOp,
             LLVM::BrOp, LLVM::CondBrOp, LLVM::SwitchOp, LLVM::FreezeOp, LLVM::MaskedLoadOp,
             LLVM::MaskedStoreOp, LLVM::vector_extract, LLVM::vector_insert>(op);
}

} // namespace

LogicalResult mlir::ad::emulator::expandFloats(Lowering &l, Operation *op) {
  if (auto flags = dyn_cast<LLVM::FastmathFlagsInterface>(op))
    op->setAttr(flags.getFastmathAttrName(),
                LLVM::FastmathFlagsAttr::get(l.context(), LLVM::FastmathFlags::none));
  if (isa<LLVM::FMAOp, LLVM::FMulAddOp>(op) && getElementTypeOrSelf(op->getResult(0).getType()).isF16())
    return l.refuse("multiplies and adds in f16, which the host would round twice; widen to f32");
  if (auto fused = dyn_cast<LLVM::FMulAddOp>(op)) { // one instruction on the GPU, two on a host without flags
    l.replace(LLVM::FMAOp::create(l.builder, l.loc(), fused.getType(), fused.getOperands()));
    return success();
  }
  if (isa<LLVM::ExpOp, LLVM::Exp2Op, LLVM::Exp10Op, LLVM::LogOp, LLVM::Log2Op, LLVM::Log10Op, LLVM::SinOp,
          LLVM::CosOp, LLVM::TanOp, LLVM::PowOp, LLVM::PowIOp, LLVM::SinhOp, LLVM::CoshOp, LLVM::TanhOp,
          LLVM::ASinOp, LLVM::ACosOp, LLVM::ATanOp, LLVM::ATan2Op>(op))
    return l.refuse(
        "is a function of the host's library, whose bits are not the GPU's; expand it into arithmetic or "
        "use an approximation of NVVM");
  auto anyBF16 = [](TypeRange types) { return llvm::any_of(types, isBF16); };
  if (movesValues(op) || (!anyBF16(op->getOperandTypes()) && !anyBF16(op->getResultTypes())))
    return success();
  return expandBF16(l, op);
}
