// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations that read parts of tensors or concatenate them.

#include "PartialReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static SmallVector<Value> indexConstants(RuleBuilder &rule, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rule.builder, rule.loc, value);
  });
}

static Value updateSlice(RuleBuilder &rule, Value whole, Value part, ValueRange offsets) {
  return DynamicUpdateSliceOp::create(rule.builder, rule.loc, whole, part, offsets, PermissionsAttr());
}
static Value sliceLike(RuleBuilder &rule, Value whole, ValueRange offsets, Value like) {
  auto shape = cast<RankedTensorType>(like.getType()).getShape();
  Type type = cast<RankedTensorType>(whole.getType()).clone(shape);
  return DynamicSliceOp::create(rule.builder, rule.loc, type, whole, offsets,
                                dynamicSizes(rule.builder, rule.loc, like), PermissionsAttr());
}

//===- slice -===//

// Elements of the input after the last one read, or -1 when a size is unknown.
static int64_t elementsBehind(int64_t inputSize, int64_t size, int64_t offset, int64_t stride) {
  if (ShapedType::isDynamic(inputSize) || ShapedType::isDynamic(size))
    return -1;
  int64_t read = size == 0 ? 0 : (size - 1) * stride + 1;
  return inputSize - offset - read;
}

static bool isStrided(SliceOp op) {
  return llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; });
}

// Values between the elements of the cotangent, so that it has the strides of the slice.
static Value spread(SliceOp op, RuleBuilder &rule, Value cotangent, double between) {
  SmallVector<int64_t> none(op.getStrides().size(), 0), interior;
  for (int64_t stride : op.getStrides())
    interior.push_back(stride - 1);
  return PadOp::create(rule.builder, rule.loc, cotangent, rule.number(cotangent, between), none, none,
                       interior, PermissionsAttr());
}

// The cotangent of the input: padded with zeros where sizes are static, else written into zeros.
static Value sliceCotangent(SliceOp op, RuleBuilder &rule, Value cotangent) {
  auto inputType = cast<RankedTensorType>(op.getInput().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<int64_t> low(op.getOffsets()), high, interior;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    high.push_back(
        elementsBehind(inputType.getDimSize(axis), type.getDimSize(axis), low[axis], op.getStrides()[axis]));
    interior.push_back(op.getStrides()[axis] - 1);
  }
  if (!llvm::is_contained(high, -1))
    return PadOp::create(rule.builder, rule.loc, cotangent, rule.number(cotangent, 0.0), low, high, interior,
                         PermissionsAttr());
  if (isStrided(op))
    cotangent = spread(op, rule, cotangent, 0.0);
  return updateSlice(rule, zerosLike(rule.builder, rule.loc, op.getInput()), cotangent,
                     indexConstants(rule, op.getOffsets()));
}

// Between the elements of a strided slice -0 is added, which changes no number.
static Value addToSlice(SliceOp op, RuleBuilder &rule, Value cotangent, Value sum) {
  if (!sum)
    return sliceCotangent(op, rule, cotangent);
  if (isStrided(op))
    cotangent = spread(op, rule, cotangent, -0.0);
  auto shape = cast<RankedTensorType>(cotangent.getType()).getShape();
  SmallVector<int64_t> ones(shape.size(), 1);
  Value part = SliceOp::create(rule.builder, rule.loc, cast<RankedTensorType>(sum.getType()).clone(shape),
                               sum, op.getOffsets(), ones, dynamicSizes(rule.builder, rule.loc, cotangent),
                               PermissionsAttr());
  return updateSlice(rule, sum, rule.add(part, cotangent), indexConstants(rule, op.getOffsets()));
}

// Of a slice that covers half of the input or more, one addition costs less than an update in place.
static bool readsSmallPart(SliceOp op) {
  auto inputType = cast<RankedTensorType>(op.getInput().getType());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (!inputType.hasStaticShape() || !type.hasStaticShape())
    return true;
  int64_t covered = 1;
  for (auto [size, stride] : llvm::zip(type.getShape(), op.getStrides()))
    covered *= size == 0 ? 0 : (size - 1) * stride + 1;
  return covered < inputType.getNumElements() / 2;
}

//===- dynamic_slice and dynamic_update_slice -===//

static Value addToDynamicSlice(DynamicSliceOp op, RuleBuilder &rule, Value cotangent, Value sum) {
  if (!sum)
    return updateSlice(rule, zerosLike(rule.builder, rule.loc, op.getInput()), cotangent, op.getOffsets());
  Value part = sliceLike(rule, sum, op.getOffsets(), cotangent);
  return updateSlice(rule, sum, rule.add(part, cotangent), op.getOffsets());
}

static bool readsPartAtRunTime(DynamicSliceOp op) {
  return op.getInput().getType().getShape() != op.getResult().getType().getShape() ||
         !op.getInput().getType().hasStaticShape();
}

// The part is read before it is replaced, so that this can be done in place.
static LogicalResult dynamicUpdateSliceRule(DynamicUpdateSliceOp op, Rule &rule) {
  if (rule.wants(1))
    rule.give(1, sliceLike(rule, rule.cotangent, op.getOffsets(), op.getUpdate()));
  if (rule.wants(0)) {
    Value zeros = zerosLike(rule.builder, rule.loc, op.getUpdate());
    rule.give(0, updateSlice(rule, rule.cotangent, zeros, op.getOffsets()));
  }
  return success();
}

//===- tensor.extract -===//

// Adds a scalar to one element.
static Value addToElement(tensor::ExtractOp op, RuleBuilder &rule, Value cotangent, Value sum) {
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  SmallVector<int64_t> ones(type.getRank(), 1);
  Value element = FullOp::create(rule.builder, rule.loc, RankedTensorType::get(ones, cotangent.getType()),
                                 cotangent, ValueRange(), PermissionsAttr());
  if (ones.empty())
    return sum ? rule.add(sum, element) : element;
  if (!sum)
    return updateSlice(rule, zerosLike(rule.builder, rule.loc, op.getTensor()), element, op.getIndices());
  Value part = sliceLike(rule, sum, op.getIndices(), element);
  return updateSlice(rule, sum, rule.add(part, element), op.getIndices());
}

static bool readsOneOfMany(tensor::ExtractOp op) {
  return cast<RankedTensorType>(op.getTensor().getType()).getRank() > 0;
}

//===- pad -===//

// The mask is the same pad over booleans: true where the value is.
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
  attachPartialReads<SliceOp, addToSlice, readsSmallPart>(context);
  attachPartialReads<DynamicSliceOp, addToDynamicSlice, readsPartAtRunTime>(context);
  attachRule<DynamicUpdateSliceOp, dynamicUpdateSliceRule>(context);
  attachRule<PadOp, padRule>(context);
  attachRule<ConcatOp, concatRule>(context);
}

void ad::attachExtractRules(MLIRContext *context) {
  attachPartialReads<tensor::ExtractOp, addToElement, readsOneOfMany>(context);
}
