// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory plan of a host program, as its attributes say it: `ad-plan-memory` writes it,
// `convert-host-to-llvm` reads it.

#ifndef ADJOINT_TRANSFORMS_MEMORYPLAN_H
#define ADJOINT_TRANSFORMS_MEMORYPLAN_H

#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ad {

/// Whose memory a buffer lies in.
enum class Home : int64_t {
  pool,     ///< one of the program
  argument, ///< that of an argument which is donated to a result
  result    ///< what the host gets
};

/// The place of a buffer. Offset and size are bytes in pool 0, the arena. The memory of every other pool has
/// a size that only run time knows, the unit of the pool (see sizeOfUnit); there they are bytes per element
/// of the unit.
struct PlannedPlace {
  Home home = Home::pool;
  int64_t number = 0; ///< of the pool, the argument or the result
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// `ad.buffers` (home, number, offset and bytes of each buffer), `ad.arena_bytes`, and `ad.pool_bytes` of the
/// other pools when there are any. Operations name buffers: `ad.buffer` for results, `ad.buffer_before` for
/// the arguments of the condition of scf.while, `ad.swap` for temporaries of what scf.for yields.
struct MemoryPlan {
  SmallVector<PlannedPlace> places;
  SmallVector<int64_t> pools = {0};

  void write(func::FuncOp function) const;
  /// Nothing when there is no plan, or one that names what the function does not have.
  static std::optional<MemoryPlan> read(func::FuncOp function);
};

/// The unit of a tensor's pool: the product of its dynamic sizes, rounded up to this, so that offsets stay
/// aligned.
constexpr int64_t kUnitMultiple = 64;

} // namespace mlir::ad

#endif // ADJOINT_TRANSFORMS_MEMORYPLAN_H
