// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ByteFloats.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

static Value castToF16(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(tensor::DimOp::create(builder, loc, tensor, axis));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), builder.getF16Type(), sizes);
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, empty.getType(), tensor, empty, maps, loops,
                                   [](OpBuilder &nested, Location at, ValueRange scalars) {
                                     linalg::YieldOp::create(
                                         nested, at,
                                         convertScalar(nested, at, scalars[0], nested.getF16Type()));
                                   })
      .getResult(0);
}

void device::widenByteFloats(KernelOp kernel) {
  OpBuilder builder(kernel);
  for (auto product : kernel.getBody().getOps<linalg::GenericOp>()) {
    if (promotionStep(product) == 0)
      continue;
    builder.setInsertionPoint(product);
    for (OpOperand *operand : product.getDpsInputOperands()) {
      if (!isByteFloat(getElementTypeOrSelf(operand->get().getType())))
        continue;
      operand->set(castToF16(builder, product.getLoc(), operand->get()));
      product.getMatchingBlockArgument(operand).setType(builder.getF16Type());
    }
  }
}

static Type typeOf(OpOperand *operand) { return getElementTypeOrSelf(operand->get().getType()); }

// As the PTX ISA writes it.
static StringRef nameOf(Type element) {
  if (element.isF16() || element.isBF16())
    return element.isF16() ? "f16" : "bf16";
  return isa<Float8E4M3FNType>(element) ? "e4m3" : "e5m2";
}

static std::string shapeAndTypes(const Contraction &contraction, StringRef between) {
  Type a = typeOf(contraction.operandA), b = typeOf(contraction.operandB);
  int64_t k = isByteFloat(a) ? InstructionAttr::kByteK : InstructionAttr::kShortK;
  return llvm::formatv("m{0}n{1}k{2}.{3}{4}.{5}", InstructionAttr::kM, InstructionAttr::kN, k, between,
                       nameOf(a), nameOf(b));
}

std::string device::intrinsicOfByteFloats(const Contraction &contraction) {
  return "llvm.nvvm.mma." + shapeAndTypes(contraction, "row.col.f32.") + ".f32";
}

// `ldmatrix` transposes 16-bit elements only.
static bool packsBytes(const Contraction &contraction, OpOperand *operand) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand);
  return isByteFloat(typeOf(operand)) && map.getDimPosition(map.getNumResults() - 1) != contraction.kLoop;
}

std::string device::describePromoted(const Contraction &contraction) {
  linalg::GenericOp op = contraction.op;
  std::string text = "mma.sync." + shapeAndTypes(contraction, "");
  if (fixedInstruction(op).getK() == InstructionAttr::kByteK && !isByteFloat(typeOf(contraction.operandA)))
    text += " of widened 8-bit floats";
  text += llvm::formatv(", promoted to f32 every {0} of K", promotionStep(op));
  for (auto [operand, name] : {std::pair(contraction.operandA, "A"), std::pair(contraction.operandB, "B")})
    if (packsBytes(contraction, operand))
      text += llvm::formatv(", {0} transposed byte by byte", name);
  return text;
}
