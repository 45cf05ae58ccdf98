// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The reverse of scf.if: an scf.if on the same condition. Each branch computes its forward values again, then
// goes back through them, and gives the cotangents of all values that either branch captures. A
// value of which both branches read only parts enters with the sum of its cotangent so far.

#include "Reverse.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

LogicalResult Reverser::reverseBranch(Block &block, ValueRange resultCotangents, ArrayRef<Value> captured,
                                      ArrayRef<Value> sumsSoFar, SumType sumType, OpBuilder &builder) {
  IRMapping copies;
  SmallVector<Operation *> ops = recompute(block, copies, builder);
  Operation *terminator = block.getTerminator();
  Location loc = terminator->getLoc();

  Cotangents cotangents(sumType);
  for (auto [value, sum] : llvm::zip(captured, sumsSoFar))
    if (sum)
      cotangents.continueFrom(value, sum);
  SmallVector<Value> yielded, added;
  for (auto [value, cotangent] : llvm::zip(terminator->getOperands(), resultCotangents)) {
    yielded.push_back(copies.lookupOrDefault(value));
    added.push_back(activity.isActive(value) ? cotangent : Value());
  }
  cotangents.addInOrder(yielded, added);
  if (failed(reverse(ops, cotangents, builder)))
    return failure();

  SmallVector<Value> yields;
  for (Value value : captured) {
    Value sum = cotangents.takeSum(builder, loc, value);
    yields.push_back(sum ? sum : cotangents.zeroSum(builder, loc, value));
  }
  scf::YieldOp::create(builder, loc, yields);
  return success();
}

LogicalResult Reverser::reverseIf(scf::IfOp branch, Cotangents &cotangents, OpBuilder &builder) {
  SmallVector<Value> ofResults;
  for (Value result : branch.getResults())
    ofResults.push_back(cotangents.take(builder, branch.getLoc(), result));
  SmallVector<Value> captured = activity.activeCaptures(branch);
  if (captured.empty() || llvm::none_of(ofResults, [](Value value) { return static_cast<bool>(value); }))
    return success();

  SmallVector<Value> sumsSoFar = takeSumsOfParts(branch, captured, cotangents, builder);
  SmallVector<Type> sumTypes =
      llvm::map_to_vector(captured, [&](Value value) { return cotangents.sumTypeOf(value); });
  auto reversed = scf::IfOp::create(builder, branch.getLoc(), sumTypes, branch.getCondition(),
                                    /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip(branch->getRegions(), reversed->getRegions())) {
    builder.setInsertionPointToEnd(&to.front());
    if (failed(reverseBranch(from.front(), ofResults, captured, sumsSoFar, cotangents.getSumType(), builder)))
      return failure();
    eraseDead(to.front(), &activity);
  }
  addSums(cotangents, captured, sumsSoFar, reversed.getResults());
  return success();
}
