// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan of a host program, read off its IR: `ad-plan-memory` writes it, `convert-host-to-llvm`
// lowers it. Results of launches, feeds and copies are in the buffers that these operations name. What a loop
// carries, or a branch yields, has one buffer, that of its initial and yielded values: where a value is in
// another one, an `ad.copy` is before the loop, or before the terminator.

#ifndef ADJOINT_TRANSFORMS_MEMORYPLAN_H
#define ADJOINT_TRANSFORMS_MEMORYPLAN_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ad {

inline bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }
/// Operations whose result is an alias of the operand: no data moves.
bool isAlias(Operation *op);
/// The value that this one is an alias of.
Value stripAliases(Value value);
/// The uses of the value and of its aliases, without those by which aliases are made.
SmallVector<OpOperand *> usesThroughAliases(Value value);

/// The result of the function to which the argument is donated (`ad.donated`), if it is.
std::optional<int64_t> donatedResult(func::FuncOp function, unsigned argument);

class MemoryPlan {
public:
  /// Fails after a diagnostic if the program has no plan, or a malformed one: a tensor without a buffer, a
  /// carry in two buffers, or a copy that the lowering would make at another point.
  static FailureOr<MemoryPlan> read(func::FuncOp function);

  /// The allocation of each buffer, in the order of the program.
  ArrayRef<BufferAttr> getBuffers() const { return buffers; }
  BufferAttr getBuffer(int64_t number) const { return buffers[number]; }
  /// Bytes of the arena (pool 0); of another pool, bytes per element of its unit.
  int64_t getPoolBytes(int64_t pool) const { return pools[pool]; }
  /// The number of pools, the arena included.
  int64_t getPoolCount() const { return pools.size(); }
  /// The number of the buffer that holds the tensor. -1 if it is in no buffer: constants, and arguments that
  /// are not donated.
  int64_t bufferOf(Value tensor) const { return bufferOfTensor.lookup_or(tensor, -1); }
  /// For each value that the loop yields, the buffer of its temporary copy, or -1.
  SmallVector<int64_t> temporariesOf(scf::ForOp loop) const;

private:
  friend class MemoryPlanReader;
  SmallVector<BufferAttr> buffers;
  SmallVector<int64_t> pools = {0};
  DenseMap<Value, int64_t> bufferOfTensor;
};

/// What a wrong plan overwrites. Of kernels, the places are those of operations inside.
struct PlanConflict {
  Location writer, overwritten, reader;
};

/// Interprets the host program symbolically: the content of a buffer is the value that was written there
/// last. An operand must still be in its buffer when it is read, and no kernel may write an element that it
/// reads later. Knows nothing of how the plan was made. Fails after a diagnostic. If the reason is an operand
/// that was overwritten, `conflict` is set, unless it is null.
LogicalResult verifyMemoryPlan(func::FuncOp function, SymbolTableCollection &symbols,
                               std::optional<PlanConflict> *conflict = nullptr);

/// Offsets in the arena are multiples of a cache line, which is also the widest vector register.
constexpr int64_t kArenaAlignment = 64;
/// The unit of a tensor's pool: the product of its dynamic sizes, rounded up to this, so that offsets stay
/// aligned.
constexpr int64_t kUnitMultiple = 64;

} // namespace mlir::ad

#endif // ADJOINT_TRANSFORMS_MEMORYPLAN_H
