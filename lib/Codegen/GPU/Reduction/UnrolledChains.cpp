// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "UnrolledChains.h"
#include "../Generic/GPUKernelEmitter.h"
#include "Division.h"
#include "llvm/Support/SaveAndRestore.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;
using namespace mlir::ad::device;

// The largest unroll factor of a chain, whose loads overlap, the registers for what is loaded, and the
// maximum number of operations of the unrolled code.
static constexpr int64_t kMaxUnroll = 64, kMaxRegisters = 64, kMaxUnrolledOps = 512, kRegisterBytes = 4;

UnrolledChains::UnrolledChains(GPUKernelEmitter &emitter, Hoisting &hoisting, ChainSteps &steps,
                               ReductionLoops &loops)
    : ReductionChains(emitter, hoisting, steps), emitter(emitter), reductionLoops(loops) {}

bool UnrolledChains::hasFewThreads() {
  const Buffer &space = results[emitter.launchShape.result];
  return emitter.mapping.perThread && !ShapedType::isDynamicShape(space.shape) &&
         areFewThreads(ShapedType::getNumElements(space.shape));
}

FailureOr<SmallVector<Value>> UnrolledChains::hoistedChain(linalg::GenericOp reduction,
                                                           ArrayRef<SmallVector<Index>> loops,
                                                           ArrayRef<Value> start, Value lower, Value upper) {
  if (loops.size() != 1 || !hasFewThreads())
    return steps.chain(reduction, loops, start, lower, upper);
  // Other chains than those from 0 are the leaves of the order.
  int64_t part = constantOf(lower) == 0 ? kAccessBytes : kernel.getOrderAttr().getPartLength();
  return unrolledAsFits(reduction, loops.front(), start, lower, upper, part);
}

// The widest element decides. With open sizes, rows other than the first may start between two vectors.
int64_t UnrolledChains::vectorLength(int64_t part) {
  int64_t widest = 1;
  for (auto &[tensor, buffer] : buffers) {
    widest = std::max(widest, memoryBytes(buffer.element));
    int64_t axis = contiguousAxis(buffer.shape);
    if (axis > 0 && ShapedType::isDynamic(buffer.shape[axis]) &&
        llvm::any_of(ArrayRef(buffer.shape).take_front(axis), [](int64_t size) { return size != 1; }))
      return 1;
  }
  return std::gcd(kAccessBytes / widest, part);
}

FailureOr<SmallVector<Value>> UnrolledChains::unrolled(linalg::GenericOp reduction, ArrayRef<Index> loops,
                                                       ArrayRef<Value> start, Value lower, Value upper,
                                                       int64_t part) {
  if (failed(hoisting.hoistReduced(reduction, SmallVector<Index>(loops))))
    return failure();
  return unrolledAsFits(reduction, loops, start, lower, upper, part);
}

FailureOr<SmallVector<Value>> UnrolledChains::unrolledAsFits(linalg::GenericOp reduction,
                                                             ArrayRef<Index> loops, ArrayRef<Value> start,
                                                             Value lower, Value upper, int64_t part) {
  int64_t operations = 0;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    operations += llvm::range_size(*generic.getBlock());
  // A step may compute other sums, whose chains are in the unrolled code as often.
  operations = std::max<int64_t>(operations, 1) * copies;
  int64_t vector = vectorLength(part), registers = 0;
  for (auto &[tensor, buffer] : buffers)
    registers += llvm::divideCeil(memoryBytes(buffer.element), kRegisterBytes);
  int64_t most = std::min(kMaxUnroll, kMaxRegisters / std::max<int64_t>(registers, 1));
  int64_t factor = std::clamp<int64_t>(kMaxUnrolledOps / operations, 1, std::max<int64_t>(most, 1));
  if (factor < vector)
    vector = 1;
  factor -= factor % vector;
  Value rest = binary<arith::RemUIOp>(binary<arith::SubIOp>(upper, lower), indexConstant(factor));
  Value middle = binary<arith::SubIOp>(upper, rest);
  auto sums = unrolledBy(factor, vector, reduction, loops, start, lower, middle);
  return failed(sums) || factor == 1 ? sums : unrolledBy(1, 1, reduction, loops, *sums, middle, upper);
}

FailureOr<SmallVector<Value>> UnrolledChains::unrolledBy(int64_t factor, int64_t vector,
                                                         linalg::GenericOp reduction, ArrayRef<Index> loops,
                                                         ArrayRef<Value> start, Value lower, Value upper) {
  auto loop = scf::ForOp::create(builder, loc, lower, upper, indexConstant(factor), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  llvm::SaveAndRestore copiesOfStep(copies, copies * factor);
  SmallVector<Value> next(loop.getRegionIterArgs()), indices;
  SmallVector<SmallVector<Index>> inner;
  for (int64_t i = 0; i < factor; i += vector) {
    Value first = binary<arith::AddIOp>(loop.getInductionVar(), indexConstant(i));
    llvm::append_range(indices, emitter.vectorized.consecutiveIndices(first, vector));
  }
  for (Value index : indices) {
    inner.emplace_back(loops);
    reductionLoops.setIndex(reduction, inner.back(), {index, 0, nullptr});
  }
  if (failed(emitter.evaluator.loadFirst(reduction, inner)))
    return failure();
  for (Value k : indices)
    if (failed(steps.step(reduction, loops, k, next)))
      return failure();
  scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}
