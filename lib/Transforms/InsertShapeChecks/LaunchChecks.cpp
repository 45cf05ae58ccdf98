// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Emitted kernels check nothing: linalg leaves operands of other sizes undefined. The host program knows
// sizes before the launch, since a kernel computes them from its arguments. One that depends on elements of a
// tensor is refused.

#include "LaunchChecks.h"
#include "HostSizes.h"
#include "adjoint/Codegen/Kernel/RowShape.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
class LaunchChecks {
public:
  LaunchChecks(LaunchOp launch, KernelOp kernel)
      : launch(launch), kernel(kernel), host(launch, kernel), builder(host.builder), loc(host.loc) {}

  LogicalResult run() {
    for (auto op : kernel.getBody().getOps<linalg::LinalgOp>())
      requireLoops(op);
    requireLaunchSizes();
    requireSharedLoops();
    return failure(isRefused);
  }

private:
  void refuse(Operation *checked) {
    if (!isRefused)
      checked->emitOpError(
          "expected sizes that are known before the kernel runs, but one depends on an element of a "
          "tensor; compute it in a kernel before this one");
    isRefused = true;
  }

  // `about` names what has the size: an operand or a result, and its axis.
  void requireEqual(Operation *checked, int32_t kind, ArrayRef<int64_t> about, Value expected, Value actual) {
    if (!expected || !actual)
      return refuse(checked);
    if (expected == actual)
      return;
    SmallVector<Value> values = {host.constant(about[0]), host.constant(about[1]), expected, actual};
    host.require(checked, kind, host.compare(arith::CmpIPredicate::eq, expected, actual), values);
  }

  static bool isDynamic(Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    return type && !type.hasStaticShape();
  }

  void requireLoops(linalg::LinalgOp op) {
    if (llvm::none_of(op->getOperands(), isDynamic))
      return;
    SmallVector<Value> loops(op.getNumLoops());
    forEachAxis(op, [&](OpOperand &operand, int64_t axis, AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return;
      Value size = host.sizeOf(operand.get(), axis);
      if (!size)
        refuse(op);
      else if (!loops[dim.getPosition()])
        loops[dim.getPosition()] = size;
      else
        requireEqual(op, ADRT_FAIL_OPERAND, {operand.getOperandNumber(), axis}, loops[dim.getPosition()],
                     size);
    });
    forEachAxis(op, [&](OpOperand &operand, int64_t axis, AffineExpr expr) {
      if (!isa<AffineDimExpr>(expr))
        requireInside(op, operand, axis, expr, loops);
    });
  }

  static void forEachAxis(linalg::LinalgOp op, function_ref<void(OpOperand &, int64_t, AffineExpr)> visit) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          visit(operand, axis, expr);
  }

  // The host checks before the launch that the smallest and the largest value of an index expression are
  // inside the axis of the operand. With an empty loop the kernel accesses nothing, and the check passes.
  void requireInside(linalg::LinalgOp op, OpOperand &operand, int64_t axis, AffineExpr expr,
                     ArrayRef<Value> loops) {
    Value size = host.sizeOf(operand.get(), axis), first = bound(expr, loops, false),
          last = bound(expr, loops, true);
    if (!size)
      return refuse(op);
    if (!first || !last)
      return; // a quotient or a rest, or a loop that is refused
    if (weightOf(expr) > kMaxWeight) {
      op.emitOpError("expected an index map whose factors add up to at most ") << kMaxWeight;
      isRefused = true;
      return;
    }
    Value zero = host.constant(0), belowZero = host.compare(arith::CmpIPredicate::slt, first, zero);
    Value inside = host.both(host.compare(arith::CmpIPredicate::sge, first, zero),
                             host.compare(arith::CmpIPredicate::slt, last, size));
    Value empty = builder.createOrFold<arith::ConstantIntOp>(loc, 0, 1);
    expr.walk([&](AffineExpr part) {
      auto dim = dyn_cast<AffineDimExpr>(part);
      if (!dim)
        return;
      Value loop = loops[dim.getPosition()];
      empty = host.either(empty, host.compare(arith::CmpIPredicate::eq, loop, zero));
      inside = host.both(inside, host.compare(arith::CmpIPredicate::sle, loop, host.constant(kMaxLoop)));
    });
    Value wrong = builder.createOrFold<arith::SelectOp>(loc, belowZero, first, last);
    host.require(op, ADRT_FAIL_OPERAND_BOUNDS, host.either(empty, inside),
                 {host.constant(operand.getOperandNumber()), host.constant(axis), wrong, size});
  }

  // The sum of the absolute factors of an index expression. With it and the size of loops limited, no index
  // is larger than 64 bits hold.
  static constexpr int64_t kMaxWeight = int64_t(1) << 20, kMaxLoop = int64_t(1) << 40;

  static int64_t weightOf(AffineExpr expr) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return number.getValue() == std::numeric_limits<int64_t>::min() ? kMaxWeight + 1
                                                                      : std::abs(number.getValue());
    auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!pair)
      return 1;
    int64_t lhs = weightOf(pair.getLHS()), rhs = weightOf(pair.getRHS());
    return expr.getKind() == AffineExprKind::Mul
               ? llvm::SaturatingMultiply<uint64_t>(lhs, rhs) > kMaxWeight ? kMaxWeight + 1 : lhs * rhs
               : std::min(lhs, kMaxWeight + 1) + std::min(rhs, kMaxWeight + 1);
  }

  // The maximum or minimum of an index expression. Null where a loop has no known size, and for
  // expressions that divide.
  Value bound(AffineExpr expr, ArrayRef<Value> loops, bool upper) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return host.constant(number.getValue());
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      Value size = loops[dim.getPosition()];
      return !upper || !size ? (size ? host.constant(0) : size)
                             : builder.createOrFold<arith::SubIOp>(loc, size, host.constant(1));
    }
    auto pair = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!pair)
      return {};
    auto factor = dyn_cast<AffineConstantExpr>(pair.getRHS());
    bool exchanges = expr.getKind() == AffineExprKind::Mul && factor && factor.getValue() < 0;
    Value lhs = bound(pair.getLHS(), loops, upper != exchanges), rhs = bound(pair.getRHS(), loops, upper);
    if (!lhs || !rhs)
      return {};
    if (expr.getKind() == AffineExprKind::Add)
      return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
    if (expr.getKind() == AffineExprKind::Mul)
      return builder.createOrFold<arith::MulIOp>(loc, lhs, rhs);
    // Quotients and rests need no run-time condition: ad-verify-linalg admits them along known sizes only.
    return {};
  }

  ValueRange yielded() { return kernel.getBody().front().getTerminator()->getOperands(); }

  void requireLaunchSizes() {
    ValueRange sizes = launch.getSizes();
    for (auto [number, value] : llvm::enumerate(yielded())) {
      auto type = cast<RankedTensorType>(value.getType());
      for (int64_t axis = 0; axis < type.getRank(); ++axis) {
        if (!type.isDynamicDim(axis))
          continue;
        requireEqual(launch, ADRT_FAIL_RESULT, {int64_t(number), axis}, host.sizeOf(value, axis),
                     sizes.front());
        sizes = sizes.drop_front();
      }
    }
  }

  // The emitters give one nest to results of one shape and of one element per row, as their types are.
  void requireSharedLoops() {
    auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
    ValueRange results = yielded();
    for (Value space : results) {
      if (!llvm::all_of(results, [&](Value result) {
            return shapeOf(result) == shapeOf(space) || isRowShape(shapeOf(result), shapeOf(space));
          }))
        continue;
      for (auto [number, result] : llvm::enumerate(results))
        for (auto [axis, size] : llvm::enumerate(shapeOf(result)))
          if (ShapedType::isDynamic(size))
            requireEqual(kernel.getBody().front().getTerminator(), ADRT_FAIL_SHARED_LOOPS,
                         {int64_t(number), int64_t(axis)}, host.sizeOf(space, axis),
                         host.sizeOf(result, axis));
      return;
    }
  }

  LaunchOp launch;
  KernelOp kernel;
  HostSizes host;
  OpBuilder &builder;
  Location loc;
  bool isRefused = false;
};
} // namespace

LogicalResult ad::requireSizesOfLaunch(LaunchOp launch) {
  if (!launch.getDestinations().empty())
    return launch.emitOpError("expected no destinations, which the memory plan gives to launches");
  KernelOp kernel = kernelOf(launch);
  return kernel ? LaunchChecks(launch, kernel).run() : success();
}
