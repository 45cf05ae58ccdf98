// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The host function for divided tiles: whether to divide, and the memory and threads of their totals.

#include "../Reduction/PartialSizes.h"
#include "ScanTiles.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FailureOr<bool> ScanSizes::emitSizes() {
  if (failed(bindArguments()))
    return failure();
  layOut();
  Buffer totals = totalsInMemory(Value());
  Value count = binary<arith::MulIOp>(totals.sizes[0], totals.sizes[1]);
  Value bytes = binary<arith::MulIOp>(count, indexConstant(memoryBytes(totals.element)));
  Value threads =
      binary<arith::MulIOp>(binary<arith::MulIOp>(groups, parts), indexConstant(scan.threadsPerBlock()));
  Value divides = indexConstant(1);
  if (!division.always) {
    Value enough = binary<arith::MulIOp>(smCount, indexConstant(kMinBlocksPerSM));
    Value areFew = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, groups, enough);
    Value areLong = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, parts, indexConstant(1));
    divides = arith::SelectOp::create(builder, loc, binary<arith::AndIOp>(areFew, areLong), divides,
                                      indexConstant(0));
  }
  func::ReturnOp::create(builder, loc, ValueRange{divides, bytes, threads});
  return readsNoOperand(host);
}
