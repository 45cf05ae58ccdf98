// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The code of one kernel while it is emitted: what the emitter and all of its components read and change.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELCONTEXT_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELCONTEXT_H

#include "Values/KnownValues.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::ad::codegen {

struct KernelContext {
  KernelContext(KernelOp kernel, FunctionOpInterface function, int64_t vectorLanes);
  KernelContext(const KernelContext &) = delete;

  /// The constant, which is in the entry block.
  Value indexConstant(int64_t value);
  /// The position of an element, by its number in row-major order.
  Position positionOfElement(Value number, ValueRange sizes);
  template <class Op> Value binary(Value lhs, Value rhs) { return builder.createOrFold<Op>(loc, lhs, rhs); }

  /// A loop, without its values known after it; the body alone if it has one iteration.
  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body);

  LogicalResult emitIf(Value condition, function_ref<LogicalResult()> then,
                       function_ref<LogicalResult()> otherwise = nullptr);
  /// A condition of null always holds.
  LogicalResult emitIfAllowed(Value allowed, function_ref<LogicalResult()> then,
                              function_ref<LogicalResult()> otherwise) {
    return allowed ? emitIf(allowed, then, otherwise) : then();
  }

  // Forms of values
  Value toMemory(Value value);
  Value fromMemory(Value value, Type element);
  /// Short floats as integers, other values as they are.
  Value movable(Value value);

  // Values of tensors at positions, in the lanes of the code being emitted
  Key keyOf(Value tensor, const Position &position);
  /// From here on, in this block, the tensor has the value at the position.
  void remember(Value tensor, const Position &position, Value value) {
    known.remember(keyOf(tensor, position), value);
  }
  /// Values computed at a position, valid in the blocks that the current one is nested in.
  struct Scope : KnownValues::Scope {
    explicit Scope(KernelContext &context) : KnownValues::Scope(context.known) {}
  };

  /// What the function computes. `all`: the whole kernel. `partial`: the partial results of its reductions.
  /// `merge`: the results of the kernel from the partial results. Functions for `partial` and `merge` also
  /// get the memory of the partial results, on CPUs before the range of units. On GPUs they also get the
  /// number of leaves of the order's tree that one partial result sums.
  enum class Work { all, partial, merge };
  /// Another number of lanes for a while.
  class WithLanes;

  KernelOp kernel;
  FunctionOpInterface function;
  OpBuilder builder;
  Location loc;
  Work work = Work::all;
  int64_t vectorLanes;             // lanes of a vector loop
  int64_t lanes = 1;               // lanes of the code being emitted
  Value mask;                      // active lanes; null when all are
  bool flat = false;               // positions are linear indices of equal shapes
  DenseMap<Value, Buffer> buffers; // tensor arguments
  SmallVector<Buffer> results;     // destinations
  IRMapping scalars;               // scalar values of the kernel body
  KnownValues known;               // of tensors
  /// Of the longest reduction whose size is dynamic: the tree has a slot for each doubling of it.
  int64_t longestReduction = std::numeric_limits<int64_t>::max();

private:
  std::map<int64_t, Value> constants;
};

class KernelContext::WithLanes {
public:
  WithLanes(KernelContext &context, int64_t lanes, Value mask)
      : context(context), savedLanes(context.lanes), savedMask(context.mask) {
    context.lanes = lanes;
    context.mask = mask;
  }
  ~WithLanes() {
    context.lanes = savedLanes;
    context.mask = savedMask;
  }

private:
  KernelContext &context;
  int64_t savedLanes;
  Value savedMask;
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELCONTEXT_H
