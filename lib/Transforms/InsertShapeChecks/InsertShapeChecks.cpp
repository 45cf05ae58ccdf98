// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-insert-shape-checks`: the conditions on dynamic sizes of each operation.

#include "AttentionChecks.h"
#include "ConditionWriter.h"
#include "IndexBoundsChecks.h"
#include "LaunchChecks.h"
#include "LoopNestChecks.h"
#include "SliceChecks.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ADWindowOps.h"
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

static void nonNegative(ConditionWriter &write, Value result, ValueRange sizes) {
  for (int64_t axis = 0; axis < write.type(result).getRank(); ++axis) {
    if (!write.type(result).isDynamicDim(axis))
      continue;
    Value s = sizes.front();
    sizes = sizes.drop_front();
    if (SizeAnalysis(/*reach=*/1).originOfIndex(s).dimension < 0) // a tensor has no negative size
      write.require(ADRT_FAIL_NEGATIVE, write.compare(arith::CmpIPredicate::sge, s, write.constant(0)),
                    {write.constant(axis), s});
  }
}

static void broadcast(ConditionWriter &write, BroadcastOp broadcast) {
  nonNegative(write, broadcast.getResult(), broadcast.getSizes());
  auto from = write.type(broadcast.getInput()), to = write.type(broadcast.getResult());
  SmallVector<Value> sizes = write.resultSizes(to, broadcast.getSizes());
  int64_t leading = to.getRank() - from.getRank();
  for (int64_t i = 0; i < from.getRank(); ++i) {
    if (from.getDimSize(i) == 1 || haveSameSize(broadcast.getInput(), i, broadcast.getResult(), leading + i))
      continue;
    Value have = write.size(broadcast.getInput(), i), want = sizes[leading + i];
    Value fits = write.either(write.equal(have, write.constant(1)), write.equal(have, want));
    // In the order of the operands: one after the first does not fit those before it.
    if (writtenOperand(broadcast).value_or(0) > 0)
      std::swap(have, want);
    write.require(ADRT_FAIL_BROADCAST, fits, {write.constant(leading + i), have, want});
  }
}

static void sumToShape(ConditionWriter &write, SumToShapeOp sum) {
  nonNegative(write, sum.getResult(), sum.getSizes());
  auto from = write.type(sum.getInput()), to = write.type(sum.getResult());
  SmallVector<Value> sizes = write.resultSizes(to, sum.getSizes());
  int64_t leading = from.getRank() - to.getRank();
  for (int64_t i = 0; i < to.getRank(); ++i) {
    if (to.getDimSize(i) == 1 || haveSameSize(sum.getResult(), i, sum.getInput(), leading + i))
      continue;
    Value have = write.size(sum.getInput(), leading + i), want = sizes[i];
    write.require(ADRT_FAIL_BROADCAST,
                  write.either(write.equal(want, write.constant(1)), write.equal(have, want)),
                  {write.constant(leading + i), want, have});
  }
}

static void reshape(ConditionWriter &write, ReshapeOp reshape) {
  if (write.type(reshape.getInput()).hasStaticShape() && write.type(reshape.getResult()).hasStaticShape())
    return;
  nonNegative(write, reshape.getResult(), reshape.getSizes());
  Value from = write.constant(1), to = write.constant(1);
  for (int64_t i = 0; i < write.type(reshape.getInput()).getRank(); ++i)
    from = write.multiply(from, write.size(reshape.getInput(), i));
  SmallVector<Value> sizes = write.resultSizes(write.type(reshape.getResult()), reshape.getSizes());
  for (Value s : sizes)
    to = write.multiply(to, s);
  Value exact = write.isExactProduct(to, sizes);
  write.require(ADRT_FAIL_RESHAPE, write.both(write.equal(from, to), exact),
                {from, write.select(exact, to, write.constant(kMaxNumber))});
}

static void dot(ConditionWriter &write, DotOp dot) {
  for (auto [l, r] : llvm::zip_equal(dot.getLhsBatch(), dot.getRhsBatch()))
    write.same(dot.getLhs(), l, dot.getRhs(), r);
  for (auto [l, r] : llvm::zip_equal(dot.getLhsContract(), dot.getRhsContract()))
    write.same(dot.getLhs(), l, dot.getRhs(), r);
}

static void conv(ConditionWriter &write, ConvOp conv) {
  for (auto [ofInput, ofFilter] : ConvAxes::split(conv.getDims())->sharedAxes())
    write.same(conv.getInput(), ofInput, conv.getFilter(), ofFilter);
}

static void gemm(ConditionWriter &write, GemmOp gemm) {
  write.same(gemm.getLhs(), gemm.getTransA() ? 0 : 1, gemm.getRhs(), gemm.getTransB() ? 1 : 0);
  if (!gemm.getBias())
    return;
  // The bias broadcasts where its size is 1 in the program; a dynamic size is the result's.
  auto bias = write.type(gemm.getBias());
  for (int64_t i = 0; i < bias.getRank(); ++i) {
    bool rows = 2 - bias.getRank() + i == 0;
    Value source = rows ? gemm.getLhs() : gemm.getRhs();
    int64_t axis = rows ? (gemm.getTransA() ? 1 : 0) : (gemm.getTransB() ? 0 : 1);
    if (bias.getDimSize(i) == 1 || haveSameSize(source, axis, gemm.getBias(), i))
      continue;
    Value have = write.size(gemm.getBias(), i), want = write.size(source, axis);
    write.require(ADRT_FAIL_BROADCAST, write.equal(have, want),
                  {write.constant(2 - bias.getRank() + i), have, want});
  }
}

static void slice(ConditionWriter &write, SliceOp slice) {
  nonNegative(write, slice.getResult(), slice.getSizes());
  SmallVector<Value> sizes = write.resultSizes(write.type(slice.getResult()), slice.getSizes());
  for (auto [i, offset, stride] : llvm::enumerate(slice.getOffsets(), slice.getStrides())) {
    if (!write.type(slice.getInput()).isDynamicDim(i) && !write.type(slice.getResult()).isDynamicDim(i))
      continue;
    // The last element read is offset + (size - 1) * stride, if there is one: a number that may be too
    // large.
    Value have = write.size(slice.getInput(), i), steps = write.subtract(sizes[i], write.constant(1));
    Value rest = write.subtract(have, write.constant(offset)), room = write.subtract(rest, write.constant(1));
    Value fits = write.both(
        write.compare(arith::CmpIPredicate::sgt, rest, write.constant(0)),
        write.compare(arith::CmpIPredicate::sle, steps, write.divide(room, write.constant(stride))));
    Value last = write.add(write.constant(offset), write.multiply(steps, write.constant(stride)));
    Value large =
        write.compare(arith::CmpIPredicate::sgt, steps, write.constant((kMaxNumber - offset) / stride));
    write.require(ADRT_FAIL_BOUNDS, write.either(write.equal(sizes[i], write.constant(0)), fits),
                  {write.constant(i), write.select(large, write.constant(kMaxNumber), last), have});
  }
}

// A part without elements may be anywhere.
static void window(ConditionWriter &write, Value tensor, ValueRange offsets, ArrayRef<Value> sizes) {
  for (auto [i, offset] : llvm::enumerate(offsets)) {
    Value have = write.size(tensor, i);
    Value isInside =
        write.both(write.compare(arith::CmpIPredicate::sge, offset, write.constant(0)),
                   write.compare(arith::CmpIPredicate::sle, offset, write.subtract(have, sizes[i])));
    Value fits = write.either(write.equal(sizes[i], write.constant(0)), isInside);
    Value last = write.subtract(write.add(offset, sizes[i]), write.constant(1));
    Value large = write.compare(arith::CmpIPredicate::sgt, offset,
                                write.subtract(write.constant(kMaxNumber), sizes[i]));
    write.require(ADRT_FAIL_BOUNDS, fits,
                  {write.constant(i), write.select(fits, offset, write.outside(offset, last, large)), have});
  }
}

static void dynamicSlice(ConditionWriter &write, DynamicSliceOp slice) {
  nonNegative(write, slice.getResult(), slice.getSizes());
  window(write, slice.getInput(), slice.getOffsets(),
         write.resultSizes(write.type(slice.getResult()), slice.getSizes()));
}

static void dynamicUpdateSlice(ConditionWriter &write, DynamicUpdateSliceOp update) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < write.type(update.getUpdate()).getRank(); ++i)
    sizes.push_back(write.size(update.getUpdate(), i));
  window(write, update.getInput(), update.getOffsets(), sizes);
}

static void concat(ConditionWriter &write, ConcatOp concat) {
  for (Value input : concat.getInputs().drop_front())
    for (int64_t i = 0; i < write.type(input).getRank(); ++i)
      if (i != int64_t(concat.getAxis()))
        write.same(concat.getInputs().front(), i, input, i);
}

// A cast may claim a static size for a dynamic one.
static void claimedSizes(ConditionWriter &write, tensor::CastOp cast) {
  auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
  auto to = dyn_cast<RankedTensorType>(cast.getType());
  if (!from || !to)
    return;
  for (int64_t i = 0; i < to.getRank(); ++i) {
    if (!from.isDynamicDim(i) || to.isDynamicDim(i))
      continue;
    Value claimed = write.constant(to.getDimSize(i)), have = write.size(cast.getSource(), i);
    write.require(ADRT_FAIL_SAME_SIZE, write.equal(claimed, have), {write.constant(i), claimed, have});
  }
}

static void nonEmptyAxis(ConditionWriter &write, Value tensor, int64_t axis) {
  if (!write.type(tensor).isDynamicDim(axis))
    return;
  Value have = write.size(tensor, axis);
  write.require(ADRT_FAIL_BOUNDS, write.compare(arith::CmpIPredicate::sgt, have, write.constant(0)),
                {write.constant(axis), write.constant(0), have});
}

// A loop that does not advance would never end.
static void step(ConditionWriter &write, scf::ForOp loop) {
  Value step = loop.getStep();
  Type index = write.builder.getIndexType();
  bool isUnsigned = loop.getUnsignedCmp();
  if (!step.getType().isIndex())
    step = isUnsigned ? arith::IndexCastUIOp::create(write.builder, write.loc, index, step).getResult()
                      : arith::IndexCastOp::create(write.builder, write.loc, index, step).getResult();
  auto predicate = isUnsigned ? arith::CmpIPredicate::ne : arith::CmpIPredicate::sgt;
  write.require(ADRT_FAIL_STEP, write.compare(predicate, step, write.constant(0)), {step});
}

static void element(ConditionWriter &write, tensor::ExtractOp extract) {
  for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
    Value have = write.size(extract.getTensor(), axis);
    Value fits = write.both(write.compare(arith::CmpIPredicate::sge, index, write.constant(0)),
                            write.compare(arith::CmpIPredicate::slt, index, have));
    write.require(ADRT_FAIL_BOUNDS, fits, {write.constant(axis), index, have});
  }
}

static void divisor(ConditionWriter &write, Value divisor) {
  if (isa<ShapedType>(divisor.getType()))
    return;
  Value zero =
      arith::ConstantOp::create(write.builder, write.loc, write.builder.getIntegerAttr(divisor.getType(), 0));
  write.require(ADRT_FAIL_DIVISION, write.compare(arith::CmpIPredicate::ne, divisor, zero), {});
}

namespace {
class InsertShapeChecksPass : public ad::impl::InsertShapeChecksPassBase<InsertShapeChecksPass> {
  void runOnOperation() override {
    bool isRefused = false;
    getOperation().walk([&](Operation *op) {
      if (op->getParentOfType<linalg::LinalgOp>()) // code of a kernel
        return;
      isRefused |= failed(requireAccesses(op));
      ConditionWriter write(op);
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](scf::ForOp o) { step(write, o); })
          .Case([&](BroadcastOp o) { broadcast(write, o); })
          .Case([&](SumToShapeOp o) { sumToShape(write, o); })
          .Case([&](ReshapeOp o) { reshape(write, o); })
          .Case([&](DotOp o) { dot(write, o); })
          .Case([&](GemmOp o) { gemm(write, o); })
          .Case([&](ConvOp o) { conv(write, o); })
          .Case<AttentionOp, AttentionGradOp>([&](auto o) { requireSizesOfAttention(write, o); })
          .Case([&](SliceOp o) { slice(write, o); })
          .Case([&](DynamicSliceOp o) { dynamicSlice(write, o); })
          .Case([&](DynamicUpdateSliceOp o) { dynamicUpdateSlice(write, o); })
          .Case([&](ConcatOp o) { concat(write, o); })
          .Case([&](LaunchOp o) {
            isRefused |= failed(requireSlicesOfLaunch(o)) || failed(requireSizesOfLaunch(o)) ||
                         failed(requireIndicesOfLaunch(o));
          })
          .Case([&](FusionOp o) { isRefused |= failed(refuseOpenFusion(o)); })
          .Case([&](tensor::CastOp o) { claimedSizes(write, o); })
          .Case([&](ArgmaxOp o) { nonEmptyAxis(write, o.getInput(), o.getAxis()); })
          .Case([&](ArgminOp o) { nonEmptyAxis(write, o.getInput(), o.getAxis()); })
          .Case([&](tensor::ExtractOp o) { element(write, o); })
          .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp,
                arith::CeilDivUIOp, arith::FloorDivSIOp>([&](auto o) { divisor(write, o.getRhs()); })
          .Case<FullOp, IotaOp, FeedOp>([&](auto o) { nonNegative(write, o.getResult(), o.getSizes()); });
    });
    if (isRefused)
      signalPassFailure();
  }
};
} // namespace
