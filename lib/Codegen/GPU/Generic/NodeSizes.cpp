// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "NodeSizes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value NodeSizes::resultCount() {
  linalg::GenericOp reduction = division.reductions.front();
  Value count = indexConstant(1);
  auto type = cast<RankedTensorType>(reduction.getResult(0).getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    count = binary<arith::MulIOp>(count, sizeOf(reduction.getResult(0), axis));
  return count;
}

// Of the longest reduction.
Value NodeSizes::mostLeaves() {
  Value most = indexConstant(1);
  for (linalg::GenericOp reduction : division.reductions) {
    Value leaves = binary<arith::CeilDivUIOp>(reductions.reducedTotal(reduction),
                                              indexConstant(leafLength(kernel, reduction)));
    most = binary<arith::MaxUIOp>(most, leaves);
  }
  return most;
}

Value NodeSizes::roundUpToPower(Value count) {
  Type wide = builder.getI64Type();
  Value below = binary<arith::SubIOp>(count, indexConstant(1));
  below = arith::IndexCastOp::create(builder, loc, wide, below);
  Value zeros = LLVM::CountLeadingZerosOp::create(builder, loc, wide, below, /*is_zero_poison=*/false);
  Value bits =
      arith::SubIOp::create(builder, loc, arith::ConstantIntOp::create(builder, loc, wide, 64), zeros);
  Value one = arith::ConstantIntOp::create(builder, loc, wide, 1);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    arith::ShLIOp::create(builder, loc, one, bits));
}

// Nodes are as short as gives the processors the threads that they want.
Value NodeSizes::chooseLeaves(int64_t threadsOfNode) {
  Value one = indexConstant(1);
  Value wanted = binary<arith::MulIOp>(processors, indexConstant(kWantedThreads / threadsOfNode));
  Value results = binary<arith::MaxUIOp>(resultCount(), one);
  Value count = binary<arith::CeilDivUIOp>(wanted, results);
  count = binary<arith::MinUIOp>(binary<arith::MaxUIOp>(count, one), indexConstant(kMostNodes));
  return roundUpToPower(binary<arith::CeilDivUIOp>(mostLeaves(), count));
}

// Whether the undivided kernel has few threads, which have much to go through.
Value NodeSizes::shouldDivide() {
  Value isLong = arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 0);
  for (linalg::GenericOp reduction : division.reductions) {
    Value most = indexConstant(shortLength(kernel, reduction, division));
    Value isLonger = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt,
                                           reductions.reducedTotal(reduction), most);
    isLong = binary<arith::OrIOp>(isLong, isLonger);
  }
  Value has = binary<arith::MulIOp>(resultCount(), indexConstant(division.threadsOfResult));
  Value enough = binary<arith::MulIOp>(processors, indexConstant(kFewThreads));
  Value isFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, has, enough);
  return binary<arith::AndIOp>(isFew, isLong);
}

bool NodeSizes::readsNothing() {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(host.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return host.getBody().front().getOps<LLVM::LoadOp>().empty();
}

FailureOr<bool> NodeSizes::emitSizes(int64_t threadsOfNode) {
  if (failed(bindSizes()))
    return failure();
  Value leaves = chooseLeaves(threadsOfNode), bytes = placeNodes(Value(), leaves);
  Value threads = indexConstant(1);
  for (linalg::GenericOp reduction : division.reductions) {
    Value own = elementCount(nodes[reduction].buffers.front().sizes);
    threads = binary<arith::MaxUIOp>(threads, binary<arith::MulIOp>(own, indexConstant(threadsOfNode)));
  }
  if (!division.always)
    leaves = arith::SelectOp::create(builder, loc, shouldDivide(), leaves, indexConstant(0));
  func::ReturnOp::create(builder, loc, ValueRange{leaves, bytes, threads});
  return readsNothing();
}
