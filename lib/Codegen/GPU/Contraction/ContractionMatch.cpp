// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionMatch.h"
#include "adjoint/Codegen/Kernel/Contractions.h"
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
  // Threads outside of the result compute too, and read the nearest element.
  bool readsElsewhere =
      !found.getOps<linalg::IndexOp>().empty() || !found.getOps<tensor::ExtractOp>().empty();
  if (readsElsewhere || matchReduction(found).form != ReductionForm::joined) {
    reason = readsElsewhere ? "its sum reads more than its operands" : "its sum is one chain";
    return {};
  }
  return found;
}

// f32 += f32(a) * f32(b), as the conversion of contractions writes it.
static bool multipliesShort(linalg::GenericOp op) {
  Block *body = op.getBlock();
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  Type type = body->getArgument(0).getType();
  auto widens = [&](Value value, unsigned argument) {
    auto widening = value.getDefiningOp<ConvertOp>();
    return widening && widening.getInput() == body->getArgument(argument) &&
           widening.getInput().getType() == type;
  };
  return fma && fma.getType().isF32() && (type.isBF16() || type.isF16()) && widens(fma.getA(), 0) &&
         widens(fma.getB(), 1) && fma.getC() == body->getArgument(2);
}

// f32 += a * b of f32.
static bool multipliesFloats(linalg::GenericOp op) {
  Block *body = op.getBlock();
  auto fma = body->getTerminator()->getOperand(0).getDefiningOp<math::FmaOp>();
  return fma && fma.getType().isF32() && fma.getA() == body->getArgument(0) &&
         fma.getB() == body->getArgument(1) && fma.getC() == body->getArgument(2);
}

static bool startsAtZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill &&
         (matchPattern(fill.getInputs()[0], m_PosZeroFloat()) || matchPattern(fill.getInputs()[0], m_Zero()));
}

// A strict program computes the same fused and unfused; but a fusion that reads the product in another order
// is of another class, which multiplies and adds. So tensor cores need a permission beside `mma` or `narrow`
// that strict lacks; but for integers, whose sums are the same.
static bool mayUseTensorCores(KernelOp kernel, linalg::GenericOp op) {
  if (!startsAtZero(op))
    return false;
  if (multipliesBytes(op))
    return true;
  PermissionsAttr attribute = kernel.getAllowAttr();
  Permissions allow = attribute ? attribute.getValue() : Permissions::none;
  if (!bitEnumContainsAll(allow, Permissions::contract))
    return false;
  return multipliesFloats(op) ? bitEnumContainsAll(allow, Permissions::narrow)
                              : op->hasAttr(kMmaAttr) && multipliesShort(op);
}

// Whether the value has the contraction's result in it only at its own position.
static bool readsInPlace(Value value, linalg::GenericOp contraction) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (generic == contraction)
    return true;
  if (!generic)
    return !value.getDefiningOp() ||
           !isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::CastOp>(value.getDefiningOp());
  auto result = cast<OpResult>(value).getResultNumber();
  bool ownPosition = generic.getMatchingIndexingMap(generic.getDpsInitOperand(result)).isIdentity();
  return llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *input) {
    if (isa<BlockArgument>(input->get()))
      return true;
    bool element = ownPosition && generic.getMatchingIndexingMap(input).isIdentity();
    return input->get().getDefiningOp() == contraction ? element
                                                       : readsInPlace(input->get(), contraction) && element;
  });
}

// Each operand has one side of the result, and both have the depth.
static bool isIndexedBySides(const Contraction &found) {
  linalg::GenericOp op = found.op;
  AffineMap rows = op.getMatchingIndexingMap(found.rows), columns = op.getMatchingIndexingMap(found.columns);
  return rows.isProjectedPermutation() && columns.isProjectedPermutation() && !uses(rows, found.columnLoop) &&
         !uses(columns, found.rowLoop) && uses(rows, found.rowLoop) && uses(columns, found.columnLoop) &&
         uses(rows, found.depthLoop) && uses(columns, found.depthLoop);
}

std::optional<Contraction> device::matchContraction(KernelOp kernel, std::string &reason) {
  linalg::GenericOp op = onlyReduction(kernel, reason);
  if (!op)
    return std::nullopt;
  if (kernel.getOrderAttr() && kernel.getOrderAttr().isLanes()) {
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
  Units units = mayUseTensorCores(kernel, op) ? Units::TensorCores : Units::MultiplyAdds;
  Contraction found{op,
                    op.getDpsInputOperand(0),
                    op.getDpsInputOperand(1),
                    out.getDimPosition(rank - 2),
                    out.getDimPosition(rank - 1),
                    reduced.front(),
                    units};
  if (uses(op.getMatchingIndexingMap(found.rows), found.columnLoop))
    std::swap(found.rows, found.columns);
  if (!isIndexedBySides(found)) {
    reason = "its operands are not indexed by a row and a column of the result";
    return std::nullopt;
  }
  for (Value root : kernel.getBody().front().getTerminator()->getOperands())
    if (cast<RankedTensorType>(root.getType()).getShape() != type.getShape() || !readsInPlace(root, op)) {
      reason = "a result of it reads the product in another order";
      return std::nullopt;
    }
  return found;
}

StringRef device::nameOf(Units units) {
  if (units == Units::MultiplyAdds)
    return "multiply-adds";
  return units == Units::TensorCores ? "tensor cores" : "warpgroups";
}

// The limits of a tensor map: axes, elements of an axis, and what distances in memory are a multiple of.
static std::string whyNoTensorMap(const Contraction &contraction, OpOperand *operand, unsigned loop) {
  constexpr int64_t mostAxes = 5, mostElements = int64_t(1) << 31, alignment = 16;
  linalg::GenericOp op = contraction.op;
  auto type = cast<RankedTensorType>(operand->get().getType());
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  if (!isa<BlockArgument>(operand->get()))
    return "an operand is computed by the kernel";
  if (type.getRank() > mostAxes)
    return "an operand has more than five axes";
  if (last != loop && last != contraction.depthLoop)
    return "an operand is contiguous along neither a side of the result nor the depth";
  if (type.isDynamicDim(type.getRank() - 1))
    return "only the run knows how long the rows of an operand are";
  if (int64_t row = type.getShape().back() * type.getElementTypeBitWidth() / 8; row % alignment != 0)
    return "the rows of an operand have " + std::to_string(row) + " bytes, which is no multiple of 16";
  int64_t elements = 1;
  for (int64_t size : type.getShape()) // what only the run knows is checked there
    elements =
        std::min(elements * (ShapedType::isDynamic(size) ? 1 : std::min(size, mostElements)), mostElements);
  if (elements == 0 || elements >= mostElements)
    return "an operand has no elements, or 2^31 of them or more";
  return "";
}

// Instructions of warpgroups turn elements of 16 bits alone.
static std::string whyNotAsItLies(const Contraction &contraction, OpOperand *operand, unsigned loop) {
  std::string reason = whyNoTensorMap(contraction, operand, loop);
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(operand);
  Type element = getElementTypeOrSelf(operand->get().getType());
  if (!reason.empty() || element.getIntOrFloatBitWidth() == 16 ||
      map.getDimPosition(map.getNumResults() - 1) == contraction.depthLoop)
    return reason;
  llvm::raw_string_ostream(reason) << "warpgroups take " << element << " along the depth alone";
  return reason;
}

std::string device::whyNoWarpgroups(const Contraction &contraction) {
  std::string reason = whyNotAsItLies(contraction, contraction.rows, contraction.rowLoop);
  return reason.empty() ? whyNotAsItLies(contraction, contraction.columns, contraction.columnLoop) : reason;
}
