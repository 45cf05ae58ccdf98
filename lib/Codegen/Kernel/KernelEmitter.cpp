// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The order of emission, loops, and the hooks that a target may override.

#include "KernelEmitter.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

LogicalResult KernelEmitter::emit(Work toEmit) {
  work = toEmit;
  return failure(failed(kernelArguments.bind()) || failed(emitOutputs()));
}

LogicalResult KernelEmitter::emitLoop(Value lower, Value upper, Value step,
                                      function_ref<LogicalResult(Value)> body) {
  std::optional<int64_t> from = constantOf(lower), to = constantOf(upper), by = constantOf(step);
  if (from && to && *from >= *to)
    return success();
  if (from && to && by && *from + *by >= *to)
    return body(lower);
  auto loop = scf::ForOp::create(builder, loc, lower, upper, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  return body(loop.getInductionVar());
}

FailureOr<SmallVector<Value>> KernelEmitter::wholeChain(linalg::GenericOp generic,
                                                        ArrayRef<SmallVector<Index>> loops,
                                                        ArrayRef<Value> start, ArrayRef<Position>) {
  return reductions.chain(generic, loops, start, indexConstant(0), reductions.reducedTotal(generic));
}

FailureOr<SmallVector<Value>> KernelEmitter::orderedTree(linalg::GenericOp generic,
                                                         ArrayRef<Value> identities,
                                                         ArrayRef<Position> positions, BlockCode block,
                                                         int64_t blocksPerLeaf) {
  return reductions.pairwiseTree(reductions.reducedTotal(generic),
                                 blocksPerLeaf * kernel.getOrderAttr().getLength(), identities,
                                 combiningOp(generic), block);
}

void KernelEmitter::storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values) {
  for (auto [position, value] : llvm::zip_equal(positions, values))
    store(destination, position, value);
}

Position KernelEmitter::positionOf(OpOperand *input, ArrayRef<Index> loops) {
  return evaluator.apply(cast<linalg::GenericOp>(input->getOwner()).getMatchingIndexingMap(input), loops);
}
