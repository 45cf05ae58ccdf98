// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of running reductions.

#include "Reductions.h"
#include "adjoint/Dialect/AD/IR/ADSortingOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

// A size that the type leaves open is a value, also where a pass has come to know the number: types follow
// from types.
static std::optional<int64_t> knownSize(OpFoldResult size) {
  return isa<Attribute>(size) ? getConstantIntValue(size) : std::nullopt;
}

//===- Along an axis -===//

namespace {
/// Parts of tensors along one axis; the other axes are whole.
class Along {
public:
  Along(Rule &rule, int64_t axis) : rule(rule), axis(axis) {}

  OpFoldResult sizeOf(Value x) const { return sizeByType(rule.builder, rule.loc, x, axis); }
  /// `size` elements from `offset` on.
  Value part(Value x, int64_t offset, OpFoldResult size) const;
  Value padded(Value x, int64_t low, int64_t high, double value) const;
  /// The element before each, and the one after it.
  Value before(Value x, double first) const { return part(padded(x, 1, 0, first), 0, sizeOf(x)); }
  Value after(Value x, double last) const { return part(padded(x, 0, 1, last), 1, sizeOf(x)); }
  /// The number along the axis of each element of a tensor with the shape of `x`.
  Value numbers(Value x) const;

  Rule &rule;
  int64_t axis;
};
} // namespace

static RankedTensorType withSize(RankedTensorType type, int64_t axis, OpFoldResult size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = knownSize(size).value_or(ShapedType::kDynamic);
  return type.clone(shape);
}

// The dynamic sizes of a tensor of that type that has those of `x` along the other axes.
static SmallVector<Value> sizesOf(Rule &rule, RankedTensorType type, Value x, int64_t axis,
                                  OpFoldResult size) {
  SmallVector<Value> sizes;
  for (int64_t other = 0; other < type.getRank(); ++other)
    if (type.isDynamicDim(other))
      sizes.push_back(getValueOrCreateConstantIndexOp(
          rule.builder, rule.loc, other == axis ? size : sizeOf(rule.builder, rule.loc, x, other)));
  return sizes;
}

Value Along::part(Value x, int64_t offset, OpFoldResult size) const {
  RankedTensorType type = withSize(typeOf(x), axis, size);
  SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1);
  offsets[axis] = offset;
  return SliceOp::create(rule.builder, rule.loc, type, x, offsets, strides,
                         sizesOf(rule, type, x, axis, size), PermissionsAttr());
}

Value Along::padded(Value x, int64_t low, int64_t high, double value) const {
  SmallVector<int64_t> none(typeOf(x).getRank(), 0), lows(none), highs(none);
  lows[axis] = low;
  highs[axis] = high;
  return PadOp::create(rule.builder, rule.loc, x, rule.number(x, value), lows, highs, none,
                       PermissionsAttr());
}

Value Along::numbers(Value x) const {
  return IotaOp::create(rule.builder, rule.loc, typeOf(x).clone(rule.builder.getI64Type()),
                        dynamicSizes(rule.builder, rule.loc, x), static_cast<uint64_t>(axis),
                        PermissionsAttr());
}

//===- Sum: a running sum from the other end -===//

static LogicalResult cumsumRule(CumsumOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  int64_t axis = op.getAxis();
  Value turned =
      ReverseOp::create(rule.builder, rule.loc, rule.cotangent, ArrayRef<int64_t>(axis), PermissionsAttr());
  Value sums = CumsumOp::create(rule.builder, rule.loc, turned, static_cast<uint64_t>(axis), OrderAttr(),
                                PermissionsAttr());
  rule.give(0, ReverseOp::create(rule.builder, rule.loc, sums, ArrayRef<int64_t>(axis), PermissionsAttr()));
  return success();
}

//===- Product: a recurrence from the end, in blocks -===//

// The elements of a block, one after the other.
static constexpr int64_t kBlock = 16;
// How often an axis of dynamic size is cut into blocks. After that, the square of the number of blocks is
// less than the number of elements, if these are fewer than 2^32.
static constexpr int64_t kLevels = 4;

namespace {
/// s(i) = g(i) + a(i) * s(i + 1), with 0 after the last element; and the product of a(i) and all factors
/// after it.
struct Recurrence {
  Value s, product;
};
} // namespace

// The axis has static size.
static Recurrence oneAfterTheOther(Along line, Value a, Value g) {
  Rule &rule = line.rule;
  Attribute one = rule.builder.getIndexAttr(1);
  SmallVector<Value> sums, products;
  for (int64_t i = typeOf(a).getDimSize(line.axis); i-- > 0;) {
    Value factor = line.part(a, i, one), sum = line.part(g, i, one);
    products.push_back(products.empty() ? factor : rule.mul(factor, products.back()));
    sums.push_back(sums.empty() ? sum : rule.add(sum, rule.mul(factor, sums.back())));
  }
  auto inOrder = [&](SmallVector<Value> &parts) {
    std::reverse(parts.begin(), parts.end());
    return ConcatOp::create(rule.builder, rule.loc, parts, static_cast<uint64_t>(line.axis),
                            PermissionsAttr())
        .getResult();
  };
  return {inOrder(sums), inOrder(products)};
}

// s(i) as the sum over j of g(j) times the factors from i to j - 1: work in proportion to the square of the
// size.
static Value allPairs(Along line, Value a, Value g) {
  Rule &rule = line.rule;
  int64_t axis = line.axis;
  OpFoldResult size = line.sizeOf(a);
  RankedTensorType type = typeOf(a);
  SmallVector<int64_t> rowShape(type.getShape()), pairShape(rowShape);
  rowShape.insert(rowShape.begin() + axis, 1);
  pairShape.insert(pairShape.begin() + axis, type.getDimSize(axis));
  SmallVector<Value> sizes = dynamicSizes(rule.builder, rule.loc, a), pairSizes(sizes);
  pairSizes.insert(pairSizes.begin() + type.getDynamicDimIndex(axis),
                   getValueOrCreateConstantIndexOp(rule.builder, rule.loc, size));
  auto asRow = [&](Value x) {
    return reshapeTo(rule.builder, rule.loc, x, typeOf(x).clone(rowShape), sizes);
  };
  auto numbers = [&](int64_t along) -> Value {
    return IotaOp::create(rule.builder, rule.loc, RankedTensorType::get(pairShape, rule.builder.getI64Type()),
                          pairSizes, static_cast<uint64_t>(along), PermissionsAttr());
  };
  Value i = numbers(axis), j = numbers(axis + 1);
  Value factors =
      rule.select(rule.compare(ComparePredicate::gt, j, i), asRow(line.before(a, 1.0)), rule.number(a, 1.0));
  Value products = CumprodOp::create(rule.builder, rule.loc, factors, static_cast<uint64_t>(axis + 1),
                                     OrderAttr(), PermissionsAttr());
  Value terms = rule.onlyWhere(rule.compare(ComparePredicate::ge, j, i), rule.mul(products, asRow(g)));
  return ReduceSumOp::create(rule.builder, rule.loc, terms, ArrayRef<int64_t>(axis + 1));
}

// The number of blocks of an axis of that size.
static OpFoldResult countBlocks(Rule &rule, OpFoldResult size) {
  if (std::optional<int64_t> constant = knownSize(size))
    return rule.builder.getIndexAttr(llvm::divideCeil(*constant, kBlock));
  auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(rule.builder, rule.loc, value); };
  Value most = arith::AddIOp::create(rule.builder, rule.loc, cast<Value>(size), number(kBlock - 1));
  return arith::DivUIOp::create(rule.builder, rule.loc, most, number(kBlock)).getResult();
}

// The axis as blocks: an axis of blocks, and one of their elements. Zeros fill the last block.
static Value asBlocks(Along line, Value x, OpFoldResult blocks) {
  Rule &rule = line.rule;
  RankedTensorType type = withSize(typeOf(x), line.axis, blocks);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + line.axis + 1, kBlock);
  SmallVector<Value> sizes = sizesOf(rule, type, x, line.axis, blocks);
  std::optional<int64_t> known = knownSize(blocks);
  int64_t added = known ? *known * kBlock - typeOf(x).getDimSize(line.axis) : kBlock - 1;
  Value filled = line.padded(x, 0, added, 0.0);
  if (!known) {
    Value length = arith::ConstantIndexOp::create(rule.builder, rule.loc, kBlock);
    length = arith::MulIOp::create(rule.builder, rule.loc, cast<Value>(blocks), length);
    filled = line.part(filled, 0, length);
  }
  return reshapeTo(rule.builder, rule.loc, filled, type.clone(shape), sizes);
}

// s of `a` and `g`. Each block is solved as if nothing followed it; what follows comes in as the solution of
// the same recurrence over the blocks.
static Value solve(Along line, Value a, Value g, int64_t levels = kLevels) {
  Rule &rule = line.rule;
  int64_t axis = line.axis, known = typeOf(a).getDimSize(axis);
  bool isDynamic = ShapedType::isDynamic(known);
  if (!isDynamic && known <= kBlock)
    return known == 0 ? g : oneAfterTheOther(line, a, g).s;
  if (isDynamic && levels == 0)
    return allPairs(line, a, g);
  OpFoldResult size = line.sizeOf(a), blocks = countBlocks(rule, size);
  Along inner(rule, axis + 1);
  Recurrence own = oneAfterTheOther(inner, asBlocks(line, a, blocks), asBlocks(line, g, blocks));

  RankedTensorType firstType = withSize(typeOf(a), axis, blocks);
  SmallVector<Value> sizes = sizesOf(rule, firstType, a, axis, blocks);
  auto firstOfBlocks = [&](Value x) {
    Value first = inner.part(x, 0, rule.builder.getIndexAttr(1));
    return reshapeTo(rule.builder, rule.loc, first, typeOf(x).clone(firstType.getShape()), sizes);
  };
  Value ofBlocks = solve(line, firstOfBlocks(own.product), firstOfBlocks(own.s), levels - 1);
  SmallVector<int64_t> oneShape(firstType.getShape());
  oneShape.insert(oneShape.begin() + axis + 1, 1);
  Value next = reshapeTo(rule.builder, rule.loc, line.after(ofBlocks, 0.0), firstType.clone(oneShape), sizes);
  // What follows a block comes in unless it is 0, by which an infinite product would become NaN.
  Value follows = rule.compare(ComparePredicate::ne, next, 0.0);
  Value all = rule.add(own.s, rule.onlyWhere(follows, rule.mul(own.product, next)));

  RankedTensorType flatType = typeOf(a);
  if (!isDynamic)
    flatType = withSize(flatType, axis, rule.builder.getIndexAttr(*knownSize(blocks) * kBlock));
  Value length = getValueOrCreateConstantIndexOp(rule.builder, rule.loc, blocks);
  length = arith::MulIOp::create(rule.builder, rule.loc, length,
                                 arith::ConstantIndexOp::create(rule.builder, rule.loc, kBlock));
  Value flat = reshapeTo(rule.builder, rule.loc, all, flatType, sizesOf(rule, flatType, a, axis, length));
  return line.part(flat, 0, size);
}

static LogicalResult cumprodRule(CumprodOp op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Along line(rule, op.getAxis());
  Value x = rule.widen(op.getInput()), g = rule.widen(rule.cotangent);
  Value products = CumprodOp::create(rule.builder, rule.loc, x, op.getAxis(), OrderAttr(), PermissionsAttr());
  rule.give(0, rule.mul(line.before(products, 1.0), solve(line, line.after(x, 0.0), g)));
  return success();
}

//===- Maximum and minimum: to the first element that has the value -===//

// A result is new where its bits differ from those of the one before, and comes from the element with its own
// number; the others come from where the last new one does.
template <typename OpT> static LogicalResult runningExtremumRule(OpT op, Rule &rule) {
  if (!rule.wants(0))
    return success();
  Along line(rule, op.getAxis());
  Value y = rule.widen(op.getResult());
  Type bitsType = rule.builder.getIntegerType(getElementTypeOrSelf(y).getIntOrFloatBitWidth());
  Value bits = BitcastOp::create(rule.builder, rule.loc, typeOf(y).clone(bitsType), y, PermissionsAttr());
  Value isNew = rule.compare(ComparePredicate::ne, bits, line.before(bits, 0.0));
  Value origins = CummaxOp::create(rule.builder, rule.loc, rule.onlyWhere(isNew, line.numbers(bits)),
                                   op.getAxis(), OrderAttr(), PermissionsAttr());
  Value g = rule.widen(rule.cotangent);
  rule.give(0, addAlong(rule.builder, rule.loc, zerosLike(rule.builder, rule.loc, g), origins, g,
                        static_cast<int64_t>(op.getAxis())));
  return success();
}

void ad::attachRunningRules(MLIRContext *context) {
  attachRule<CumsumOp, cumsumRule>(context);
  attachRule<CumprodOp, cumprodRule>(context);
  attachRule<CummaxOp, runningExtremumRule<CummaxOp>>(context);
  attachRule<CumminOp, runningExtremumRule<CumminOp>>(context);
}
