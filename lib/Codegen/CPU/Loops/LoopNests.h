// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Loop nests: scalar loops outside, vectors along the contiguous axis, and blocks for code that reuses its
// operands.

#ifndef ADJOINT_LIB_CODEGEN_CPU_LOOPS_LOOPNESTS_H
#define ADJOINT_LIB_CODEGEN_CPU_LOOPS_LOOPNESTS_H

#include "../../Kernel/Outputs/StatementLoops.h"
#include "../CPUComponent.h"
#include "../Contraction/ContractionBlocks.h"
#include "../Row/ShortRows.h"
#include "LaneLoop.h"
#include "WorkDistribution.h"

namespace mlir::ad::cpu {

class LoopNests : public CPUComponent, public StatementLoops {
public:
  LoopNests(CPUContext &context, LaneLoop &laneLoop, WorkDistribution &distribution, ShortRows &shortRows,
            ContractionBlocks &contractionBlocks)
      : CPUComponent(context), laneLoop(laneLoop), distribution(distribution), shortRows(shortRows),
        contractionBlocks(contractionBlocks) {}

  LogicalResult emitNest(const CPUNest &nest, Store store);
  LogicalResult emitStatement(const StatementNest &nest, Store store) override {
    return emitNest(nest, store);
  }
  LogicalResult emitLoops(const CPUNest &nest, int64_t axis, int64_t laneAxis,
                          SmallVectorImpl<Position> &positions, UnitRange units, Store store);

private:
  LaneLoop &laneLoop;
  WorkDistribution &distribution;
  ShortRows &shortRows;
  ContractionBlocks &contractionBlocks;
};

} // namespace mlir::ad::cpu

#endif // ADJOINT_LIB_CODEGEN_CPU_LOOPS_LOOPNESTS_H
