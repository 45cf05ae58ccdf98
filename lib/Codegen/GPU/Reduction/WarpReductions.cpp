// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "WarpReductions.h"
#include "../Generic/GPUKernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

FailureOr<Value> WarpReductions::laneChunk(linalg::GenericOp generic, SmallVector<Index> loops,
                                           Value identity, Value lower, Value upper, int64_t lanes) {
  if (failed(hoisting.hoistReduced(generic, loops)))
    return failure();
  return mapping.perThread ? chunkOfThread(generic, loops, identity, lower, upper, lanes)
                           : chunkOfWarp(generic, loops, identity, lower, upper, lanes);
}

// The elements of one lane in ascending order.
FailureOr<Value> WarpReductions::laneChain(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                           Value lower, Value upper, Value number, int64_t lanes) {
  auto loop = scf::ForOp::create(builder, loc, binary<arith::AddIOp>(lower, number), upper,
                                 indexConstant(lanes), identity);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(context);
    ThreadMapping::PerThread perThread(mapping);
    SmallVector<Index> inner(loops);
    reductionLoops.setIndex(generic, inner, {loop.getInductionVar(), 0, nullptr});
    auto values = evaluator.applyBody(generic, inner, loop.getRegionIterArg(0));
    if (failed(values))
      return failure();
    scf::YieldOp::create(builder, loc, values->front());
  }
  return padEmptyLane(generic, loop.getResult(0), number, binary<arith::SubIOp>(upper, lower), lanes);
}

// The sum of no elements at all is the identity.
Value WarpReductions::padEmptyLane(linalg::GenericOp generic, Value sum, Value number, Value size,
                                   int64_t lanes) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(size));
  auto type = dyn_cast<FloatType>(sum.getType());
  if (!type || !isa<math::FmaOp, arith::AddFOp>(combiningOp(generic)) || (known && *known >= lanes))
    return sum;
  Value zero = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, -0.0));
  Value some = binary<arith::MaxUIOp>(size, indexConstant(1));
  Value present = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, number, some);
  return arith::SelectOp::create(builder, loc, present, sum, zero);
}

FailureOr<Value> WarpReductions::chunkOfWarp(linalg::GenericOp generic, ArrayRef<Index> loops, Value identity,
                                             Value lower, Value upper, int64_t lanes) {
  int64_t width = std::min(lanes, kWarpThreads);
  // With fewer lanes than threads, several threads compute the same lane.
  Value first =
      width == kWarpThreads ? mapping.lane : binary<arith::RemUIOp>(mapping.lane, indexConstant(width));
  SmallVector<Value> sums;
  for (int64_t offset = 0; offset < lanes; offset += width) {
    FailureOr<Value> sum = laneChain(generic, loops, identity, lower, upper,
                                     binary<arith::AddIOp>(first, indexConstant(offset)), lanes);
    if (failed(sum))
      return failure();
    sums.push_back(*sum);
  }
  Operation *join = combiningOp(generic);
  for (size_t half = sums.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i)
      sums[i] = joinPartialResults(builder, loc, join, sums[i], sums[i + half]);
  Value sum = sums.front();
  for (int64_t half = width / 2; half >= 1; half /= 2)
    sum = joinPartialResults(builder, loc, join, sum, shuffle(sum, half));
  return sum;
}

// So few elements that each lane has one at most: the halving tree over those that there are.
FailureOr<Value> WarpReductions::shortChunkOfThread(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                    Value identity, Value lower, int64_t count) {
  SmallVector<SmallVector<Index>> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value index = binary<arith::AddIOp>(lower, indexConstant(i));
    reductionLoops.setIndex(generic, elements.emplace_back(loops), {index, 0, nullptr});
  }
  if (failed(emitter.evaluator.loadFirst(generic, elements)))
    return failure();
  SmallVector<Value> lanes;
  for (ArrayRef<Index> element : elements) {
    auto values = evaluator.applyBody(generic, element, identity);
    if (failed(values))
      return failure();
    lanes.push_back(values->front());
  }
  for (int64_t half = llvm::bit_ceil<uint64_t>(count) / 2; half >= 1; half /= 2) {
    for (int64_t i = 0; i + half < static_cast<int64_t>(lanes.size()); ++i)
      lanes[i] = joinPartialResults(builder, loc, combiningOp(generic), lanes[i], lanes[i + half]);
    lanes.truncate(std::min<size_t>(lanes.size(), half));
  }
  return lanes.front();
}

// A pairwise tree over lanes in bit-reversed order joins the pairs of the halving tree: lanes that are half
// of all lanes apart first, then those a quarter apart.
FailureOr<Value> WarpReductions::chunkOfThread(linalg::GenericOp generic, ArrayRef<Index> loops,
                                               Value identity, Value lower, Value upper, int64_t lanes) {
  std::optional<int64_t> count = getConstantIntValue(getAsOpFoldResult(binary<arith::SubIOp>(upper, lower)));
  if (count && *count >= 1 && *count <= std::min(lanes, kMaxShortRow))
    return shortChunkOfThread(generic, loops, identity, lower, *count);
  auto ofLane = [&](Value number, Value) -> FailureOr<SmallVector<Value>> {
    FailureOr<Value> sum =
        laneChain(generic, loops, identity, lower, upper, reverseBits(number, lanes), lanes);
    if (failed(sum))
      return failure();
    return SmallVector<Value>{*sum};
  };
  auto sums = tree.joinBlocks(indexConstant(lanes), /*length=*/1, identity, combiningOp(generic), ofLane);
  if (failed(sums))
    return failure();
  return sums->front();
}

Value WarpReductions::reverseBits(Value number, int64_t count) {
  if (count == 1)
    return number;
  Type wide = builder.getI64Type();
  Value bits = arith::IndexCastOp::create(builder, loc, wide, number);
  bits = LLVM::BitReverseOp::create(builder, loc, wide, bits);
  Value distance = arith::ConstantIntOp::create(builder, loc, wide, 64 - llvm::Log2_64(count));
  bits = arith::ShRUIOp::create(builder, loc, bits, distance);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), bits);
}

Value WarpReductions::shuffle(Value value, int64_t distance) {
  Type type = value.getType(), word = builder.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(width);
  auto exchange = [&](Value bits) -> Value {
    return ::mlir::gpu::ShuffleOp::create(builder, loc, bits, distance, kWarpThreads,
                                          ::mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  Value bits = type == integer ? value : arith::BitcastOp::create(builder, loc, integer, value);
  if (width < 32) {
    bits = exchange(arith::ExtUIOp::create(builder, loc, word, bits));
    bits = arith::TruncIOp::create(builder, loc, integer, bits);
  } else if (width == 32) {
    bits = exchange(bits);
  } else {
    Value half = arith::ConstantIntOp::create(builder, loc, integer, 32);
    Value low = exchange(arith::TruncIOp::create(builder, loc, word, bits));
    Value high = exchange(
        arith::TruncIOp::create(builder, loc, word, arith::ShRUIOp::create(builder, loc, bits, half)));
    high = arith::ShLIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, integer, high), half);
    bits = arith::OrIOp::create(builder, loc, arith::ExtUIOp::create(builder, loc, integer, low), high);
  }
  return type == integer ? bits : arith::BitcastOp::create(builder, loc, type, bits);
}
