// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowRegisters.h"
#include "RowDistribution.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void RowRegisters::bind() {
  vectors.clear();
  const RowTiling &tiling = distribution.tiling;
  if (!tiling.inRegisters && !tiling.inBlock())
    return;
  Value thread = tiling.inBlock() ? mapping.threadInBlock : distribution.inGroup;
  int64_t step = tiling.vector * (tiling.inBlock() ? tiling.blockThreads : tiling.threads);
  Value start = binary<arith::MulIOp>(thread, indexConstant(tiling.vector));
  int64_t length = rows.length;
  Value end = indexConstant(length);
  if (tiling.inBlock()) {
    length = tiling.segment;
    start = binary<arith::AddIOp>(start, distribution.segmentStart);
    end = distribution.segmentEnd;
  }
  for (int64_t offset = 0; offset < length; offset += step) {
    Value first = binary<arith::AddIOp>(start, indexConstant(offset));
    Vector vector;
    if (offset + step > length || rows.length % length != 0) {
      vector.present = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, first, end);
      first = binary<arith::MinUIOp>(first, indexConstant(rows.length - tiling.vector));
    }
    vector.indices = vectorized.consecutiveIndices(first, tiling.vector);
    vectors.push_back(vector);
  }
}

LogicalResult RowRegisters::evaluateAtVectors(Value tensor) {
  ThreadMapping::PerThread perThread(mapping);
  SmallVector<Position> positions;
  for (const Vector &vector : vectors)
    for (Value index : vector.indices) {
      positions.push_back(distribution.row);
      positions.back().push_back({index, 0, nullptr});
    }
  return evaluator.evaluate(tensor, positions);
}

// A warp of a block may have no element of the last vector: it loads none. Zeros stand for them.
LogicalResult RowRegisters::loadIfPresent(Value argument, const Vector &vector) {
  SmallVector<Position> positions(vector.indices.size(), distribution.row);
  for (auto [position, index] : llvm::zip_equal(positions, vector.indices))
    position.push_back({index, 0, nullptr});
  if (context.known.lookup(context.keyOf(argument, positions.front())))
    return success();
  Type element = getElementTypeOrSelf(argument.getType()), type = memoryType(element);
  auto branch = scf::IfOp::create(builder, loc, SmallVector<Type>(positions.size(), type), vector.present,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Scope scope(context);
    ThreadMapping::PerThread perThread(mapping);
    FailureOr<SmallVector<Value>> values = evaluator.evaluate(argument, positions);
    if (failed(values))
      return failure();
    auto inMemory = llvm::map_to_vector(*values, [&](Value value) { return toMemory(value); });
    scf::YieldOp::create(builder, loc, inMemory);
    builder.setInsertionPointToStart(branch.elseBlock());
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    scf::YieldOp::create(builder, loc, SmallVector<Value>(positions.size(), zero));
  }
  for (auto [position, value] : llvm::zip_equal(positions, branch.getResults()))
    remember(argument, position, fromMemory(value, element));
  return success();
}

LogicalResult RowRegisters::loadOperands(linalg::GenericOp reduction) {
  auto isArgument = [](Value value) { return isa<BlockArgument>(value); };
  for (Value operand : RowDistribution::sourcesOf(reduction, isArgument)) {
    if (rows.sumsAlong || !distribution.hasGridRows(operand))
      continue;
    for (const Vector &vector : vectors)
      if (distribution.tiling.inBlock() && vector.present && failed(loadIfPresent(operand, vector)))
        return failure();
    if (failed(evaluateAtVectors(operand)))
      return failure();
  }
  return success();
}

// A load after a store waits for it, as they may be of the same memory. So the results are computed before
// the first store, as far as registers hold them beside the row. Not where vectors are clamped to the end of
// the row: it is another thread's, which may have stored it where an argument is updated in place.
LogicalResult RowRegisters::computeResults() {
  if (llvm::any_of(vectors, [](const Vector &vector) { return vector.present != nullptr; }))
    return success();
  int64_t words = 0;
  for (Value output : kernel.getBody().front().getTerminator()->getOperands()) {
    words += static_cast<int64_t>(vectors.size()) * distribution.tiling.vector *
             std::max<int64_t>(1, getElementTypeOrSelf(output.getType()).getIntOrFloatBitWidth() / 32);
    bool hasLoads = !rows.sumsAlong && distribution.hasGridRows(output);
    if (hasLoads && words <= RowDistribution::kMaxRowWords / 2 && failed(evaluateAtVectors(output)))
      return failure();
  }
  return success();
}

LogicalResult RowRegisters::emitStores(GPUKernelEmitter::StoreAt storeAt) {
  if (failed(computeResults()))
    return failure();
  for (const Vector &vector : vectors) {
    OpBuilder::InsertionGuard guard(builder);
    if (vector.present) {
      auto branch = scf::IfOp::create(builder, loc, vector.present);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Scope scope(context);
    if (failed(storeAt(vector.indices)))
      return failure();
  }
  return success();
}
