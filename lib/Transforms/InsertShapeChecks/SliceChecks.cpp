// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emitted kernels read and write slices wherever they are, and take the sizes that casts claim.

#include "SliceChecks.h"
#include "HostSizes.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class SliceChecks {
public:
  SliceChecks(LaunchOp launch, KernelOp kernel) : kernel(kernel), host(launch, kernel) {}

  LogicalResult run() {
    for (Value result : kernel.getBody().front().getTerminator()->getOperands())
      if (auto empty = result.getDefiningOp<tensor::EmptyOp>())
        return empty.emitOpError("expected a result that the kernel writes; fill the tensor.empty first");
    for (Operation &op : kernel.getBody().front()) {
      LogicalResult checked = success();
      if (auto cast = dyn_cast<tensor::CastOp>(op))
        checked = requireClaims(cast);
      else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        checked = requireInside(slice, slice.getSource());
      else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        checked = requireInsert(insert);
      if (failed(checked))
        return failure();
    }
    return success();
  }

private:
  static LogicalResult refuse(Operation *op) {
    return op->emitOpError(
        "expected offsets, sizes and strides that are known before the kernel runs, but one depends "
        "on an element of a tensor; compute it in a kernel before this one");
  }

  Value valueOf(OpFoldResult number) {
    std::optional<int64_t> constant = getConstantIntValue(number);
    return constant ? host.constant(*constant) : host.valueOf(cast<Value>(number));
  }

  Value subtract(Value lhs, Value rhs) {
    return host.builder.createOrFold<arith::SubIOp>(host.loc, lhs, rhs);
  }
  Value isAtLeast(Value value, int64_t least) {
    return host.compare(arith::CmpIPredicate::sge, value, host.constant(least));
  }

  LogicalResult requireSame(Operation *op, int64_t axis, Value expected, Value actual) {
    if (!expected || !actual)
      return refuse(op);
    host.require(op, ADRT_FAIL_SAME_SIZE, host.compare(arith::CmpIPredicate::eq, expected, actual),
                 {host.constant(axis), expected, actual});
    return success();
  }

  LogicalResult requireClaims(tensor::CastOp cast) {
    auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(cast.getType());
    for (int64_t axis = 0; from && to && axis < to.getRank(); ++axis)
      if (from.isDynamicDim(axis) && !to.isDynamicDim(axis) &&
          failed(requireSame(cast, axis, host.constant(to.getDimSize(axis)),
                             host.sizeOf(cast.getSource(), axis))))
        return failure();
    return success();
  }

  /// The last element is offset + (size - 1) * stride, a number that may be too large.
  LogicalResult requireInside(OffsetSizeAndStrideOpInterface slice, Value tensor) {
    auto offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(), strides = slice.getMixedStrides();
    for (int64_t axis = 0; axis < int64_t(offsets.size()); ++axis) {
      std::optional<int64_t> stride = getConstantIntValue(strides[axis]);
      if (!stride || *stride < 1)
        return slice->emitOpError("expected constant strides of at least 1 in a kernel");
      Value offset = valueOf(offsets[axis]), size = valueOf(sizes[axis]), have = host.sizeOf(tensor, axis);
      if (!offset || !size || !have)
        return refuse(slice);
      Value isEmpty = host.compare(arith::CmpIPredicate::eq, size, host.constant(0));
      Value begins = host.both(isAtLeast(offset, 0), host.compare(arith::CmpIPredicate::slt, offset, have));
      Value room = subtract(subtract(have, host.constant(1)), offset);
      Value most = host.builder.createOrFold<arith::DivSIOp>(host.loc, room, host.constant(*stride));
      Value steps = subtract(size, host.constant(1));
      Value ends = host.both(isAtLeast(size, 1), host.compare(arith::CmpIPredicate::sle, steps, most));
      host.require(slice, ADRT_FAIL_BOUNDS, host.either(isEmpty, host.both(begins, ends)),
                   {host.constant(axis), offset, have});
    }
    return success();
  }

  LogicalResult requireInsert(tensor::InsertSliceOp insert) {
    if (llvm::any_of(insert.getMixedOffsets(),
                     [](OpFoldResult offset) { return !getConstantIntValue(offset); }))
      return insert.emitOpError("expected constant offsets in a kernel");
    if (failed(requireInside(insert, insert.getDest())) || failed(requireWritten(insert)))
      return failure();
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    int64_t from = 0;
    for (auto [axis, size] : llvm::enumerate(insert.getMixedSizes()))
      if (!dropped[axis] &&
          failed(requireSame(insert, axis, valueOf(size), host.sizeOf(insert.getSource(), from++))))
        return failure();
    return success();
  }

  /// Of what is inserted last into a tensor.empty: the slices are disjoint, and as many elements as it has.
  /// Others would be memory that nothing wrote.
  LogicalResult requireWritten(tensor::InsertSliceOp last) {
    bool isLast = llvm::none_of(last->getUsers(), [&](Operation *user) {
      auto next = dyn_cast<tensor::InsertSliceOp>(user);
      return next && next.getDest() == last.getResult();
    });
    SmallVector<tensor::InsertSliceOp> inserts;
    Value start = last;
    for (auto insert = last; insert; insert = start.getDefiningOp<tensor::InsertSliceOp>()) {
      inserts.push_back(insert);
      start = insert.getDest();
    }
    if (!isLast || !start.getDefiningOp<tensor::EmptyOp>() || covers(inserts, last.getDestType()))
      return success();
    bool isWhole = inserts.size() == 1 &&
                   llvm::all_of(last.getStaticOffsets(), [](int64_t offset) { return offset == 0; }) &&
                   llvm::all_of(last.getStaticStrides(), [](int64_t stride) { return stride == 1; });
    if (isWhole)
      return requireWholeSize(last);
    return last.emitOpError(
        "expected slices that write every element of a tensor.empty, each once; fill it first");
  }

  LogicalResult requireWholeSize(tensor::InsertSliceOp insert) {
    for (auto [axis, size] : llvm::enumerate(insert.getMixedSizes()))
      if (failed(requireSame(insert, axis, host.sizeOf(insert.getDest(), axis), valueOf(size))))
        return failure();
    return success();
  }

  static bool covers(ArrayRef<tensor::InsertSliceOp> inserts, RankedTensorType whole) {
    int64_t written = 0;
    for (size_t number = 0; number < inserts.size(); ++number) {
      tensor::InsertSliceOp insert = inserts[number];
      int64_t volume = 1;
      for (auto [size, stride] : llvm::zip(insert.getStaticSizes(), insert.getStaticStrides())) {
        if (stride != 1 || ShapedType::isDynamic(size) || llvm::MulOverflow(volume, size, volume))
          return false;
      }
      if (llvm::AddOverflow(written, volume, written) ||
          llvm::any_of(inserts.take_front(number),
                       [&](tensor::InsertSliceOp other) { return overlap(insert, other); }))
        return false;
    }
    return whole.hasStaticShape() && written == whole.getNumElements();
  }

  static bool overlap(tensor::InsertSliceOp lhs, tensor::InsertSliceOp rhs) {
    for (size_t axis = 0; axis < lhs.getStaticOffsets().size(); ++axis) {
      int64_t first = lhs.getStaticOffsets()[axis], other = rhs.getStaticOffsets()[axis];
      if (first + lhs.getStaticSizes()[axis] <= other || other + rhs.getStaticSizes()[axis] <= first)
        return false;
    }
    return true;
  }

  KernelOp kernel;
  HostSizes host;
};
} // namespace

LogicalResult ad::requireSlicesOfLaunch(LaunchOp launch) {
  KernelOp kernel = kernelOf(launch);
  return kernel ? SliceChecks(launch, kernel).run() : success();
}

static bool isOpen(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.hasStaticShape();
}

LogicalResult ad::refuseOpenFusion(FusionOp fusion) {
  WalkResult found = fusion.walk([&](Operation *op) {
    bool isLinalg = isa<linalg::LinalgOp>(op),
         isIndexed = isa<tensor::ExtractOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op);
    bool isOpenCast = isa<tensor::CastOp>(op);
    if (!isIndexed && !isOpenCast && !(isLinalg && llvm::any_of(op->getOperandTypes(), isOpen)))
      return WalkResult::advance();
    op->emitOpError(
        "expected static sizes and no indices in the code of an ad.fusion, which nothing tests before it "
        "runs; make it an ad.kernel that an ad.launch calls");
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}
