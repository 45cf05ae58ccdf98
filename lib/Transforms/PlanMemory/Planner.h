// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Chooses a buffer for each tensor of one host program, in the order of the program. Offsets come later
// (OffsetAssignment.h).

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLANNER_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLANNER_H

#include "Buffers.h"
#include "InPlaceUpdates.h"
#include "adjoint/Transforms/MemoryPlan.h"

namespace mlir::ad {

/// Moves launches whose results leave their block, such as updates of parameters, to the earliest position
/// after the last read of the value that they replace.
void scheduleUpdates(func::FuncOp function, OverwriteAnalysis &overwrites);

/// For each loop, the buffers of temporary copies of its yielded values; -1 for none.
using Temporaries = DenseMap<Operation *, SmallVector<int64_t>>;

/// Erases an earlier plan from the program.
void eraseMemoryPlan(func::FuncOp function);
/// Writes a plan into the program, once offsets are known.
void writeMemoryPlan(func::FuncOp function, Buffers &buffers, const Temporaries &temporaries);

/// A value that is a result of the function, perhaps as an alias of another shape.
struct Returned {
  int64_t result;
  bool hasShapeOfResult;
};

class MemoryPlanner {
public:
  /// No operation may move from now on.
  MemoryPlanner(func::FuncOp function, OverwriteAnalysis &overwrites)
      : function(function), overwrites(overwrites), order(function), buffers(order, pools),
        updates(overwrites, pools) {}

  /// Chooses a buffer for every tensor.
  void assign();

  const ProgramOrder &getOrder() const { return order; }
  Buffers &getBuffers() { return buffers; }
  const Temporaries &getTemporaries() const { return temporaries; }
  int64_t getPoolCount() const { return pools.count(); }

private:
  // --- Planner.cpp
  void bindArguments();
  void bindResults();
  void assign(Block &block);
  void assignOp(Operation &op);
  void assignLaunch(LaunchOp launch);

  // --- Structured.cpp: loops and branches
  void assignFor(scf::ForOp loop);
  void assignIf(scf::IfOp branch);
  bool mayHaveMemoryOf(BlockArgument argument, OpResult result);
  int64_t bufferOfBranch(OpResult result);
  void assignSide(scf::IfOp branch, Region &region, ArrayRef<int64_t> results);
  void assignWhile(scf::WhileOp loop);
  void makeTemporaries(scf::ForOp loop, ArrayRef<int64_t> carries);

  // --- Reuse.cpp
  /// The buffer for a value that operation `op` makes, a new one if need be.
  int64_t bufferFor(Value value, Operation *op);
  /// Whether `value` may be written into the buffer from `op` on; else why not.
  bool mayReuse(int64_t buffer, Value value, Operation *op, StringRef &refusal);
  int64_t bufferOfReturned(Value value, Operation *op, const Returned &as);
  int64_t dyingOperand(OpResult value, LaunchOp launch);
  /// Whether `op` may write the value into the memory of the result of the function that it is.
  bool mayBeWrittenInPlace(Value value, Operation *op, const Returned &as);
  void reportDonations();

  func::FuncOp function;
  OverwriteAnalysis &overwrites;
  PoolAnalysis pools;
  ProgramOrder order;
  Buffers buffers;
  InPlaceUpdates updates;
  Temporaries temporaries;
  DenseMap<Value, Returned> returned;       // values of returning blocks that are results of the function
  DenseMap<int64_t, int64_t> resultBuffers; // by result, once a branch or a value that is returned has one
  DenseMap<int64_t, int64_t> donated;       // results, and the arguments that are donated to them
  DenseMap<int64_t, StringRef> refusals;    // of donated arguments
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLANNER_H
