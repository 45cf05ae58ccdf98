// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-insert-shape-checks`: conditions on sizes that only run time knows, before the operations that
// have them.

#include "LaunchChecks.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Sizes.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Runtime/adrt.h"
#include "adjoint/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-insert-shape-checks"

namespace mlir::ad {
#define GEN_PASS_DEF_INSERTSHAPECHECKSPASS
#include "adjoint/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
// What messages say instead of numbers that have no place in 64 bits.
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Writes the conditions of one operation before it.
class Checks {
public:
  explicit Checks(Operation *op) : op(op), builder(op), loc(op->getLoc()) {}

  void broadcast(BroadcastOp broadcast) {
    nonNegative(broadcast.getResult(), broadcast.getSizes());
    auto from = type(broadcast.getInput()), to = type(broadcast.getResult());
    SmallVector<Value> sizes = resultSizes(to, broadcast.getSizes());
    int64_t leading = to.getRank() - from.getRank();
    for (int64_t i = 0; i < from.getRank(); ++i) {
      if (from.getDimSize(i) == 1 ||
          haveSameSize(broadcast.getInput(), i, broadcast.getResult(), leading + i))
        continue;
      Value have = size(broadcast.getInput(), i), want = sizes[leading + i];
      Value fits = either(equal(have, constant(1)), equal(have, want));
      // In the order of the operands: one behind the first does not fit those before it.
      if (writtenOperand(broadcast).value_or(0) > 0)
        std::swap(have, want);
      require(ADRT_FAIL_BROADCAST, fits, {constant(leading + i), have, want});
    }
  }

  void sumToShape(SumToShapeOp sum) {
    nonNegative(sum.getResult(), sum.getSizes());
    auto from = type(sum.getInput()), to = type(sum.getResult());
    SmallVector<Value> sizes = resultSizes(to, sum.getSizes());
    int64_t leading = from.getRank() - to.getRank();
    for (int64_t i = 0; i < to.getRank(); ++i) {
      if (to.getDimSize(i) == 1 || haveSameSize(sum.getResult(), i, sum.getInput(), leading + i))
        continue;
      Value have = size(sum.getInput(), leading + i), want = sizes[i];
      require(ADRT_FAIL_BROADCAST, either(equal(want, constant(1)), equal(have, want)),
              {constant(leading + i), want, have});
    }
  }

  void reshape(ReshapeOp reshape) {
    if (type(reshape.getInput()).hasStaticShape() && type(reshape.getResult()).hasStaticShape())
      return;
    nonNegative(reshape.getResult(), reshape.getSizes());
    Value from = constant(1), to = constant(1);
    for (int64_t i = 0; i < type(reshape.getInput()).getRank(); ++i)
      from = multiply(from, size(reshape.getInput(), i));
    SmallVector<Value> sizes = resultSizes(type(reshape.getResult()), reshape.getSizes());
    for (Value s : sizes)
      to = multiply(to, s);
    Value exact = isExactProduct(to, sizes);
    require(ADRT_FAIL_RESHAPE, both(equal(from, to), exact), {from, select(exact, to, constant(kMost))});
  }

  void dot(DotOp dot) {
    for (auto [l, r] : llvm::zip_equal(dot.getLhsBatch(), dot.getRhsBatch()))
      same(dot.getLhs(), l, dot.getRhs(), r);
    for (auto [l, r] : llvm::zip_equal(dot.getLhsContract(), dot.getRhsContract()))
      same(dot.getLhs(), l, dot.getRhs(), r);
  }

  void gemm(GemmOp gemm) {
    same(gemm.getLhs(), gemm.getTransA() ? 0 : 1, gemm.getRhs(), gemm.getTransB() ? 1 : 0);
    if (!gemm.getBias())
      return;
    // The bias broadcasts where its size is 1 in the program; a size that only run time knows is the
    // result's.
    auto bias = type(gemm.getBias());
    for (int64_t i = 0; i < bias.getRank(); ++i) {
      bool rows = 2 - bias.getRank() + i == 0;
      Value source = rows ? gemm.getLhs() : gemm.getRhs();
      int64_t axis = rows ? (gemm.getTransA() ? 1 : 0) : (gemm.getTransB() ? 0 : 1);
      if (bias.getDimSize(i) == 1 || haveSameSize(source, axis, gemm.getBias(), i))
        continue;
      Value have = size(gemm.getBias(), i), want = size(source, axis);
      require(ADRT_FAIL_BROADCAST, equal(have, want), {constant(2 - bias.getRank() + i), have, want});
    }
  }

  void slice(SliceOp slice) {
    nonNegative(slice.getResult(), slice.getSizes());
    SmallVector<Value> sizes = resultSizes(type(slice.getResult()), slice.getSizes());
    for (auto [i, offset, stride] : llvm::enumerate(slice.getOffsets(), slice.getStrides())) {
      if (!type(slice.getInput()).isDynamicDim(i) && !type(slice.getResult()).isDynamicDim(i))
        continue;
      // The last element read is offset + (size - 1) * stride, if there is one: a number that may be too
      // large.
      Value have = size(slice.getInput(), i), steps = subtract(sizes[i], constant(1));
      Value behind = subtract(have, constant(offset)), room = subtract(behind, constant(1));
      Value fits = both(compare(arith::CmpIPredicate::sgt, behind, constant(0)),
                        compare(arith::CmpIPredicate::sle, steps, divide(room, constant(stride))));
      Value last = add(constant(offset), multiply(steps, constant(stride)));
      Value large = compare(arith::CmpIPredicate::sgt, steps, constant((kMost - offset) / stride));
      require(ADRT_FAIL_BOUNDS, either(equal(sizes[i], constant(0)), fits),
              {constant(i), select(large, constant(kMost), last), have});
    }
  }

  void window(Value tensor, ValueRange offsets, ArrayRef<Value> sizes) {
    for (auto [i, offset] : llvm::enumerate(offsets)) {
      Value have = size(tensor, i);
      Value fits = both(compare(arith::CmpIPredicate::sge, offset, constant(0)),
                        compare(arith::CmpIPredicate::sle, offset, subtract(have, sizes[i])));
      Value last = subtract(add(offset, sizes[i]), constant(1));
      Value large = compare(arith::CmpIPredicate::sgt, offset, subtract(constant(kMost), sizes[i]));
      require(ADRT_FAIL_BOUNDS, fits,
              {constant(i), select(fits, offset, outside(offset, last, large)), have});
    }
  }

  void dynamicSlice(DynamicSliceOp slice) {
    nonNegative(slice.getResult(), slice.getSizes());
    window(slice.getInput(), slice.getOffsets(), resultSizes(type(slice.getResult()), slice.getSizes()));
  }

  void dynamicUpdateSlice(DynamicUpdateSliceOp update) {
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < type(update.getUpdate()).getRank(); ++i)
      sizes.push_back(size(update.getUpdate(), i));
    window(update.getInput(), update.getOffsets(), sizes);
  }

  void concat(ConcatOp concat) {
    for (Value input : concat.getInputs().drop_front())
      for (int64_t i = 0; i < type(input).getRank(); ++i)
        if (i != int64_t(concat.getAxis()))
          same(concat.getInputs().front(), i, input, i);
  }

  // A cast may claim a size that only run time knows.
  void claimedSizes(tensor::CastOp cast) {
    auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(cast.getType());
    if (!from || !to)
      return;
    for (int64_t i = 0; i < to.getRank(); ++i) {
      if (!from.isDynamicDim(i) || to.isDynamicDim(i))
        continue;
      Value claimed = constant(to.getDimSize(i)), have = size(cast.getSource(), i);
      require(ADRT_FAIL_SAME_SIZE, equal(claimed, have), {constant(i), claimed, have});
    }
  }

  void nonEmptyAxis(Value tensor, int64_t axis) {
    if (!type(tensor).isDynamicDim(axis))
      return;
    Value have = size(tensor, axis);
    require(ADRT_FAIL_BOUNDS, compare(arith::CmpIPredicate::sgt, have, constant(0)),
            {constant(axis), constant(0), have});
  }

  void nonNegative(Value result, ValueRange sizes) {
    for (int64_t axis = 0; axis < type(result).getRank(); ++axis) {
      if (!type(result).isDynamicDim(axis))
        continue;
      Value s = sizes.front();
      sizes = sizes.drop_front();
      if (SizeAnalysis(/*reach=*/1).originOfIndex(s).dimension < 0) // a tensor has no negative size
        require(ADRT_FAIL_NEGATIVE, compare(arith::CmpIPredicate::sge, s, constant(0)), {constant(axis), s});
    }
  }

private:
  static RankedTensorType type(Value value) { return cast<RankedTensorType>(value.getType()); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value size(Value tensor, int64_t axis) { return builder.createOrFold<tensor::DimOp>(loc, tensor, axis); }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  }
  Value equal(Value a, Value b) { return compare(arith::CmpIPredicate::eq, a, b); }
  Value add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
  Value subtract(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
  Value multiply(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }
  Value divide(Value a, Value b) { return builder.createOrFold<arith::DivSIOp>(loc, a, b); }
  Value either(Value a, Value b) { return builder.createOrFold<arith::OrIOp>(loc, a, b); }
  Value both(Value a, Value b) { return builder.createOrFold<arith::AndIOp>(loc, a, b); }
  Value select(Value c, Value a, Value b) { return builder.createOrFold<arith::SelectOp>(loc, c, a, b); }

  // The index that a failure names: the offset when it is negative, else the last element, which may have no
  // number.
  Value outside(Value offset, Value last, Value large) {
    Value negative = compare(arith::CmpIPredicate::slt, offset, constant(0));
    return select(negative, offset, select(large, constant(kMost), last));
  }

  // Whether a computed product of sizes, none negative, is their product: what is computed wraps. Divided by
  // all but the last it is the last, unless one is zero.
  Value isExactProduct(Value product, ArrayRef<Value> sizes) {
    if (sizes.size() < 2)
      return arith::ConstantIntOp::create(builder, loc, 1, 1);
    Value rest = product, empty;
    for (Value s : sizes.drop_back()) {
      Value zero = equal(s, constant(0));
      empty = empty ? either(empty, zero) : zero;
      rest = divide(rest, select(zero, constant(1), s));
    }
    empty = either(empty, equal(sizes.back(), constant(0)));
    return either(empty, equal(rest, sizes.back()));
  }

  SmallVector<Value> resultSizes(RankedTensorType result, ValueRange dynamic) {
    SmallVector<Value> sizes;
    for (int64_t s : result.getShape()) {
      if (!ShapedType::isDynamic(s)) {
        sizes.push_back(constant(s));
        continue;
      }
      sizes.push_back(dynamic.front());
      dynamic = dynamic.drop_front();
    }
    return sizes;
  }

public:
  // A loop that does not advance would never end.
  void step(scf::ForOp loop) {
    Value step = loop.getStep();
    if (!step.getType().isIndex())
      step = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), step);
    require(ADRT_FAIL_STEP, compare(arith::CmpIPredicate::sgt, step, constant(0)), {step});
  }

  void element(tensor::ExtractOp extract) {
    for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
      Value have = size(extract.getTensor(), axis);
      Value fits = both(compare(arith::CmpIPredicate::sge, index, constant(0)),
                        compare(arith::CmpIPredicate::slt, index, have));
      require(ADRT_FAIL_BOUNDS, fits, {constant(axis), index, have});
    }
  }

  void divisor(Value divisor) {
    if (isa<ShapedType>(divisor.getType()))
      return;
    Value zero = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(divisor.getType(), 0));
    require(ADRT_FAIL_DIVISION, compare(arith::CmpIPredicate::ne, divisor, zero), {});
  }

private:
  void same(Value a, int64_t axisA, Value b, int64_t axisB) {
    if (haveSameSize(a, axisA, b, axisB))
      return;
    Value expected = size(a, axisA), actual = size(b, axisB);
    require(ADRT_FAIL_SAME_SIZE, equal(expected, actual), {constant(axisB), expected, actual});
  }

  void require(int32_t kind, Value condition, ValueRange values) {
    if (getConstantIntValue(getAsOpFoldResult(condition)) == 1) {
      LDBG() << op->getName() << " at " << loc << ": a condition holds by the types";
      return;
    }
    LDBG() << op->getName() << " at " << loc << " is checked at run time, failure " << kind;
    RequireOp::create(builder, loc, kind, condition, values, writtenName(op));
  }

  Operation *op;
  OpBuilder builder;
  Location loc;
};

class InsertShapeChecksPass : public ad::impl::InsertShapeChecksPassBase<InsertShapeChecksPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (op->getParentOfType<linalg::LinalgOp>()) // code of a kernel
        return;
      Checks checks(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](scf::ForOp o) { checks.step(o); })
          .Case([&](BroadcastOp o) { checks.broadcast(o); })
          .Case([&](SumToShapeOp o) { checks.sumToShape(o); })
          .Case([&](ReshapeOp o) { checks.reshape(o); })
          .Case([&](DotOp o) { checks.dot(o); })
          .Case([&](GemmOp o) { checks.gemm(o); })
          .Case([&](SliceOp o) { checks.slice(o); })
          .Case([&](DynamicSliceOp o) { checks.dynamicSlice(o); })
          .Case([&](DynamicUpdateSliceOp o) { checks.dynamicUpdateSlice(o); })
          .Case([&](ConcatOp o) { checks.concat(o); })
          .Case([](LaunchOp o) { requireSizesOfLaunch(o); })
          .Case([&](tensor::CastOp o) { checks.claimedSizes(o); })
          .Case([&](ArgmaxOp o) { checks.nonEmptyAxis(o.getInput(), o.getAxis()); })
          .Case([&](ArgminOp o) { checks.nonEmptyAxis(o.getInput(), o.getAxis()); })
          .Case([&](tensor::ExtractOp o) { checks.element(o); })
          .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
                arith::CeilDivUIOp, arith::FloorDivSIOp>([&](auto o) { checks.divisor(o.getRhs()); })
          .Case<FullOp, IotaOp, FeedOp>([&](auto o) { checks.nonNegative(o.getResult(), o.getSizes()); });
    });
  }
};
} // namespace
