// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "RowRegisters.h"
#include "RowDistribution.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

void RowRegisters::bind() {
  vectors.clear();
  const RowTiling &tiling = distribution.tiling;
  if (!tiling.inRegisters)
    return;
  Value start = binary<arith::MulIOp>(distribution.inGroup, indexConstant(tiling.vector));
  for (int64_t offset = 0; offset < rows.length; offset += tiling.vector * tiling.threads) {
    Value first = binary<arith::AddIOp>(start, indexConstant(offset));
    Vector vector;
    if (offset + tiling.vector * tiling.threads > rows.length) {
      vector.present =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, first, indexConstant(rows.length));
      first = binary<arith::MinUIOp>(first, indexConstant(rows.length - tiling.vector));
    }
    vector.indices = vectorized.consecutiveIndices(first, tiling.vector);
    vectors.push_back(vector);
  }
}

LogicalResult RowRegisters::loadOperands(linalg::GenericOp reduction) {
  auto load = [&](Value operand) -> LogicalResult {
    ThreadMapping::PerThread perThread(mapping);
    SmallVector<Position> positions;
    for (const Vector &vector : vectors)
      for (Value index : vector.indices) {
        positions.push_back(distribution.row);
        positions.back().push_back({index, 0, nullptr});
      }
    return evaluator.evaluate(operand, positions);
  };
  auto isArgument = [](Value value) { return isa<BlockArgument>(value); };
  for (Value operand : RowDistribution::sourcesOf(reduction, isArgument))
    if (!rows.sumsAlong && distribution.hasGridRows(operand) && failed(load(operand)))
      return failure();
  return success();
}

LogicalResult RowRegisters::emitStores(GPUKernelEmitter::StoreAt storeAt) {
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
