// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionMatch.h"
#include "../Contractions.h"
#include "mlir/Dialect/Math/IR/Math.h"
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

// A strict program computes the same fused and unfused; but a fusion that reads the product in another order
// is of another class, which multiplies and adds. So tensor cores need a permission beside `mma` that strict
// lacks.
static bool mayUseTensorCores(KernelOp kernel, linalg::GenericOp op) {
  PermissionsAttr allow = kernel.getAllowAttr();
  return op->hasAttr(kMmaAttr) && allow && bitEnumContainsAll(allow.getValue(), Permissions::contract);
}

static bool startsAtZero(linalg::GenericOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.getInputs()[0], m_PosZeroFloat());
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
  if (type.getRank() < 2 || ShapedType::isDynamicShape(op.getStaticLoopRanges()) ||
      !out.isProjectedPermutation()) {
    reason = "its result is no matrix of known size";
    return std::nullopt;
  }
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  int64_t rank = type.getRank();
  Contraction found{op,
                    op.getDpsInputOperand(0),
                    op.getDpsInputOperand(1),
                    out.getDimPosition(rank - 2),
                    out.getDimPosition(rank - 1),
                    reduced.front(),
                    false};
  if (uses(op.getMatchingIndexingMap(found.rows), found.columnLoop))
    std::swap(found.rows, found.columns);
  AffineMap rows = op.getMatchingIndexingMap(found.rows), columns = op.getMatchingIndexingMap(found.columns);
  if (!rows.isProjectedPermutation() || !columns.isProjectedPermutation() || uses(rows, found.columnLoop) ||
      uses(columns, found.rowLoop) || !uses(rows, found.rowLoop) || !uses(columns, found.columnLoop) ||
      !uses(rows, found.depthLoop) || !uses(columns, found.depthLoop)) {
    reason = "its operands are not indexed by a row and a column of the result";
    return std::nullopt;
  }
  for (Value root : kernel.getBody().front().getTerminator()->getOperands())
    if (cast<RankedTensorType>(root.getType()).getShape() != type.getShape() || !readsInPlace(root, op)) {
      reason = "a result of it reads the product in another order";
      return std::nullopt;
    }
  found.tensorCores = mayUseTensorCores(kernel, op) && multipliesShort(op) && startsAtZero(op);
  return found;
}
