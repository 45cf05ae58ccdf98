// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes the memory plan of one host program: which buffer each tensor lives in, when each buffer is live, and
// where it lies.

#ifndef ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLANNER_H
#define ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLANNER_H

#include "Overwrite.h"
#include "Pools.h"
#include "adjoint/Transforms/MemoryPlan.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad {

/// A buffer whose offset is not known yet. Lifetimes are closed intervals of numbers of operations: all that
/// one kernel reads and writes is live together.
struct PlannedBuffer {
  StorageKind storage = StorageKind::arena;
  int64_t number = 0; ///< of the pool, the argument or the result
  int64_t offset = 0, bytes = 0;
  int64_t first = 0; ///< number of the operation that first writes it
  int64_t last = 0;  ///< number of the last operation that may read it

  /// Whether it is in the arena or in another pool.
  bool isInPool() const { return storage == StorageKind::arena || storage == StorageKind::pool; }
};

/// Moves launches whose results leave their block, as updates of parameters do, to where they can run first,
/// but behind what reads the value that they replace.
void scheduleUpdates(func::FuncOp function, OverwriteAnalysis &overwrites);

/// Takes an earlier plan out of the program.
void eraseMemoryPlan(func::FuncOp function);

class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp function, SymbolTableCollection &symbols)
      : function(function), overwrites(symbols) {}

  /// Gives every tensor a buffer. Fails after a diagnostic.
  LogicalResult assign();
  /// Writes the plan into the program, once offsets are known.
  void write();

  func::FuncOp getFunction() const { return function; }
  MutableArrayRef<PlannedBuffer> getBuffers() { return buffers; }
  int64_t getPoolCount() const { return pools.count(); }
  /// The operation with a number that a lifetime names.
  Operation *getOperation(int64_t number) const { return operations[number]; }
  int64_t getEnd() const { return operations.size(); }

private:
  // --- Planner.cpp
  LogicalResult checkSizes();
  void bindArguments();
  void bindResults();
  LogicalResult assign(Block &block);
  LogicalResult assignOp(Operation &op);
  LogicalResult assignLaunch(LaunchOp launch);

  // --- Structured.cpp: loops and branches
  LogicalResult assignFor(scf::ForOp loop);
  LogicalResult assignIf(scf::IfOp branch);
  LogicalResult assignWhile(scf::WhileOp loop);
  void assignSwaps(scf::ForOp loop, ArrayRef<int64_t> carries);
  bool wantInBranch(scf::IfOp branch, unsigned number, int64_t buffer);
  bool wantInCarry(Value value, BlockArgument argument, int64_t carry);
  void placeYieldedInCarries(scf::ForOp loop, ArrayRef<int64_t> carries);
  void placeYieldedInResults(Block &block, scf::IfOp branch);

  // --- Lifetimes.cpp
  /// Numbers in the order of execution; an operation with regions has one on entry and one on exit.
  void number(Block &block);
  int64_t numberOf(Operation *op) const { return numbers.lookup(op).first; }
  int64_t endOf(Operation *op) const { return numbers.lookup(op).second; }
  int64_t endOfUse(OpOperand &use, Block *definingBlock);
  /// Extends the lifetime of the buffer that holds `value` over all of its uses.
  void extendOverUses(Value value);
  /// Whether nothing reads `value`, which lies in `buffer`, or another name of it, at or after `writer`,
  /// except what `writer` itself reads where it may overwrite it with a result that `wanted` puts there. Uses
  /// outside of the block of `writer` count, unless `inBlock` says that they do not.
  bool diesBefore(Value value, Operation *writer, int64_t buffer, bool inBlock = false);
  bool mayWriteOver(OpOperand &use, Value value, int64_t buffer);

  // --- Reuse.cpp: which buffer a value gets
  /// The buffer of a value that arises in operation `op`, a new one if need be. Its life starts there.
  int64_t bufferFor(Value value, Operation *op);
  int64_t makeBuffer(Value value, int64_t at, StorageKind storage, int64_t number);
  /// A buffer in the pool of the value.
  int64_t makePooledBuffer(Value value, int64_t at);
  /// Whether `value` may be written into the buffer from `op` on; else why not.
  bool mayTake(int64_t buffer, Value value, Operation *op, StringRef &refusal);
  int64_t dyingOperand(OpResult value, LaunchOp launch);
  void reportDonations();

  func::FuncOp function;
  OverwriteAnalysis overwrites;
  PoolAnalysis pools;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> numbers;
  SmallVector<Operation *> operations; // by number
  SmallVector<PlannedBuffer> buffers;
  DenseMap<Value, int64_t> bufferOf; // absent or -1: memory of its own (arguments, constants)
  DenseMap<Value, int64_t> wanted;   // results that should be written into an existing buffer
  /// Branches, and values from outside that they update in place on both sides.
  llvm::DenseSet<std::pair<Operation *, Value>> updatedInside;
  DenseMap<Value, int64_t> returned;     // values of the entry's block that are results of the function
  DenseMap<int64_t, int64_t> donated;    // results, and the arguments that are donated to them
  DenseMap<int64_t, StringRef> refusals; // of donated arguments
  DenseMap<Operation *, SmallVector<int64_t>> before; // scf.while: buffers of the condition's arguments
  DenseMap<Operation *, SmallVector<int64_t>> swaps;  // scf.for: temporaries of the yield, -1 for none
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_TRANSFORMS_PLANMEMORY_PLANNER_H
