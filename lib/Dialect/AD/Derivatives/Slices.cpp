// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations that take parts out of tensors or put parts together.

#include "Rules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static SmallVector<Value> indexConstants(Rule &rule, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rule.builder, rule.loc, value);
  });
}

static Value updateSlice(Rule &rule, Value whole, Value part, ValueRange offsets) {
  return DynamicUpdateSliceOp::create(rule.builder, rule.loc, whole, part, offsets, PermissionsAttr());
}
static Value sliceLike(Rule &rule, Value whole, ValueRange offsets, Value like) {
  auto shape = cast<RankedTensorType>(like.getType()).getShape();
  Type type = cast<RankedTensorType>(whole.getType()).clone(shape);
  return DynamicSliceOp::create(rule.builder, rule.loc, type, whole, offsets,
                                dynamicSizes(rule.builder, rule.loc, like), PermissionsAttr());
}

//===- slice -===//

// Elements of the input behind the last one read, or -1 when a size is unknown.
static int64_t elementsBehind(int64_t inputSize, int64_t size, int64_t offset, int64_t stride) {
  if (ShapedType::isDynamic(inputSize) || ShapedType::isDynamic(size))
    return -1;
  int64_t read = size == 0 ? 0 : (size - 1) * stride + 1;
  return inputSize - offset - read;
}

// With static sizes the cotangent is padded to the input; else it is spread by its strides and written into
// zeros.
static LogicalResult sliceRule(SliceOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  auto inputType = cast<RankedTensorType>(op.getInput().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> low(op.getOffsets()), high, interior;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    high.push_back(
        elementsBehind(inputType.getDimSize(axis), type.getDimSize(axis), low[axis], op.getStrides()[axis]));
    interior.push_back(op.getStrides()[axis] - 1);
  }
  Value value = rule.cotangent;
  bool allKnown = !llvm::is_contained(high, -1);
  SmallVector<int64_t> none(type.getRank(), 0);
  if (allKnown || interior != none) {
    Value zero = rule.number(value, 0.0);
    value = PadOp::create(rule.builder, rule.loc, value, zero, allKnown ? low : none, allKnown ? high : none,
                          interior, PermissionsAttr());
  }
  if (!allKnown)
    value = updateSlice(rule, zerosLike(rule.builder, rule.loc, op.getInput()), value,
                        indexConstants(rule, op.getOffsets()));
  rule.give(0, value);
  return success();
}

//===- dynamic_slice and dynamic_update_slice -===//

static LogicalResult dynamicSliceRule(DynamicSliceOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Value zeros = zerosLike(rule.builder, rule.loc, op.getInput());
  rule.give(0, updateSlice(rule, zeros, rule.cotangent, op.getOffsets()));
  return success();
}

static LogicalResult dynamicUpdateSliceRule(DynamicUpdateSliceOp op, Rule &rule) {
  if (rule.wants(0)) {
    Value zeros = zerosLike(rule.builder, rule.loc, op.getUpdate());
    rule.give(0, updateSlice(rule, rule.cotangent, zeros, op.getOffsets()));
  }
  if (rule.wants(1))
    rule.give(1, sliceLike(rule, rule.cotangent, op.getOffsets(), op.getUpdate()));
  return success();
}

//===- pad -===//

// The mask is the same pad over booleans: true where the value stands.
static Value sumOfPadding(PadOp op, Rule &rule) {
  auto inputType = cast<RankedTensorType>(op.getInput().getType());
  Type boolean = rule.builder.getI1Type();
  auto flags = RankedTensorType::get(inputType.getShape(), boolean);
  Value no = arith::ConstantIntOp::create(rule.builder, rule.loc, 0, 1);
  Value inside = FullOp::create(rule.builder, rule.loc, flags, no,
                                dynamicSizes(rule.builder, rule.loc, op.getInput()), PermissionsAttr());
  Value padding =
      PadOp::create(rule.builder, rule.loc, inside, scalarConstant(rule.builder, rule.loc, boolean, 1),
                    op.getLow(), op.getHigh(), op.getInterior(), PermissionsAttr());
  Value kept = rule.onlyWhere(padding, rule.cotangent);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, inputType.getRank()));
  return axes.empty() ? kept : ReduceSumOp::create(rule.builder, rule.loc, kept, axes).getResult();
}

static LogicalResult padRule(PadOp op, Rule &rule) {
  if (rule.wants(0)) {
    SmallVector<int64_t> strides;
    for (int64_t interior : op.getInterior())
      strides.push_back(interior + 1);
    rule.give(0, SliceOp::create(rule.builder, rule.loc, op.getInput().getType(), rule.cotangent, op.getLow(),
                                 strides, dynamicSizes(rule.builder, rule.loc, op.getInput()),
                                 PermissionsAttr()));
  }
  if (rule.wants(1))
    rule.give(1, sumOfPadding(op, rule));
  return success();
}

//===- concat -===//

static LogicalResult concatRule(ConcatOp op, Rule &rule) {
  OpBuilder &builder = rule.builder;
  int64_t rank = cast<RankedTensorType>(op.getResult().getType()).getRank();
  SmallVector<OpFoldResult> offsets(rank, builder.getIndexAttr(0));
  OpFoldResult &offset = offsets[op.getAxis()];
  for (auto [index, input] : llvm::enumerate(op.getInputs())) {
    if (rule.wants(index)) {
      std::optional<SmallVector<int64_t>> known = getConstantIntValues(offsets);
      Value part;
      if (known)
        part = SliceOp::create(builder, rule.loc, input.getType(), rule.cotangent, *known,
                               SmallVector<int64_t>(rank, 1), dynamicSizes(builder, rule.loc, input),
                               PermissionsAttr());
      else
        part = sliceLike(rule, rule.cotangent, getValueOrCreateConstantIndexOp(builder, rule.loc, offsets),
                         input);
      rule.give(index, part);
    }
    OpFoldResult size = sizeOf(builder, rule.loc, input, op.getAxis());
    auto before = getConstantIntValue(offset), added = getConstantIntValue(size);
    if (before && added)
      offset = builder.getIndexAttr(*before + *added);
    else
      offset = builder.createOrFold<arith::AddIOp>(
          rule.loc, getValueOrCreateConstantIndexOp(builder, rule.loc, size),
          getValueOrCreateConstantIndexOp(builder, rule.loc, offset));
  }
  return success();
}

void ad::attachSliceRules(MLIRContext *context) {
  attachRule<SliceOp, sliceRule>(context);
  attachRule<DynamicSliceOp, dynamicSliceRule>(context);
  attachRule<DynamicUpdateSliceOp, dynamicUpdateSliceRule>(context);
  attachRule<PadOp, padRule>(context);
  attachRule<ConcatOp, concatRule>(context);
}
