// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of contractions.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ScaledDot.h"

using namespace mlir;
using namespace mlir::ad;

static int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

// A cotangent in the accumulator's type meets the other operand in that type: widening is exact, rounding the
// cotangent would lose the precision for which the wide result was requested.
static Value inTypeOf(Rule &rule, Value operand) {
  return rule.cast(operand, getElementTypeOrSelf(rule.cotangent.getType()));
}

//===- dot -===//

// Axes that are in neither list, ascending.
static SmallVector<int64_t> freeAxes(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  return llvm::filter_to_vector(llvm::seq<int64_t>(0, rank), [&](int64_t axis) {
    return !llvm::is_contained(batch, axis) && !llvm::is_contained(contract, axis);
  });
}

namespace {
/// One operand of a dot, as seen when its cotangent is built.
struct Side {
  Value value;
  ArrayRef<int64_t> batch, contract;
  SmallVector<int64_t> free;
  /// The first of its free axes in the result.
  int64_t freeInResult;

  Side(Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract)
      : value(value), batch(batch), contract(contract), free(freeAxes(rankOf(value), batch, contract)) {}
};
} // namespace

static Value withUnitAxis(Rule &rule, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(1);
  return ReshapeOp::create(rule.builder, rule.loc, type.clone(shape), value,
                           dynamicSizes(rule.builder, rule.loc, value), PermissionsAttr());
}

namespace {
/// The lists of a contraction.
struct Axes {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
};
} // namespace

// Makes the contraction of the cotangent with another operand; the flag says whether the cotangent is lhs.
using MakeProduct = function_ref<Value(Value lhs, Value rhs, const Axes &axes, bool cotangentFirst)>;

// A contraction; over an axis of size 1 after all others when there is nothing to contract, so that every
// product of a derivative is a sum of products.
static Value contraction(Rule &rule, Value lhs, Value rhs, Axes axes, bool cotangentFirst,
                         MakeProduct makeProduct) {
  if (axes.lhsContract.empty()) {
    axes.lhsContract = {rankOf(lhs)};
    axes.rhsContract = {rankOf(rhs)};
    lhs = withUnitAxis(rule, lhs);
    rhs = withUnitAxis(rule, rhs);
  }
  return makeProduct(lhs, rhs, axes, cotangentFirst);
}

// The contraction of the cotangent with the other side over the other's free axes has the axes: batch, own
// free ones, and the contracted ones in the order in which the other side has them.
static Value cotangentOf(Rule &rule, const Side &own, const Side &other, MakeProduct makeProduct) {
  int64_t batches = own.batch.size();
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  auto otherFree = llvm::seq<int64_t>(other.freeInResult, other.freeInResult + other.free.size());
  Axes axes{batch, SmallVector<int64_t>(other.batch), llvm::to_vector(otherFree), other.free};
  Value product = contraction(rule, rule.cotangent, other.value, axes, /*cotangentFirst=*/true, makeProduct);

  SmallVector<int64_t> ownAxes(own.batch);
  ownAxes.append(own.free);
  SmallVector<std::pair<int64_t, int64_t>> contracted;
  for (auto [otherAxis, ownAxis] : llvm::zip(other.contract, own.contract))
    contracted.emplace_back(otherAxis, ownAxis);
  llvm::sort(contracted);
  for (auto [otherAxis, ownAxis] : contracted)
    ownAxes.push_back(ownAxis);

  SmallVector<int64_t> permutation(ownAxes.size());
  for (auto [position, axis] : llvm::enumerate(ownAxes))
    permutation[axis] = position;
  if (llvm::is_sorted(permutation))
    return product;
  return TransposeOp::create(rule.builder, rule.loc, product, permutation, PermissionsAttr());
}

// For the right side the cotangent is the second operand where that saves a transposition: lhs^T * g of a
// matrix product.
static Value cotangentOfRhs(Rule &rule, const Side &lhs, const Side &rhs, MakeProduct makeProduct) {
  int64_t batches = lhs.batch.size();
  SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, batches));
  SmallVector<int64_t> inOrder = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(rhs.value)));
  SmallVector<int64_t> wanted(rhs.batch);
  wanted.append(rhs.contract.begin(), rhs.contract.end());
  wanted.append(rhs.free);
  if (wanted != inOrder || !llvm::is_sorted(lhs.contract))
    return cotangentOf(rule, rhs, lhs, makeProduct);
  auto lhsFree = llvm::seq<int64_t>(lhs.freeInResult, lhs.freeInResult + lhs.free.size());
  Axes axes{SmallVector<int64_t>(lhs.batch), batch, lhs.free, llvm::to_vector(lhsFree)};
  return contraction(rule, lhs.value, rule.cotangent, axes, /*cotangentFirst=*/false, makeProduct);
}

// The cotangents of both operands; each function makes that of one.
template <typename OpT> static void giveOperands(OpT op, Rule &rule, MakeProduct forLhs, MakeProduct forRhs) {
  Side lhs(op.getLhs(), op.getLhsBatch(), op.getLhsContract());
  Side rhs(op.getRhs(), op.getRhsBatch(), op.getRhsContract());
  lhs.freeInResult = lhs.batch.size();
  rhs.freeInResult = lhs.freeInResult + lhs.free.size();
  if (rule.wants(0))
    rule.give(0, cotangentOf(rule, lhs, rhs, forLhs));
  if (rule.wants(1))
    rule.give(1, cotangentOfRhs(rule, lhs, rhs, forRhs));
}

static LogicalResult dotRule(DotOp op, Rule &rule) {
  auto makeProduct = [&](Value lhs, Value rhs, const Axes &axes, bool) -> Value {
    return DotOp::create(rule.builder, rule.loc, inTypeOf(rule, lhs), inTypeOf(rule, rhs), axes.lhsBatch,
                         axes.rhsBatch, axes.lhsContract, axes.rhsContract);
  };
  giveOperands(op, rule, makeProduct, makeProduct);
  return success();
}

//===- scaled_dot -===//

// The products are rounded to 8 bits, too. The largest magnitudes are the cotangents of the scales.
static void scaledDotRule(ScaledDotOp op, Rule &rule) {
  Value cotangentScale;
  unsigned count = op.getScales().size();
  bool wantsMagnitude = count == 3 && rule.wants(4);
  Value magnitude =
      wantsMagnitude || count == 2 ? largestMagnitude(rule.builder, rule.loc, rule.cotangent) : Value();
  if (count == 2 && (rule.wants(0) || rule.wants(1)))
    cotangentScale = scaleOfMagnitude(rule.builder, rule.loc, magnitude, op.getCotangentType());
  else if (count == 3)
    cotangentScale = op.getScales()[2];
  auto makeFor = [&](unsigned own) {
    return [&, own](Value lhs, Value rhs, const Axes &axes, bool cotangentFirst) -> Value {
      SmallVector<Value> scales;
      if (count > 0)
        scales = {cotangentScale, op.getScales()[1 - own]};
      SmallVector<Type> types = {op.getCotangentType(), own == 0 ? op.getRhsType() : op.getLhsType()};
      if (!cotangentFirst) {
        std::reverse(scales.begin(), scales.end());
        std::reverse(types.begin(), types.end());
      }
      types.push_back(op.getCotangentType());
      auto product = ScaledDotOp::create(rule.builder, rule.loc, lhs, rhs, scales, types,
                                         getElementTypeOrSelf(op->getOperand(own).getType()), axes.lhsBatch,
                                         axes.rhsBatch, axes.lhsContract, axes.rhsContract);
      return product.getResult();
    };
  };
  giveOperands(op, rule, makeFor(0), makeFor(1));
  if (count > 0 && rule.wants(2))
    rule.give(2, op.getLhsLargest());
  if (count > 0 && rule.wants(3))
    rule.give(3, op.getRhsLargest());
  if (wantsMagnitude)
    rule.give(4, magnitude);
}

namespace {
/// The magnitudes, results 1 and 2, pass no cotangents on.
struct ScaledDotModel : DifferentiableOpInterface::ExternalModel<ScaledDotModel, ScaledDotOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> wanted,
                    SmallVectorImpl<Value> &operandCotangents) const {
    SmallVector<Value> given(op->getNumOperands());
    if (Value cotangent = cotangents[0]) {
      Rule rule(builder, op, cotangent, wanted, given);
      scaledDotRule(cast<ScaledDotOp>(op), rule);
    }
    operandCotangents.append(given.begin(), given.end());
    return success();
  }
};
} // namespace

//===- gemm -===//

// The result has the sizes that the factors show; `give` casts it to the operand's type.
static Value scaledProduct(Rule &rule, GemmOp op, Value lhs, Value rhs, bool transA, bool transB) {
  auto left = cast<RankedTensorType>(lhs.getType()), right = cast<RankedTensorType>(rhs.getType());
  int64_t shape[] = {left.getDimSize(transA ? 1 : 0), right.getDimSize(transB ? 0 : 1)};
  Type type = cast<RankedTensorType>(rule.cotangent.getType()).clone(shape);
  return GemmOp::create(rule.builder, rule.loc, type, lhs, rhs, Value(), transA, transB, op.getAlpha(),
                        llvm::APFloat(1.0), OrderAttr(), PermissionsAttr());
}

static LogicalResult gemmRule(GemmOp op, Rule &rule) {
  Value g = rule.cotangent;
  bool transA = op.getTransA(), transB = op.getTransB();
  if (rule.wants(0)) {
    Value rhs = inTypeOf(rule, op.getRhs());
    rule.give(0, transA ? scaledProduct(rule, op, rhs, g, transB, true)
                        : scaledProduct(rule, op, g, rhs, false, !transB));
  }
  if (rule.wants(1)) {
    Value lhs = inTypeOf(rule, op.getLhs());
    rule.give(1, transB ? scaledProduct(rule, op, g, lhs, true, transA)
                        : scaledProduct(rule, op, lhs, g, !transA, false));
  }
  if (op.getBias() && rule.wants(2)) {
    double beta = op.getBeta().convertToDouble();
    rule.giveSummed(2, beta == 1.0 ? g : rule.mul(rule.widen(g), beta));
  }
  return success();
}

void ad::attachContractionRules(MLIRContext *context) {
  attachRule<DotOp, dotRule>(context);
  attachRule<GemmOp, gemmRule>(context);
  ScaledDotOp::attachInterface<ScaledDotModel>(*context);
}
