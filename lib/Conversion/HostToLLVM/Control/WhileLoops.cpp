// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loops with a condition.

#include "../Launches/WorkEstimate.h"
#include "ControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad::host;

// A buffer of the condition gets the initial value, and then the value that the body yields.
SmallVector<HostTensor> WhileLoops::bindConditionArguments(scf::WhileOp loop) {
  SmallVector<HostTensor> arguments;
  for (auto [init, argument] : llvm::zip_equal(loop.getInits(), loop.getBeforeArguments()))
    if (isTensor(argument))
      arguments.push_back(carries.bindArgument(argument, init, buffers.plan.bufferOf(argument)));
  return arguments;
}

// The condition yields to the body and to the results alike.
FailureOr<SmallVector<HostTensor>> WhileLoops::bindResults(scf::WhileOp loop) {
  SmallVector<HostTensor> results;
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
      if (!type.hasStaticShape())
        return loop.emitOpError("carries a tensor of dynamic shape; use scf.for, or a static shape");
      results.push_back(
          buffers.tensorIn(buffers.plan.bufferOf(loop->getResult(i)), type, values.sizesOf(type, {})));
      values.bind(result, results.back());
      values.bind(loop.getAfterArguments()[i], results.back());
    }
  return results;
}

// Iterations between polls, rounded down to a power of two.
int64_t WhileLoops::iterationsBetweenPolls(scf::WhileOp loop) {
  int64_t work = workOf(*loop.getBeforeBody()) + workOf(*loop.getAfterBody());
  return llvm::bit_floor<uint64_t>(polls.iterationsBetweenPolls(work));
}

LogicalResult WhileLoops::emitCondition(scf::WhileOp loop, ArrayRef<HostTensor> results, ValueRange carried,
                                        int64_t strip) {
  bool counts = strip > 1;
  values.bindNonTensors(loop.getBeforeArguments(), carried.drop_back(counts));
  counts ? polls.pollEvery(carried.back(), strip) : polls.poll();
  LogicalResult status = blocks.emitBlock(*loop.getBeforeBody());
  scf::ConditionOp condition = loop.getConditionOp();
  carries.yieldTensors(condition.getArgs(), results, {});
  SmallVector<Value> forwarded = values.nonTensorScalars(condition.getArgs());
  if (counts)
    forwarded.push_back(carried.back());
  scf::ConditionOp::create(builder, loc, values.scalar(condition.getCondition()), forwarded);
  return status;
}

LogicalResult WhileLoops::emitBody(scf::WhileOp loop, ArrayRef<HostTensor> arguments, ValueRange carried,
                                   bool counts) {
  values.bindNonTensors(loop.getAfterArguments(), carried.drop_back(counts));
  LogicalResult status = blocks.emitBlock(*loop.getAfterBody());
  OperandRange yielded = loop.getYieldOp().getOperands();
  carries.yieldTensors(yielded, arguments, {});
  SmallVector<Value> next = values.nonTensorScalars(yielded);
  if (counts)
    next.push_back(arith::AddIOp::create(builder, loc, carried.back(), i64(1)));
  scf::YieldOp::create(builder, loc, next);
  return status;
}

LogicalResult WhileLoops::emit(scf::WhileOp loop) {
  SmallVector<HostTensor> arguments = bindConditionArguments(loop);
  FailureOr<SmallVector<HostTensor>> results = bindResults(loop);
  if (failed(results))
    return failure();
  // If one iteration is little work, the loop carries the number of the iteration.
  int64_t strip = iterationsBetweenPolls(loop);
  bool counts = strip > 1;
  SmallVector<Value> inits = values.nonTensorScalars(loop.getInits());
  SmallVector<Type> types = llvm::to_vector(TypeRange(nonTensors(loop.getResults())));
  if (counts) {
    inits.push_back(i64(0));
    types.push_back(builder.getI64Type());
  }
  LogicalResult condition = success(), body = success();
  auto lowered = scf::WhileOp::create(
      builder, loc, types, inits,
      [&](OpBuilder &, Location, ValueRange carried) {
        condition = emitCondition(loop, *results, carried, strip);
      },
      [&](OpBuilder &, Location, ValueRange carried) { body = emitBody(loop, arguments, carried, counts); });
  values.bindNonTensors(loop.getResults(), lowered.getResults().drop_back(counts));
  return success(succeeded(condition) && succeeded(body));
}
