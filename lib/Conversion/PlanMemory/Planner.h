// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan of one host program: which buffer each tensor lives in, when each buffer is live, and where
// it lies.

#ifndef ADJOINT_LIB_CONVERSION_PLANMEMORY_PLANNER_H
#define ADJOINT_LIB_CONVERSION_PLANMEMORY_PLANNER_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad {

/// A place in memory. Lifetimes are closed intervals of operation numbers: what one kernel touches is live
/// together.
struct PlannedBuffer {
  int64_t bytes = 0;   // -1: dynamic
  int64_t first = 0;   // number of the operation that first writes it
  int64_t last = 0;    // number of the last operation that may read it
  int64_t offset = -1; // in the arena; -1 while unplaced and for dynamic buffers
};

class MemoryPlanner {
public:
  explicit MemoryPlanner(func::FuncOp function) : function(function) {}

  /// Makes and checks the plan and writes it as attributes. Fails after a diagnostic.
  LogicalResult run();

private:
  // Numbers of operations in execution order; a region operation has one on entry and one on exit.
  void number(Block &block);
  LogicalResult checkSizes();
  LogicalResult assign(Block &block);
  LogicalResult assignOp(Operation &op);
  LogicalResult assignLaunch(LaunchOp launch);
  LogicalResult assignFor(scf::ForOp loop);
  LogicalResult assignIf(scf::IfOp branch);
  LogicalResult assignWhile(scf::WhileOp loop);
  void assignSwaps(scf::ForOp loop, ArrayRef<int64_t> carries);
  void placeYieldedInCarries(scf::ForOp loop, ArrayRef<int64_t> carries);
  void placeYieldedInResults(Block &block, ArrayRef<int64_t> results);

  int64_t makeBuffer(Type type, int64_t first, int64_t last);
  /// Extends the lifetime of the buffer that holds `value` over all of its uses.
  void extendOverUses(Value value);
  int64_t endOfUse(OpOperand &use, Block *definingBlock);
  bool diesBefore(Value value, LaunchOp writer);
  bool onlyAliasUse(Value value);

  void placeFirstFit();
  LogicalResult checkRaces();
  LogicalResult checkLaunch(LaunchOp launch);
  void writeAttributes();

  func::FuncOp function;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
  DenseMap<Value, int64_t> bufferOf; // absent or -1: not in the arena (arguments, constants)
  DenseMap<Value, int64_t> wanted;   // results that should be written into an existing buffer
  DenseMap<Operation *, SmallVector<int64_t>> before; // scf.while: buffers of the condition's arguments
  DenseMap<Operation *, SmallVector<int64_t>> swaps;  // scf.for: temporaries of the yield, -1 for none
  SmallVector<PlannedBuffer> buffers;
  int64_t arenaBytes = 0;
};

/// Bytes of a tensor in memory (i1 takes a byte), -1 when a size is dynamic.
int64_t tensorBytes(Type type);

/// Whether a processor has addresses for a tensor of the type; sizes that only run time knows always fit.
bool fitsInMemory(RankedTensorType type);

/// Whether `kernel` may write result `result` over argument `argument`: every element of the argument is read
/// only to compute the element of the results at the same place.
bool mayOverwrite(KernelOp kernel, unsigned argument, unsigned result);

/// Operations that give their operand another name: no data moves.
bool isAlias(Operation *op);

} // namespace mlir::ad

#endif // ADJOINT_LIB_CONVERSION_PLANMEMORY_PLANNER_H
