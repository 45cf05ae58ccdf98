// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Blocks of queries and chunks of keys.

#include "AttentionBlocks.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

static constexpr int64_t kQueries = kAttentionQueries, kKeys = kAttentionKeys;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static bool isFalse(OpFoldResult truth) {
  auto known = dyn_cast<Attribute>(truth);
  return known && !cast<BoolAttr>(known).getValue();
}

//===- Sizes -===//

static std::optional<int64_t> knownSize(OpFoldResult size) {
  return isa<Attribute>(size) ? getConstantIntValue(size) : std::nullopt;
}

static OpFoldResult commonSizeOf(OpBuilder &builder, Location loc, ArrayRef<std::pair<Value, int64_t>> axes) {
  for (auto [tensor, axis] : axes)
    if (!typeOf(tensor).isDynamicDim(axis))
      return sizeByType(builder, loc, tensor, axis);
  return sizeByType(builder, loc, axes.front().first, axes.front().second);
}

AttentionBlocks::AttentionBlocks(OpBuilder &builder, Location loc, Operation *op, Value query, Value key,
                                 Value value, Value mask, bool causal)
    : StepBuilder(builder, loc), op(op), causal(causal), element(typeOf(query).getElementType()),
      accumulator(accumulatorType(element)), heads(typeOf(query).getDimSize(1)),
      groups(typeOf(key).getDimSize(1)), depth(typeOf(query).getDimSize(3)),
      width(typeOf(value).getDimSize(3)) {
  scale = 1 / std::sqrt(static_cast<double>(depth));
  batch = commonSizeOf(builder, loc, {{query, 0}, {key, 0}, {value, 0}});
  queryCount = sizeByType(builder, loc, query, 2);
  keyCount = commonSizeOf(builder, loc, {{key, 2}, {value, 2}});
  this->query = refinedQueries(query);
  this->key = refined(key, {batch, attr(groups), keyCount, attr(depth)});
  this->value = refined(value, {batch, attr(groups), keyCount, attr(width)});
  if (!mask)
    return;
  SmallVector<OpFoldResult> sizes = {batch, attr(heads), queryCount, keyCount};
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (typeOf(mask).getDimSize(axis) == 1)
      size = attr(1);
  this->mask = refined(mask, sizes);
}

OpFoldResult AttentionBlocks::rowCount(const Span &queries) {
  int64_t heads = this->heads / groups;
  if (std::optional<int64_t> known = knownSize(queries.size))
    return attr(*known * heads);
  Value times = arith::ConstantIndexOp::create(builder, loc, heads);
  return Value(arith::MulIOp::create(builder, loc, mlir::cast<Value>(queries.size), times));
}

void AttentionBlocks::requireSize(Value operand, int64_t axis, OpFoldResult expected) {
  Value actual = index(sizeOf(builder, loc, operand, axis)), wanted = index(expected);
  Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, actual, wanted);
  auto number = static_cast<int64_t>(llvm::find(op->getOperands(), operand) - op->operand_begin());
  RequireOp::create(builder, loc, kOperandSizeFailure, same,
                    ValueRange{index(attr(number)), index(attr(axis)), wanted, actual}, writtenName(op));
}

Value AttentionBlocks::refined(Value operand, ArrayRef<OpFoldResult> sizes) {
  SizeAnalysis analysis;
  for (auto [axis, expected] : llvm::enumerate(sizes)) {
    if (!typeOf(operand).isDynamicDim(axis) && isa<Attribute>(expected))
      continue; // compared by the verifier
    auto size = dyn_cast<Value>(expected);
    if (!size || analysis.originOfSize(operand, axis) != analysis.originOfIndex(size))
      requireSize(operand, axis, expected);
  }
  return reshaped(operand, sizes);
}

Value AttentionBlocks::refinedQueries(Value tensor) {
  return refined(tensor, {batch, attr(heads), queryCount, attr(typeOf(tensor).getDimSize(3))});
}

Value AttentionBlocks::withType(Value tensor, Type type) {
  if (tensor.getType() == type)
    return tensor;
  SmallVector<Value> open;
  for (auto [axis, size] : llvm::enumerate(mlir::cast<RankedTensorType>(type).getShape()))
    if (ShapedType::isDynamic(size))
      open.push_back(getValueOrCreateConstantIndexOp(builder, loc, sizeOf(builder, loc, tensor, axis)));
  return ReshapeOp::create(builder, loc, type, tensor, open, PermissionsAttr());
}

Value AttentionBlocks::withoutLast(Value tensor) {
  return reshaped(tensor, ArrayRef(sizesOf(tensor)).drop_back());
}

Value AttentionBlocks::withLast(Value operand) {
  Value checked = refined(operand, {batch, attr(heads), queryCount});
  return reshaped(checked, {batch, attr(heads), queryCount, attr(1)});
}

//===- Values -===//

Value AttentionBlocks::fullRows(const Span &queries, double value, int64_t last) {
  return full(value, accumulator, {batch, attr(groups), rowCount(queries), attr(last)});
}

Value AttentionBlocks::zerosOfQueries(int64_t last, Type type) {
  return full(0, type ? type : accumulator, {batch, attr(heads), queryCount, attr(last)});
}

Value AttentionBlocks::zerosOfKeys(int64_t last) {
  return full(0, accumulator, {batch, attr(groups), keyCount, attr(last)});
}

Value AttentionBlocks::zerosOfMask() { return full(0, accumulator, sizesOf(mask)); }

Value AttentionBlocks::number(double value) { return scalarConstant(builder, loc, accumulator, value); }

Value AttentionBlocks::equal(Value x, double value) {
  return compare(ComparePredicate::eq, x, number(value));
}

Value AttentionBlocks::sumOfRows(Value x) {
  return ReduceSumOp::create(builder, loc, x, ArrayRef<int64_t>{3}, /*keepDims=*/true);
}

Value AttentionBlocks::product(Value x, Value y, int64_t xAxis, int64_t yAxis) {
  SmallVector<OpFoldResult> xs = sizesOf(x), ys = sizesOf(y);
  auto [type, open] = shaped(accumulator, {xs[0], xs[1], xs[5 - xAxis], ys[5 - yAxis]});
  constexpr int64_t kBatch[] = {0, 1};
  return DotOp::create(builder, loc, type, x, y, kBatch, kBatch, ArrayRef<int64_t>{xAxis},
                       ArrayRef<int64_t>{yAxis}, OrderAttr(), PermissionsAttr());
}

//===- Parts -===//

Value AttentionBlocks::part(Value tensor, ArrayRef<Span> spans) {
  if (llvm::none_of(spans, [](const Span &span) { return span.begin; }))
    return tensor;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  SmallVector<Value> offsets;
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, span] : llvm::enumerate(spans)) {
    offsets.push_back(span.begin ? span.begin : zero);
    sizes.push_back(span.begin ? span.size : sizeByType(builder, loc, tensor, axis));
  }
  auto [type, open] = shaped(typeOf(tensor).getElementType(), sizes);
  return DynamicSliceOp::create(builder, loc, type, tensor, offsets, open, PermissionsAttr());
}

Value AttentionBlocks::withPart(Value tensor, Value part, ArrayRef<Span> spans) {
  if (llvm::none_of(spans, [](const Span &span) { return span.begin; }))
    return part;
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto offsets = llvm::map_to_vector(spans, [&](const Span &span) { return span.begin ? span.begin : zero; });
  return DynamicUpdateSliceOp::create(builder, loc, tensor, part, offsets, PermissionsAttr());
}

Value AttentionBlocks::rowsOf(Value tensor, const Span &queries) {
  Value block = part(tensor, {Span(), Span(), queries, Span()});
  return reshaped(block, {batch, attr(groups), rowCount(queries), attr(typeOf(tensor).getDimSize(3))});
}

Value AttentionBlocks::withRows(Value tensor, Value rows, const Span &queries) {
  Value block = reshaped(rows, {batch, attr(heads), queries.size, attr(typeOf(rows).getDimSize(3))});
  return withPart(tensor, block, {Span(), Span(), queries, Span()});
}

Value AttentionBlocks::keysOf(Value tensor, const Span &keys) {
  return part(tensor, {Span(), Span(), keys, Span()});
}

Value AttentionBlocks::withKeys(Value tensor, Value part, const Span &keys) {
  return withPart(tensor, part, {Span(), Span(), keys, Span()});
}

//===- Loops -===//

// The spans of a static length are a loop over whole blocks and what is left. Those of an open one are a loop
// whose last block is shorter: its code is there once, with open sizes. Both add in the same order, so that
// it does not matter whether a pass comes to know a size.
SmallVector<Value> AttentionBlocks::inSpans(OpFoldResult length, OpFoldResult block, ValueRange values,
                                            Step step) {
  std::optional<int64_t> known = knownSize(length), whole = knownSize(block);
  bool isStatic = known && whole;
  if (isStatic && *known <= *whole)
    return step({Value(), length}, values);
  int64_t rest = isStatic ? *known % *whole : 0;
  Value end = isStatic ? index(attr(*known - rest)) : index(length), width = index(block);
  auto loop = scf::ForOp::create(builder, loc, index(attr(0)), end, width, values);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar();
    OpFoldResult size = block;
    if (!isStatic) {
      Value left = arith::SubIOp::create(builder, loc, end, begin);
      size = Value(arith::MinUIOp::create(builder, loc, left, width));
    }
    SmallVector<Value> next = step({begin, size}, loop.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, next);
  }
  return rest ? step({end, attr(rest)}, loop.getResults()) : SmallVector<Value>(loop.getResults());
}

SmallVector<Value> AttentionBlocks::overQueries(ValueRange values, Step step) {
  return inSpans(queryCount, attr(kQueries), values, step);
}

// So many that a block of few queries has as many scores as one of 256: 256 * (256 / queries), by the number
// at run time.
OpFoldResult AttentionBlocks::keysOfChunk() {
  if (chunk)
    return attr(*chunk);
  if (std::optional<int64_t> known = knownSize(queryCount))
    return attr(ad::keysOfChunk(std::max<int64_t>(*known, 1)));
  auto number = [&](int64_t value) { return index(attr(value)); };
  Value atMost = arith::MinUIOp::create(builder, loc, mlir::cast<Value>(queryCount), number(kQueries));
  Value queries = arith::MaxUIOp::create(builder, loc, atMost, number(1));
  Value times = arith::DivUIOp::create(builder, loc, number(kQueries), queries);
  return Value(arith::MulIOp::create(builder, loc, times, number(kKeys)));
}

SmallVector<Value> AttentionBlocks::overKeys(const Span &queries, ValueRange values, Step step) {
  return inSpans(keyCount, keysOfChunk(), values, [&](const Span &span, ValueRange current) {
    return ifCounts(queries, span, current, step);
  });
}

// Whether a key of the chunk may count for a query of the block, by their numbers: a known truth, or a
// condition.
OpFoldResult AttentionBlocks::mayCount(const Span &queries, const Span &keys) {
  auto begin = [&](const Span &span) { return span.begin ? OpFoldResult(span.begin) : attr(0); };
  auto end = [&](const Span &span) { return addSizes(builder, loc, begin(span), span.size); };
  OpFoldResult result = builder.getBoolAttr(true);
  auto demandBelow = [&](OpFoldResult x, OpFoldResult y) {
    std::optional<int64_t> low = getConstantIntValue(x), high = getConstantIntValue(y);
    if (isFalse(result) || (low && high && *low < *high))
      return;
    if (low && high) {
      result = builder.getBoolAttr(false);
      return;
    }
    Value is = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index(x), index(y));
    auto before = dyn_cast<Value>(result);
    result = before ? Value(arith::AndIOp::create(builder, loc, before, is)) : is;
  };
  if (causal)
    demandBelow(begin(keys), end(queries));
  if (!window)
    return result;
  // Beyond all sizes a window sees everything, and its sums must not wrap.
  auto reach = attr(std::min<int64_t>(*window - 1, int64_t(1) << 40));
  demandBelow(begin(queries), addSizes(builder, loc, end(keys), reach));
  if (!causal)
    demandBelow(begin(keys), addSizes(builder, loc, end(queries), reach));
  return result;
}

SmallVector<Value> AttentionBlocks::ifCounts(const Span &queries, const Span &keys, ValueRange values,
                                             Step step) {
  OpFoldResult counts = mayCount(queries, keys);
  auto condition = dyn_cast<Value>(counts);
  if (!condition)
    return isFalse(counts) ? SmallVector<Value>(values) : step(keys, values);
  auto branch = scf::IfOp::create(builder, loc, values.getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, step(keys, values));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, values);
  return SmallVector<Value>(branch.getResults());
}

//===- Scores -===//

// The numbers of the span's queries or keys, as elements of a tensor that is reshaped.
Value AttentionBlocks::numbersAlong(ArrayRef<OpFoldResult> sizes, int64_t axis, const Span &span,
                                    ArrayRef<OpFoldResult> shape) {
  Type i64 = builder.getI64Type();
  Value inSpan = reshaped(numbers(i64, sizes, axis), shape);
  if (!span.begin)
    return inSpan;
  Value begin = arith::IndexCastOp::create(builder, loc, i64, span.begin);
  Value first =
      FullOp::create(builder, loc, RankedTensorType::get({}, i64), begin, ValueRange(), PermissionsAttr());
  return binary<AddOp>(inSpan, first);
}

// Which pairs count by their numbers: [1, 1, rows, keys], or null for all.
Value AttentionBlocks::counts(const Span &queries, const Span &keys) {
  if (!causal && !window)
    return {};
  OpFoldResult one = attr(1);
  Value i = numbersAlong({one, attr(heads / groups), queries.size, one}, 2, queries,
                         {one, one, rowCount(queries), one});
  Value j = numbersAlong({one, one, one, keys.size}, 3, keys, {one, one, one, keys.size});
  Value result;
  auto demand = [&](Value condition) { result = result ? binary<AndOp>(result, condition) : condition; };
  if (causal)
    demand(compare(ComparePredicate::le, j, i));
  if (!window)
    return result;
  Value reach = integerConstant(builder, loc, builder.getI64Type(), *window);
  demand(compare(ComparePredicate::lt, binary<SubOp>(i, j), reach));
  if (!causal)
    demand(compare(ComparePredicate::lt, binary<SubOp>(j, i), reach));
  return result;
}

SmallVector<Span> AttentionBlocks::spansOfMask(const Span &queries, const Span &keys) {
  SmallVector<Span> spans(4);
  if (typeOf(mask).getDimSize(2) != 1)
    spans[2] = queries;
  if (typeOf(mask).getDimSize(3) != 1)
    spans[3] = keys;
  return spans;
}

// [batch or 1, groups or 1, rows or 1, keys or 1].
Value AttentionBlocks::maskOf(const Span &queries, const Span &keys) {
  Value block = part(mask, spansOfMask(queries, keys));
  SmallVector<OpFoldResult> sizes = sizesOf(block);
  bool hasHeads = typeOf(mask).getDimSize(1) != 1, hasQueries = typeOf(mask).getDimSize(2) != 1;
  if (!hasHeads && !hasQueries)
    return block;
  if (heads == groups)
    return block;
  // A row is a query of a head: both axes are needed.
  sizes[1] = hasHeads ? sizes[1] : attr(heads / groups);
  sizes[2] = queries.size;
  block = repeated(block, sizes);
  return reshaped(block, {sizes[0], attr(hasHeads ? groups : 1), rowCount(queries), sizes[3]});
}

AttentionBlocks::Scores AttentionBlocks::scores(Value rows, Value keyRows, const Span &queries,
                                                const Span &keys) {
  Scores scores{times(product(rows, keyRows, 3, 3), scale), Value()};
  if (softcap) {
    Value bent = unary<TanhOp>(binary<DivOp>(scores.values, number(*softcap)));
    scores.slope = binary<SubOp>(number(1), binary<MulOp>(bent, bent));
    scores.values = times(bent, *softcap);
  }
  Value condition = counts(queries, keys);
  if (mask) {
    Value block = maskOf(queries, keys);
    if (isa<FloatType>(typeOf(mask).getElementType()))
      scores.values = binary<AddOp>(scores.values, cast(block, accumulator));
    else
      condition = condition ? binary<AndOp>(condition, block) : block;
  }
  if (condition)
    scores.values = select(condition, scores.values, number(-std::numeric_limits<double>::infinity()));
  return scores;
}

Value AttentionBlocks::addToMask(Value tensor, Value values, const Span &queries, const Span &keys) {
  SmallVector<OpFoldResult> sizes = sizesOf(values);
  values = reshaped(values, {sizes[0], attr(heads), queries.size, sizes[3]});
  SmallVector<int64_t> summed;
  for (int64_t axis = 0; axis < 4; ++axis)
    if (typeOf(mask).getDimSize(axis) == 1)
      summed.push_back(axis);
  if (!summed.empty())
    values = ReduceSumOp::create(builder, loc, values, summed, /*keepDims=*/true);
  SmallVector<Span> spans = spansOfMask(queries, keys);
  return withPart(tensor, binary<AddOp>(part(tensor, spans), values), spans);
}
