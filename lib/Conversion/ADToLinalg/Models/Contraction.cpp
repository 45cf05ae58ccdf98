// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers contractions to linalg. One linalg.generic accumulates the products in the accumulator type, with
// FMAs for floats. An elementwise linalg.generic then applies alpha, beta and the bias of ad.gemm, and rounds
// once to the result type.

#include "../ADToLinalg.h"
#include "adjoint/Codegen/Kernel/Contractions.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
#include "adjoint/Dialect/AD/IR/Permissions.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"

using namespace mlir;
using namespace mlir::ad;

// acc + a * b as the contract says: fused for floats, wrapping for integers.
static Value accumulate(OpBuilder &builder, Location loc, Value a, Value b, Value acc) {
  a = convertScalar(builder, loc, a, acc.getType());
  b = convertScalar(builder, loc, b, acc.getType());
  if (isa<FloatType>(acc.getType()))
    return math::FmaOp::create(builder, loc, a, b, acc);
  return arith::AddIOp::create(builder, loc, acc, arith::MulIOp::create(builder, loc, a, b));
}

// CPUs have dot products of bf16 alone. Tensor cores of GPUs also multiply f16, and code generation asks
// about these.
static bool multipliesBF16(Operation *op) { return getElementTypeOrSelf(op->getOperand(0)).isBF16(); }

// What a sum of products starts from.
static Value startOfSum(OpBuilder &builder, Operation *op, Type accumulator) {
  Location loc = op->getLoc();
  Value empty = emptyLike(builder, loc, op->getResult(0), accumulator);
  return fillTensor(builder, loc, empty, numberConstant(builder, loc, accumulator, 0));
}

// The sum of products in the accumulator's type, over the loops and accesses of the operation.
static Value contract(OpBuilder &builder, Operation *op, Type accumulator) {
  Location loc = op->getLoc();
  auto nest = cast<FusableOpInterface>(op);
  SmallVector<AffineMap> maps = nest.getAccessMaps();
  SmallVector<utils::IteratorType> iterators = nest.getIteratorTypes();
  Value init = startOfSum(builder, op, accumulator);
  // Without a contracted axis nothing carries the accumulator, which is then the zero that it starts from.
  bool sums = llvm::is_contained(iterators, utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), op->getOperands().take_front(2), init,
      ArrayRef<AffineMap>{maps[0], maps[1], maps.back()}, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange scalars) {
        Value from = sums ? scalars[2] : numberConstant(nested, nestedLoc, accumulator, 0);
        linalg::YieldOp::create(nested, nestedLoc,
                                accumulate(nested, nestedLoc, scalars[0], scalars[1], from));
      });
  if (auto fixed = op->getAttrOfType<InstructionAttr>(kInstructionAttr))
    generic->setAttr(kInstructionAttr, fixed);
  else if (allows(op, Permissions::mma) &&
           (!multipliesBF16(op) || allowsRewrite("dot-product-instruction", Permissions::mma, op)))
    generic->setAttr(kLinalgAllowAttr, PermissionsAttr::get(builder.getContext(), Permissions::mma));
  return generic.getResult(0);
}

namespace {
struct DotLowering : LoweringModel<DotLowering, DotOp> {
  static Value lower(DotOp op, OpBuilder &builder) {
    Value sum = contract(builder, op, accumulatorType(getElementTypeOrSelf(op.getLhs())));
    return roundTo(builder, op->getResult(0), sum);
  }
};

struct ConvLowering : LoweringModel<ConvLowering, ConvOp> {
  static Value lower(ConvOp op, OpBuilder &builder) {
    if (!op.isUnpadded()) {
      op.emitOpError("is lowered without padding; run ad-decompose before");
      return {};
    }
    Type accumulator = accumulatorType(getElementTypeOrSelf(op.getInput()));
    Value sum = hasNoProducts(op) ? startOfSum(builder, op, accumulator) : contract(builder, op, accumulator);
    return roundTo(builder, op->getResult(0), sum);
  }

  /// linalg refuses windows without places, whose last index is below 0.
  static bool hasNoProducts(ConvOp op) {
    auto isEmpty = [](Type type) { return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0); };
    return llvm::any_of(op->getOperandTypes(), isEmpty) || isEmpty(op->getResult(0).getType());
  }
};

struct GemmLowering : LoweringModel<GemmLowering, GemmOp> {
  static Value lower(GemmOp op, OpBuilder &builder) {
    Type element = getElementTypeOrSelf(op.getResult());
    Type accumulator = accumulatorType(getElementTypeOrSelf(op.getLhs()));
    Value sum = contract(builder, op, accumulator);
    double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
    if (alpha != 1 || op.getBias() || accumulator != element)
      sum = epilogue(builder, op, sum, alpha, beta, accumulator, element);
    return sum;
  }

  // convert(alpha * sum + beta * bias), every step in the accumulator type.
  static Value epilogue(OpBuilder &builder, GemmOp op, Value sum, double alpha, double beta, Type accumulator,
                        Type element) {
    Location loc = op.getLoc();
    SmallVector<Value> inputs = {sum};
    SmallVector<AffineMap> maps = {builder.getMultiDimIdentityMap(2)};
    if (Value bias = op.getBias()) {
      auto type = cast<RankedTensorType>(bias.getType());
      SmallVector<AffineExpr> access;
      for (int64_t i = 0; i < type.getRank(); ++i)
        access.push_back(type.getDimSize(i) == 1 ? builder.getAffineConstantExpr(0)
                                                 : builder.getAffineDimExpr(2 - type.getRank() + i));
      inputs.push_back(bias);
      maps.push_back(AffineMap::get(2, 0, access, op.getContext()));
    }
    maps.push_back(builder.getMultiDimIdentityMap(2));
    Value init = emptyLike(builder, loc, op->getResult(0));
    SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        builder, loc, init.getType(), inputs, init, maps, iterators,
        [&](OpBuilder &b, Location l, ValueRange scalars) {
          Value value = scalars[0];
          if (alpha != 1)
            value = arith::MulFOp::create(b, l, value, numberConstant(b, l, accumulator, alpha));
          if (inputs.size() > 1) {
            Value bias = convertScalar(b, l, scalars[1], accumulator);
            if (beta != 1)
              bias = arith::MulFOp::create(b, l, bias, numberConstant(b, l, accumulator, beta));
            value = arith::AddFOp::create(b, l, value, bias);
          }
          linalg::YieldOp::create(b, l, convertScalar(b, l, value, element));
        });
    return generic.getResult(0);
  }
};
} // namespace

void ad::registerContractionModels(DialectRegistry &registry) {
  registerLoweringModels<DotLowering, GemmLowering, ConvLowering>(registry);
}
