// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Derivative rules of operations at indices that tensors hold. What a lookup reads, its adjoint adds to, in
// the order of ad.scatter; no rule makes a one-hot matrix.

#include "PartialReads.h"
#include "Reductions.h"
#include "adjoint/Dialect/AD/IR/ADIndexingOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace mlir::ad;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

namespace {
/// Where elements are read and written. `fill` is read where the index is outside, with Outside::fill.
struct IndexedPart {
  Value read(RuleBuilder &rule, Value tensor, Outside outside, double fill = 0) const {
    return GatherOp::create(rule.builder, rule.loc, tensor, indices, access.axes, access.batch,
                            access.indexBatch, access.slices, outside,
                            llvm::APFloat(outside == Outside::fill ? fill : 0.0), PermissionsAttr());
  }
  Value write(RuleBuilder &rule, ScatterKind kind, Value tensor, Value update, Outside outside) const {
    return ScatterOp::create(rule.builder, rule.loc, kind, tensor, indices, update, access.axes, access.batch,
                             access.indexBatch, access.slices, outside, PermissionsAttr());
  }

  IndexedAccess access;
  SmallVector<Value> indices;
};
} // namespace

//===- Lookups -===//

static Outside forWrites(Outside outside) { return outside == Outside::fill ? Outside::drop : outside; }

static Value addLookup(RuleBuilder &rule, const IndexedPart &part, Outside outside, Value tensor,
                       Value cotangent, Value sum) {
  Value start = sum ? sum : zerosLike(rule.builder, rule.loc, tensor, typeOf(cotangent).getElementType());
  return part.write(rule, ScatterKind::add, start, cotangent, forWrites(outside));
}

static Value addGathered(GatherOp op, RuleBuilder &rule, Value cotangent, Value sum) {
  return addLookup(rule, {op.getIndexedAccess(), llvm::to_vector(op.getIndices())}, op.getOutside(),
                   op.getInput(), cotangent, sum);
}

static Value addTaken(TakeOp op, RuleBuilder &rule, Value cotangent, Value sum) {
  return addLookup(rule, {op.getIndexedAccess(), {op.getIndices()}}, op.getOutside(), op.getInput(),
                   cotangent, sum);
}

// Rows before the first one are dropped.
static Value addRows(EmbeddingOp op, RuleBuilder &rule, Value cotangent, Value sum) {
  Value ids = op.getIds();
  Outside outside = Outside::error;
  if (std::optional<uint64_t> padding = op.getPadding()) {
    Value isPadding = rule.compare(ComparePredicate::eq, ids, static_cast<double>(*padding));
    ids = rule.select(isPadding, rule.number(ids, -1), ids);
    outside = Outside::drop;
  }
  return addLookup(rule, {op.getIndexedAccess(), {ids}}, outside, op.getTable(), cotangent, sum);
}

template <typename OpT> static bool readsRows(OpT) { return true; }

//===- scatter -===//

namespace {
class ScatterRule {
public:
  ScatterRule(ScatterOp op, Rule &rule)
      : op(op), rule(rule), part{op.getIndexedAccess(), llvm::to_vector(op.getIndices())},
        whereRead(op.getOutside() == Outside::drop ? Outside::fill : op.getOutside()) {}

  void run() {
    switch (op.getKind()) {
    case ScatterKind::add:
      return give(rule.cotangent, read(rule.cotangent));
    case ScatterKind::set:
      return replaced();
    case ScatterKind::max:
    case ScatterKind::min:
      return chosen();
    }
  }

private:
  void give(Value toInput, Value toUpdate) {
    if (rule.wants(0))
      rule.give(0, toInput);
    if (unsigned update = op->getNumOperands() - 1; rule.wants(update))
      rule.give(update, toUpdate);
  }

  Value read(Value tensor, double fill = 0) { return part.read(rule, tensor, whereRead, fill); }

  void replaced() {
    Value zeros = zerosLike(rule.builder, rule.loc, op.getUpdate());
    give(part.write(rule, ScatterKind::set, rule.cotangent, zeros, op.getOutside()),
         rule.wants(op->getNumOperands() - 1) ? rule.onlyWhere(isLast(), read(rule.cotangent)) : Value());
  }

  /// Which updates no later one replaced. All slices of an index are replaced together.
  Value isLast() {
    IndexedPart chosen = part;
    SmallVector<int64_t> sliced = part.access.slicedAxes();
    renumber(chosen.access.axes, sliced);
    renumber(chosen.access.batch, sliced);
    chosen.access.slices.clear();
    chosen.access.rank -= sliced.size();
    Value numbers = positions();
    Value last = chosen.write(rule, ScatterKind::set, noPositions(sliced), numbers, op.getOutside());
    Value isLast = rule.compare(ComparePredicate::eq, chosen.read(rule, last, whereRead, kNone), numbers);
    return withReducedAxes(rule, isLast, op.getUpdate(), part.access.slices);
  }

  /// The input where it has the value of the result, else the first update that has.
  void chosen() {
    Value first = isSame(op.getInput(), op.getResult());
    Value toUpdate;
    if (rule.wants(op->getNumOperands() - 1)) {
      Value numbers = broadcastLike(rule.builder, rule.loc,
                                    withReducedAxes(rule, positions(), op.getUpdate(), part.access.slices),
                                    op.getUpdate());
      Value none = integerConstant(rule.builder, rule.loc, rule.builder.getI64Type(), INT64_MAX);
      Value candidates = rule.select(isSame(op.getUpdate(), read(op.getResult())), numbers, none);
      Value start = rule.select(first, rule.number(none, kNone), none);
      Value winners =
          part.write(rule, ScatterKind::min, broadcastLike(rule.builder, rule.loc, start, op.getInput()),
                     candidates, op.getOutside());
      Value wins = rule.compare(ComparePredicate::eq, read(winners, kNone), numbers);
      toUpdate = rule.onlyWhere(wins, read(rule.cotangent));
    }
    give(rule.onlyWhere(first, rule.cotangent), toUpdate);
  }

  Value isSame(Value x, Value y) {
    Value areEqual = rule.compare(ComparePredicate::eq, x, y);
    if (!isa<FloatType>(typeOf(x).getElementType()))
      return areEqual;
    Value areNaN = rule.binary<AndOp>(rule.compare(ComparePredicate::ne, x, x),
                                      rule.compare(ComparePredicate::ne, y, y));
    return rule.binary<OrOp>(areEqual, areNaN);
  }

  /// The row-major number of each index.
  Value positions() {
    Value indices = op.getIndices().front();
    SmallVector<OpFoldResult> sizes;
    OpFoldResult count = rule.builder.getIndexAttr(1);
    for (int64_t axis = 0; axis < typeOf(indices).getRank(); ++axis)
      count = mulSizes(rule.builder, rule.loc, count, sizeOf(rule.builder, rule.loc, indices, axis));
    std::optional<int64_t> known = getConstantIntValue(count);
    SmallVector<Value> open;
    if (!typeOf(indices).hasStaticShape())
      open.push_back(getValueOrCreateConstantIndexOp(rule.builder, rule.loc, count));
    auto flat =
        RankedTensorType::get({open.empty() ? *known : ShapedType::kDynamic}, rule.builder.getI64Type());
    Value numbers = IotaOp::create(rule.builder, rule.loc, flat, open, 0, PermissionsAttr());
    return reshapeLike(rule.builder, rule.loc, numbers, indices);
  }

  /// A number that no update has, for each element of the input without the sliced axes.
  Value noPositions(ArrayRef<int64_t> sliced) {
    SmallVector<int64_t> shape;
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < part.access.rank; ++axis) {
      if (llvm::is_contained(sliced, axis))
        continue;
      shape.push_back(typeOf(op.getInput()).getDimSize(axis));
      if (ShapedType::isDynamic(shape.back()))
        sizes.push_back(getValueOrCreateConstantIndexOp(rule.builder, rule.loc,
                                                        sizeOf(rule.builder, rule.loc, op.getInput(), axis)));
    }
    Type i64 = rule.builder.getI64Type();
    Value none = arith::ConstantIntOp::create(rule.builder, rule.loc, static_cast<int64_t>(kNone), 64);
    return FullOp::create(rule.builder, rule.loc, RankedTensorType::get(shape, i64), none, sizes,
                          PermissionsAttr());
  }

  /// The numbers of axes of a tensor that has not those in `sliced`.
  static void renumber(SmallVectorImpl<int64_t> &axes, ArrayRef<int64_t> sliced) {
    for (int64_t &axis : axes)
      axis -= llvm::count_if(sliced, [&](int64_t other) { return other < axis; });
  }

  static constexpr double kNone = -1;

  ScatterOp op;
  Rule &rule;
  IndexedPart part;
  Outside whereRead; ///< what an index outside means for values of the result
};
} // namespace

static LogicalResult scatterRule(ScatterOp op, Rule &rule) {
  ScatterRule(op, rule).run();
  return success();
}

void ad::attachIndexingRules(MLIRContext *context) {
  attachPartialReads<GatherOp, addGathered, readsRows<GatherOp>>(context);
  attachPartialReads<TakeOp, addTaken, readsRows<TakeOp>>(context);
  attachPartialReads<EmbeddingOp, addRows, readsRows<EmbeddingOp>>(context);
  attachRule<ScatterOp, scatterRule>(context);
}
