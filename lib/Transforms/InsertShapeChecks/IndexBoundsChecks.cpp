// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emitted kernels read elements at any index: `tensor.extract` outside of its tensor is undefined. The
// conditions come before the launch, so that kernels pay nothing for them.

#include "IndexBoundsChecks.h"
#include "FirstOutOfBounds.h"
#include "HostSizes.h"
#include "IndexRange.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class IndexBoundsChecks {
public:
  IndexBoundsChecks(LaunchOp launch, KernelOp kernel)
      : launch(launch), kernel(kernel), host(launch, kernel) {}

  LogicalResult run() {
    for (Operation &op : kernel.getBody().front()) {
      if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && failed(requireScalar(extract)))
        return failure();
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic || !generic.hasPureTensorSemantics())
        continue;
      for (auto extract : generic.getOps<tensor::ExtractOp>())
        if (failed(requireInside(generic, extract)))
          return failure();
    }
    return success();
  }

  LogicalResult requireInside(linalg::GenericOp generic, ArrayRef<tensor::ExtractOp> extracts) {
    for (tensor::ExtractOp extract : extracts)
      if (failed(requireInside(generic, extract)))
        return failure();
    return success();
  }

private:
  void requireBounds(tensor::ExtractOp extract, unsigned axis, Value condition, Value index, Value size) {
    host.require(extract, ADRT_FAIL_BOUNDS, condition, {host.constant(axis), index, size});
  }

  Value isInside(Value index, Value size) {
    return host.both(host.compare(arith::CmpIPredicate::sge, index, host.constant(0)),
                     host.compare(arith::CmpIPredicate::slt, index, size));
  }

  static LogicalResult refuse(tensor::ExtractOp extract, StringRef dependence) {
    return extract.emitOpError(
               "expected indices that can be tested before the kernel runs, but one depends on ")
           << dependence << "; compute it in a kernel before this one";
  }

  /// A scalar of the kernel, outside of its loops.
  LogicalResult requireScalar(tensor::ExtractOp extract) {
    for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
      Value known = host.valueOf(index), size = host.sizeOf(extract.getTensor(), axis);
      if (!known || !size)
        return refuse(extract, "an element of a tensor");
      requireBounds(extract, axis, isInside(known, size), known, size);
    }
    return success();
  }

  LogicalResult requireInside(linalg::GenericOp generic, tensor::ExtractOp extract) {
    SmallVector<int64_t> loops = generic.getStaticLoopRanges();
    if (llvm::is_contained(loops, 0))
      return success();
    SmallVector<unsigned> computed;
    for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
      int64_t size = cast<RankedTensorType>(extract.getTensor().getType()).getDimSize(axis);
      std::optional<IndexRange> range = rangeOfIndex(index, loops);
      bool isSurelyInside = range && range->low >= 0 && !ShapedType::isDynamic(size) && range->high < size;
      if (!isSurelyInside && !requireOnHost(generic, extract, axis, index))
        computed.push_back(axis);
    }
    return computed.empty() ? success() : requireInKernel(generic, extract, computed);
  }

  /// Whether a loop of the operation has no iterations; null if the host does not know it.
  Value isEmpty(linalg::GenericOp generic) {
    Value empty = arith::ConstantIntOp::create(host.builder, host.loc, 0, 1);
    for (auto [loop, size] : llvm::enumerate(generic.getStaticLoopRanges())) {
      if (!ShapedType::isDynamic(size))
        continue;
      Value extent = host.extentOf(generic, loop);
      if (!extent)
        return {};
      empty = host.either(empty, host.compare(arith::CmpIPredicate::eq, extent, host.constant(0)));
    }
    return empty;
  }

  /// A constant, or the index of one loop. False for others.
  bool requireOnHost(linalg::GenericOp generic, tensor::ExtractOp extract, unsigned axis, Value index) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    std::optional<int64_t> number = getConstantIntValue(index);
    Value size = host.sizeOf(extract.getTensor(), axis), empty = isEmpty(generic);
    Value extent = loop ? host.extentOf(generic, loop.getDim()) : Value();
    if (!size || !empty || (!number && !extent))
      return false;
    Value constant = number ? host.constant(*number) : Value();
    Value inside = number ? isInside(constant, size) : host.compare(arith::CmpIPredicate::sle, extent, size);
    requireBounds(extract, axis, host.either(empty, inside), number ? constant : size, size);
    return true;
  }

  Value elementOf(Value tensor) {
    return tensor::ExtractOp::create(host.builder, host.loc, tensor, ValueRange());
  }

  LogicalResult requireInKernel(linalg::GenericOp generic, tensor::ExtractOp extract,
                                ArrayRef<unsigned> axes) {
    SmallVector<Value> sizes;
    for (unsigned axis : axes) {
      sizes.push_back(host.sizeOf(extract.getTensor(), axis));
      if (!sizes.back())
        return refuse(extract, "the size of a tensor that the host does not know");
    }
    OpBuilder &builder = host.builder;
    FusionOp found = findFirstOutOfBounds(builder, launch, kernel, generic, extract, axes);
    if (!found)
      return refuse(extract, "an accumulator");
    Value first = found.getResult(0);
    Value none = arith::ConstantIntOp::create(builder, host.loc, kNoIteration, 64);
    Value isFound = host.compare(arith::CmpIPredicate::ne, elementOf(first), none);
    auto branch = scf::IfOp::create(builder, host.loc, isFound, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    FusionOp read = readIndicesOutOfBounds(builder, launch, kernel, generic, extract, axes, first);
    for (auto [number, axis] : llvm::enumerate(axes)) {
      Value index = arith::IndexCastOp::create(builder, host.loc, builder.getIndexType(),
                                               elementOf(read.getResult(number)));
      requireBounds(extract, axis, isInside(index, sizes[number]), index, sizes[number]);
    }
    return success();
  }

  LaunchOp launch;
  KernelOp kernel;
  HostSizes host;
};
} // namespace

LogicalResult ad::requireIndicesOfLaunch(LaunchOp launch) {
  KernelOp kernel = kernelOf(launch);
  return kernel && launch.getDestinations().empty() ? IndexBoundsChecks(launch, kernel).run() : success();
}

LogicalResult ad::requireIndices(LaunchOp launch, KernelOp kernel, linalg::GenericOp generic,
                                 ArrayRef<tensor::ExtractOp> extracts) {
  return IndexBoundsChecks(launch, kernel).requireInside(generic, extracts);
}
