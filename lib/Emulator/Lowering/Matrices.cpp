// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix instructions. Fragments are passed through words in the thread's frame.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::ad::emulator;
using adsim::ElementKind;

static bool isPlain(NVVM::LdStMatrixShapeAttr shape, NVVM::LdStMatrixEltType type) {
  return shape.getM() == 8 && shape.getN() == 8 && type == NVVM::LdStMatrixEltType::B16;
}

static LogicalResult lowerLdMatrix(Lowering &l, NVVM::LdMatrixOp op) {
  if (!isPlain(op.getShape(), op.getEltType()))
    return l.refuse("loads matrices that are not 8x8 of 16 bits, which the emulator does not have");
  uint32_t count = op.getNum();
  Value words = l.words(count);
  l.callAt("adsim_ldmatrix", {},
           {op.getPtr(), words, l.constant(count), l.constant(op.getLayout() == NVVM::MMALayout::col)});
  auto type = dyn_cast<LLVM::LLVMStructType>(op.getType());
  l.replace(type ? l.structFromWords(words, type) : l.getWord(words, 0, l.i32));
  return success();
}

static LogicalResult lowerStMatrix(Lowering &l, NVVM::StMatrixOp op) {
  if (!isPlain(op.getShape(), op.getEltType()))
    return l.refuse("stores matrices that are not 8x8 of 16 bits, which the emulator does not have");
  auto count = static_cast<unsigned>(op.getSources().size());
  Value words = l.words(count);
  for (auto [index, value] : llvm::enumerate(op.getSources()))
    l.putWord(words, static_cast<unsigned>(index), value);
  l.callAt("adsim_stmatrix", {},
           {op.getPtr(), words, l.constant(count), l.constant(op.getLayout() == NVVM::MMALayout::col)});
  l.replace();
  return success();
}

static std::optional<ElementKind> kindOf(NVVM::MMATypes type) {
  switch (type) {
  case NVVM::MMATypes::f16:
    return ElementKind::F16;
  case NVVM::MMATypes::bf16:
    return ElementKind::BF16;
  case NVVM::MMATypes::tf32:
    return ElementKind::TF32;
  case NVVM::MMATypes::s8:
    return ElementKind::S8;
  case NVVM::MMATypes::u8:
    return ElementKind::U8;
  case NVVM::MMATypes::f64:
    return ElementKind::F64;
  case NVVM::MMATypes::f32:
    return ElementKind::F32;
  case NVVM::MMATypes::s32:
    return ElementKind::S32;
  default:
    return std::nullopt;
  }
}

/// The element kinds of A, B and the accumulators in one number.
static int64_t packKinds(ElementKind a, ElementKind b, ElementKind sum) {
  return static_cast<int64_t>(a) | static_cast<int64_t>(b) << 8 | static_cast<int64_t>(sum) << 16;
}

static bool hasMma(ElementKind a, ElementKind b, ElementKind sum, int64_t m, int64_t k) {
  switch (a) {
  case ElementKind::F16:
    return b == a && m == 16 && (k == 8 || k == 16) && (sum == ElementKind::F32 || sum == ElementKind::F16);
  case ElementKind::BF16:
    return b == a && m == 16 && (k == 8 || k == 16) && sum == ElementKind::F32;
  case ElementKind::TF32:
    return b == a && m == 16 && (k == 4 || k == 8) && sum == ElementKind::F32;
  case ElementKind::S8:
  case ElementKind::U8:
    return (b == ElementKind::S8 || b == ElementKind::U8) && sum == ElementKind::S32 &&
           ((m == 8 && k == 16) || (m == 16 && (k == 16 || k == 32)));
  case ElementKind::F64:
    return b == a && m == 8 && k == 4;
  default:
    return false;
  }
}

static LogicalResult lowerMma(Lowering &l, NVVM::MmaOp op) {
  auto shape = op.getShape();
  auto a = kindOf(*op.getMultiplicandAPtxType()), b = kindOf(*op.getMultiplicandBPtxType());
  auto sum = kindOf(op.accumPtxType()), result = kindOf(op.resultPtxType());
  bool plain =
      op.getLayoutA() == NVVM::MMALayout::row && op.getLayoutB() == NVVM::MMALayout::col && !op.getB1Op();
  if (!plain || !a || !b || !sum || sum != result || shape.getN() != 8 ||
      !hasMma(*a, *b, *sum, shape.getM(), shape.getK()))
    return l.refuse(
        "multiplies in a shape or type that the emulator does not have; it has f16, bf16, tf32, i8 and f64 "
        "with sums of the instruction's usual type, row by column");
  unsigned perValue = *a == ElementKind::F64 ? 2 : 1;
  auto type = cast<LLVM::LLVMStructType>(op.getType());
  Value in = l.words(static_cast<unsigned>(op->getNumOperands()) * perValue);
  Value out = l.words(static_cast<unsigned>(type.getBody().size()) * perValue);
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    l.putWord(in, static_cast<unsigned>(index) * perValue, value);
  bool saturates = op.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite;
  l.callAt("adsim_mma", {},
           {in, out, l.constant(shape.getM() | shape.getN() << 8 | shape.getK() << 16),
            l.constant(packKinds(*a, *b, *sum) | static_cast<int64_t>(saturates) << 24)});
  l.replace(l.structFromWords(out, type));
  return success();
}

// Products of 8-bit floats, which nvvm.mma.sync does not have.
static std::optional<ElementKind> kindOf(StringRef element) {
  return llvm::StringSwitch<std::optional<ElementKind>>(element)
      .Case("e4m3", ElementKind::E4M3)
      .Case("e5m2", ElementKind::E5M2)
      .Default(std::nullopt);
}

LogicalResult mlir::ad::emulator::lowerMmaIntrinsic(Lowering &l, LLVM::CallIntrinsicOp op) {
  StringRef name = op.getIntrin();
  constexpr unsigned wordsIn = 10, wordsOut = 4; // four of A, two of B, four accumulators
  bool plain = name.consume_front("llvm.nvvm.mma.m16n8k32.row.col.f32.") && name.consume_back(".f32");
  auto [first, second] = name.split('.');
  auto a = kindOf(first), b = kindOf(second);
  if (!plain || !a || !b || op.getArgs().size() != wordsIn || op->getNumResults() != 1)
    return l.refuse("multiplies in a shape or type that the emulator does not have: " + op.getIntrin() +
                    "; of 8-bit floats it has m16n8k32 with sums of f32");
  Value in = l.words(wordsIn), out = l.words(wordsOut);
  for (auto [index, value] : llvm::enumerate(op.getArgs()))
    l.putWord(in, static_cast<unsigned>(index), value);
  l.callAt("adsim_mma", {},
           {in, out, l.constant(16 | 8 << 8 | 32 << 16), l.constant(packKinds(*a, *b, ElementKind::F32))});
  l.replace(l.structFromWords(out, cast<LLVM::LLVMStructType>(op->getResult(0).getType())));
  return success();
}

static std::optional<ElementKind> kindOf(NVVM::WGMMATypes type) {
  switch (type) {
  case NVVM::WGMMATypes::f16:
    return ElementKind::F16;
  case NVVM::WGMMATypes::bf16:
    return ElementKind::BF16;
  case NVVM::WGMMATypes::tf32:
    return ElementKind::TF32;
  case NVVM::WGMMATypes::s8:
    return ElementKind::S8;
  case NVVM::WGMMATypes::u8:
    return ElementKind::U8;
  case NVVM::WGMMATypes::f32:
    return ElementKind::F32;
  case NVVM::WGMMATypes::s32:
    return ElementKind::S32;
  default:
    return std::nullopt;
  }
}

static bool hasWgmma(ElementKind a, ElementKind b, ElementKind sum) {
  bool integers = a == ElementKind::S8 || a == ElementKind::U8;
  if (integers)
    return (b == ElementKind::S8 || b == ElementKind::U8) && sum == ElementKind::S32;
  return a == b && (sum == ElementKind::F32 || (sum == ElementKind::F16 && a == ElementKind::F16));
}

static LogicalResult lowerWgmma(Lowering &l, NVVM::WgmmaMmaAsyncOp op) {
  auto a = kindOf(op.getTypeA()), b = kindOf(op.getTypeB()), sum = kindOf(op.getTypeD());
  // The attributes name the layout of A and B: `row` of A and `col` of B mean K-major.
  bool transposedA = op.getLayoutA() == NVVM::MMALayout::col,
       transposedB = op.getLayoutB() == NVVM::MMALayout::row;
  bool wide = a && (*a == ElementKind::F16 || *a == ElementKind::BF16);
  if (!a || !b || !sum || !hasWgmma(*a, *b, *sum) || op.getSatfinite() ||
      ((transposedA || transposedB) && !wide))
    return l.refuse("multiplies in types that the emulator does not have; it has f16, bf16, tf32 and i8");
  auto type = cast<LLVM::LLVMStructType>(op.getType());
  Value words = l.words(static_cast<unsigned>(type.getBody().size()));
  for (unsigned i = 0; i < type.getBody().size(); ++i)
    l.putWord(words, i, LLVM::ExtractValueOp::create(l.builder, l.loc(), op.getInouts(), i));
  int64_t flags = transposedA | transposedB << 1 | (op.getScaleD() == NVVM::WGMMAScaleOut::one) << 2 |
                  (op.getScaleA() == NVVM::WGMMAScaleIn::neg) << 3 |
                  (op.getScaleB() == NVVM::WGMMAScaleIn::neg) << 4;
  l.callAt("adsim_wgmma", {},
           {words, l.null(), op.getDescriptorA(), op.getDescriptorB(), l.constant(op.getShape().getN()),
            l.constant(packKinds(*a, *b, *sum)), l.constant(flags), l.constant(accumulatorsOf(op))});
  l.replace(l.structFromWords(words, type));
  return success();
}

static LogicalResult lowerWgmmaFence(Lowering &l, NVVM::WgmmaFenceAlignedOp op) {
  l.callAt("adsim_wgmma_fence", {}, {});
  l.replace();
  return success();
}

static LogicalResult lowerWgmmaCommit(Lowering &l, NVVM::WgmmaGroupSyncAlignedOp op) {
  l.callAt("adsim_wgmma_commit", {}, {});
  l.replace();
  return success();
}

static LogicalResult lowerWgmmaWait(Lowering &l, NVVM::WgmmaWaitGroupSyncOp op) {
  l.callAt("adsim_wgmma_wait", {}, {l.constant(static_cast<int64_t>(op.getGroup()))});
  l.replace();
  return success();
}

void mlir::ad::emulator::addMatrices(InstructionTable &table) {
  addInstruction(table, lowerLdMatrix);
  addInstruction(table, lowerStMatrix);
  addInstruction(table, lowerMma);
  addInstruction(table, lowerWgmma);
  addInstruction(table, lowerWgmmaFence);
  addInstruction(table, lowerWgmmaCommit);
  addInstruction(table, lowerWgmmaWait);
}
