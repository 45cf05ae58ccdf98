// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionMatch.h"
#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static bool uses(AffineMap map, unsigned loop) { return map.isFunctionOfDim(loop); }

// The only operation that reduces, with two operands and one axis.
static linalg::GenericOp onlyReduction(KernelOp kernel, std::string &reason) {
  linalg::GenericOp found;
  for (auto generic : kernel.getBody().front().getOps<linalg::GenericOp>()) {
    if (generic.getNumReductionLoops() == 0)
      continue;
    if (found) {
      reason = "it has several reductions";
      return {};
    }
    found = generic;
  }
  if (!found || found.getNumDpsInputs() != 2 || found.getNumResults() != 1 ||
      found.getNumReductionLoops() != 1) {
    reason = "it has no product of two operands over one axis";
    return {};
  }
  // Threads outside of the result compute too, with operands clamped to their bounds.
  bool readsElsewhere =
      !found.getOps<linalg::IndexOp>().empty() || !found.getOps<tensor::ExtractOp>().empty();
  if (readsElsewhere || matchReduction(found).form != ReductionForm::joined) {
    reason = readsElsewhere ? "its sum reads more than its operands" : "its sum is one chain";
    return {};
  }
  return found;
}

// f32 += f32(a) * f32(b), as the conversion of contractions writes it.
static bool multipliesWidened(linalg::GenericOp op) {
  Block *body = op.getBlock();
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  auto widens = [&](Value value, unsigned argument) {
    auto widening = value.getDefiningOp<ConvertOp>();
    return widening && widening.getInput() == body->getArgument(argument);
  };
  return fma && fma.getType().isF32() && widens(fma.getA(), 0) && widens(fma.getB(), 1) &&
         fma.getC() == body->getArgument(2);
}

static bool multipliesShort(linalg::GenericOp op) {
  Type left = op.getBlock()->getArgument(0).getType(), right = op.getBlock()->getArgument(1).getType();
  return multipliesWidened(op) && (left.isBF16() || left.isF16()) && left == right;
}

bool device::isByteFloat(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

// f16 stands for 8-bit floats that were widened (widenByteFloats).
static bool multipliesByteFloats(linalg::GenericOp op) {
  Type left = op.getBlock()->getArgument(0).getType(), right = op.getBlock()->getArgument(1).getType();
  return multipliesWidened(op) &&
         ((isByteFloat(left) && isByteFloat(right)) || (left.isF16() && right.isF16()));
}

// f32 += a * b of f32.
static bool multipliesFloats(linalg::GenericOp op) {
  Block *body = op.getBlock();
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  return fma && fma.getType().isF32() && fma.getA() == body->getArgument(0) &&
         fma.getB() == body->getArgument(1) && fma.getC() == body->getArgument(2);
}

InstructionAttr device::fixedInstruction(linalg::GenericOp op) {
  return op->getAttrOfType<InstructionAttr>(kInstructionAttr);
}

int64_t device::promotionStep(linalg::GenericOp op) {
  InstructionAttr instruction = fixedInstruction(op);
  return instruction ? instruction.getPromote() : 0;
}

int64_t device::chainLength(linalg::GenericOp op) {
  InstructionAttr instruction = fixedInstruction(op);
  return instruction ? instruction.getChain() : 0;
}

static bool startsAtZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill &&
         (matchPattern(fill.getInputs()[0], m_PosZeroFloat()) || matchPattern(fill.getInputs()[0], m_Zero()));
}

// A kernel may choose tensor cores itself only with `contract`, since a fusion that reads the product in
// another order belongs to another class, which uses FMA. Without it the instruction is fixed before fusion
// (InstructionAttr). Integers need no permission: their sums are the same in any order.
static bool mayUseTensorCores(KernelOp kernel, linalg::GenericOp op) {
  if (!startsAtZero(op))
    return false;
  if (multipliesBytes(op))
    return true;
  if (InstructionAttr instruction = fixedInstruction(op))
    return instruction.getK() == InstructionAttr::kByteK ? multipliesByteFloats(op) : multipliesShort(op);
  if (!allows(kernel, Permissions::contract))
    return false;
  if (multipliesFloats(op))
    return allows(kernel, Permissions::narrow) && allowsRewrite("tf32", Permissions::narrow, op);
  // The lowering of bf16, which CPUs have an instruction for, too, has asked already.
  bool isBF16 = op.getBlock()->getArgument(0).getType().isBF16();
  return allows(op, Permissions::mma) && multipliesShort(op) &&
         (isBF16 || allowsRewrite("tensor-cores", Permissions::mma, op));
}

// Whether every operation of the kernel that depends on the contraction has its result only at its own
// position. Other values are computed wherever they are read.
static bool isReadInPlace(KernelOp kernel, linalg::GenericOp contraction) {
  llvm::SmallPtrSet<Operation *, 8> dependent = {contraction};
  auto depends = [&](Value value) { return dependent.contains(value.getDefiningOp()); };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (&op != contraction)
      for (Region &region : op.getRegions())
        if (region
                .walk([&](Operation *nested) {
                  return WalkResult(failure(llvm::any_of(nested->getOperands(), depends)));
                })
                .wasInterrupted())
          return false;
    if (&op == contraction || llvm::none_of(op.getOperands(), depends))
      continue;
    dependent.insert(&op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::CastOp>(op))
        return false;
      continue;
    }
    for (OpOperand &operand : generic->getOpOperands())
      if ((depends(operand.get()) || generic.isDpsInit(&operand)) &&
          !generic.getMatchingIndexingMap(&operand).isIdentity())
        return false;
  }
  return true;
}

// A dynamic size counts as this one when axes are compared.
static constexpr int64_t kUsualSize = 128;

// The axis of the result that rows of tiles run along, one that operand B lacks: that along which A is
// contiguous, else the longest, of equal ones the last. The axis before N if B has all.
static int64_t axisOfM(AffineMap out, AffineMap a, AffineMap b, ArrayRef<int64_t> shape) {
  int64_t found = -1, longest = 0;
  for (int64_t axis = out.getNumResults() - 2; axis >= 0; --axis) {
    unsigned loop = out.getDimPosition(axis);
    if (uses(b, loop))
      continue;
    int64_t size = ShapedType::isDynamic(shape[axis]) ? kUsualSize : shape[axis];
    if (a.getNumResults() > 0 && size > 1 && a.getResults().back().isFunctionOfDim(loop))
      return axis;
    if (found < 0 || size > longest)
      std::tie(found, longest) = std::make_pair(axis, size);
  }
  return found < 0 ? out.getNumResults() - 2 : found;
}

// Operand A has M and K, operand B has N and K.
static bool isMatrixProduct(const Contraction &found) {
  linalg::GenericOp op = found.op;
  AffineMap a = op.getMatchingIndexingMap(found.operandA), b = op.getMatchingIndexingMap(found.operandB);
  return a.isProjectedPermutation() && b.isProjectedPermutation() && !uses(a, found.nLoop) &&
         !uses(b, found.mLoop) && uses(a, found.mLoop) && uses(b, found.nLoop) && uses(a, found.kLoop) &&
         uses(b, found.kLoop);
}

std::optional<Contraction> device::matchContraction(KernelOp kernel, std::string &reason) {
  linalg::GenericOp op = onlyReduction(kernel, reason);
  if (!op)
    return std::nullopt;
  if (kernel.getOrderAttr() && kernel.getOrderAttr().hasLanes()) {
    reason = "it sums by lanes";
    return std::nullopt;
  }
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  int64_t rank = type.getRank();
  if (rank < 2 || !out.isProjectedPermutation()) {
    reason = "its result is no matrix";
    return std::nullopt;
  }
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  MathInstruction instruction =
      mayUseTensorCores(kernel, op) ? MathInstruction::MmaSync : MathInstruction::Fma;
  OpOperand *operandA = op.getDpsInputOperand(0), *operandB = op.getDpsInputOperand(1);
  unsigned nLoop = out.getDimPosition(rank - 1);
  if (uses(op.getMatchingIndexingMap(operandA), nLoop))
    std::swap(operandA, operandB);
  int64_t mAxis =
      axisOfM(out, op.getMatchingIndexingMap(operandA), op.getMatchingIndexingMap(operandB), type.getShape());
  Contraction found{op,    operandA,        operandB, out.getDimPosition(mAxis),
                    nLoop, reduced.front(), mAxis,    instruction};
  if (!isMatrixProduct(found)) {
    reason = "its operands do not have M and K, and N and K";
    return std::nullopt;
  }
  for (Value output : kernel.getBody().front().getTerminator()->getOperands())
    if (cast<RankedTensorType>(output.getType()).getShape() != type.getShape() ||
        !isReadInPlace(kernel, op)) {
      reason = "a result of it reads the product in another order";
      return std::nullopt;
    }
  return found;
}

StringRef device::nameOf(MathInstruction instruction) {
  if (instruction == MathInstruction::Fma)
    return "fma";
  return instruction == MathInstruction::MmaSync ? "mma.sync" : "wgmma";
}

// The limits of a tensor map: axes, elements, and the alignment of strides.
static std::string whyNoTensorMap(const Contraction &contraction, OpOperand *operand, unsigned loop) {
  linalg::GenericOp op = contraction.op;
  auto type = cast<RankedTensorType>(operand->get().getType());
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  if (!isa<BlockArgument>(operand->get()))
    return "an operand is computed by the kernel";
  if (type.getRank() > kTensorMapAxes)
    return "an operand has more than five axes";
  if (last != loop && last != contraction.kLoop)
    return "an operand is contiguous along none of M, N and K";
  if (type.isDynamicDim(type.getRank() - 1))
    return "the rows of an operand have a dynamic size";
  if (int64_t row = type.getShape().back() * type.getElementTypeBitWidth() / 8; row % kTensorMapRowBytes != 0)
    return "the rows of an operand have " + std::to_string(row) + " bytes, which is no multiple of 16";
  int64_t elements = 1;
  for (int64_t size : type.getShape()) // a launch checks dynamic sizes
    elements = std::min(elements * (ShapedType::isDynamic(size) ? 1 : std::min(size, kTensorMapElements)),
                        kTensorMapElements);
  if (elements == 0 || elements >= kTensorMapElements)
    return "an operand has no elements, or 2^31 of them or more";
  return "";
}

// Each operand has one element per register half: `ldmatrix` transposes 16-bit elements only.
bool device::canLoadByTma(const Contraction &contraction) {
  linalg::GenericOp op = contraction.op;
  auto isShort = [](OpOperand *operand) {
    return getElementTypeOrSelf(operand->get().getType()).getIntOrFloatBitWidth() == 16;
  };
  return contraction.instruction == MathInstruction::MmaSync && promotionStep(op) == 0 &&
         isShort(contraction.operandA) && isShort(contraction.operandB) &&
         whyNoTensorMap(contraction, contraction.operandA, contraction.mLoop).empty() &&
         whyNoTensorMap(contraction, contraction.operandB, contraction.nLoop).empty();
}

// wgmma transposes 16-bit elements only.
static std::string whyNoOperandOfWgmma(const Contraction &contraction, OpOperand *operand, unsigned loop) {
  std::string reason = whyNoTensorMap(contraction, operand, loop);
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand);
  Type element = getElementTypeOrSelf(operand->get().getType());
  if (!reason.empty() || element.getIntOrFloatBitWidth() == 16 ||
      map.getDimPosition(map.getNumResults() - 1) == contraction.kLoop)
    return reason;
  llvm::raw_string_ostream(reason) << "wgmma takes only K-major operands of " << element;
  return reason;
}

std::string device::whyNoWgmma(const Contraction &contraction) {
  std::string reason = whyNoOperandOfWgmma(contraction, contraction.operandA, contraction.mLoop);
  return reason.empty() ? whyNoOperandOfWgmma(contraction, contraction.operandB, contraction.nLoop) : reason;
}
