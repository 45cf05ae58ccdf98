// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations that make a tensor of scalars, or of nothing.

#include "Importer.h"
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

// Index scalars are made i64.
static Value elementValue(TensorCode code, Value scalar) {
  Type element = importedElement(scalar.getType());
  return scalar.getType().isIndex()
             ? Value(arith::IndexCastOp::create(code.builder, code.loc, element, scalar))
             : scalar;
}

static Value fromElements(tensor::FromElementsOp op, TensorCode code) {
  auto type = cast<RankedTensorType>(op.getType());
  SmallVector<OpFoldResult> one = {code.builder.getIndexAttr(1)};
  SmallVector<Value> parts = llvm::map_to_vector(
      op.getElements(), [&](Value element) { return code.reshape(code.ofScalar(element), one); });
  if (parts.empty())
    return ConstantOp::create(code.builder, code.loc, DenseElementsAttr::get(type, ArrayRef<Attribute>()));
  Value list = parts.size() == 1
                   ? parts.front()
                   : Value(ConcatOp::create(code.builder, code.loc, parts, 0, PermissionsAttr()));
  return code.reshape(list, getAsIndexOpFoldResult(op.getContext(), type.getShape()));
}

static FailureOr<Value> generate(tensor::GenerateOp op, TensorCode code, Refusals &refusals) {
  SmallVector<OpFoldResult> sizes =
      mixedSizes(code.builder, cast<RankedTensorType>(op.getType()), op.getDynamicExtents());
  BodyRaiser raiser(code, sizes, op.getBody(), refusals, [](BlockArgument) { return Value(); });
  for (auto [loop, argument] : llvm::enumerate(op.getBody().getArguments()))
    raiser.setIteration(argument, loop);
  FailureOr<Value> made = raiser.raise(op.getBody().front().getTerminator()->getOperand(0));
  return failed(made) ? made : FailureOr<Value>(code.broadcast(*made, sizes));
}

// What nobody has written is zero.
static Value zeros(TensorCode code, RankedTensorType type, ValueRange dynamicSizes) {
  auto zero =
      arith::ConstantOp::create(code.builder, code.loc, code.builder.getZeroAttr(type.getElementType()));
  return code.full(zero, type, mixedSizes(code.builder, type, dynamicSizes));
}

LogicalResult Importer::importMaker(Operation *op) {
  TensorCode code = codeFor(op);
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    auto type = cast<RankedTensorType>(splat.getType());
    SmallVector<OpFoldResult> sizes = mixedSizes(rewriter, type, splat.getDynamicSizes());
    return replace(op, code, code.full(elementValue(code, splat.getInput()), type, sizes));
  }
  if (auto made = dyn_cast<tensor::FromElementsOp>(op))
    return replace(op, code, fromElements(made, code));
  if (auto made = dyn_cast<tensor::GenerateOp>(op)) {
    FailureOr<Value> tensor = generate(made, code, refusals);
    return failed(tensor) ? failure() : replace(op, code, *tensor);
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return replace(op, code, zeros(code, cast<RankedTensorType>(empty.getType()), empty.getDynamicSizes()));
  if (auto allocated = dyn_cast<bufferization::AllocTensorOp>(op)) {
    Value copy = allocated.getCopy();
    return replace(
        op, code,
        copy ? copy : zeros(code, cast<RankedTensorType>(allocated.getType()), allocated.getDynamicSizes()));
  }
  if (auto rank = dyn_cast<tensor::RankOp>(op)) {
    auto type = cast<RankedTensorType>(rank.getTensor().getType());
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, type.getRank());
    return success();
  }
  return refusals.add(op, "has no equivalent in ad; docs/import.md lists the operations that are imported");
}
