// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Which orders an operation may have.

#include "adjoint/Dialect/AD/IR/ADOps.h"

using namespace mlir;
using namespace mlir::ad;

LogicalResult ad::verifySummationOrder(Operation *op) {
  OrderAttr order = cast<NumericsOpInterface>(op).getSummationOrder();
  if (!order)
    return success();
  bool runs = op->hasTrait<RunningReduction>();
  if (runs && !order.isChain() && !order.hasNestedChains())
    return op->emitOpError("expected 'chain' or 'chain = N, chain = N, chain' as the order of a running "
                           "reduction, but got ")
           << order;
  if (!runs && order.hasNestedChains())
    return op->emitOpError("expected an order with one total, but got ")
           << order << ", the order of running reductions";
  return success();
}
