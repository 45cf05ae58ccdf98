// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of one kernel for any target. The emitter works backwards from the kernel's results: to store an
// element, it computes that element where it is needed, from loads of the kernel's arguments, through access
// maps and scalar code. Vectors run along one axis of the iteration space: every index is a scalar plus a
// multiple of the lane, or, for computed accesses, a vector of its own.
//
// What all targets have in common is in components, which are public, since each uses the others. What
// differs between targets is a hook, a virtual method of this class.

#ifndef ADJOINT_LIB_CODEGEN_KERNEL_KERNELEMITTER_H
#define ADJOINT_LIB_CODEGEN_KERNEL_KERNELEMITTER_H

#include "KernelArguments.h"
#include "Outputs/InsertEmitter.h"
#include "Outputs/KernelOutputs.h"
#include "Reduction/ReductionEmitter.h"
#include "Reduction/ScanEmitter.h"
#include "Values/Hoisting.h"
#include "Values/LaneValues.h"
#include "Values/MemoryAccess.h"
#include "Values/ValueEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::ad::codegen {

class KernelEmitter : public KernelContext {
public:
  /// `vectorLanes`: lanes of a vector loop; 1 for a target whose code is scalar.
  using KernelContext::KernelContext;
  virtual ~KernelEmitter() = default;

  /// Emits the body of the function without its terminator. Fails after a diagnostic if the kernel contains
  /// an operation that is not linalg.
  LogicalResult emit(Work toEmit = Work::all);

  LogicalResult emitLoop(Value lower, Value upper, Value step, function_ref<LogicalResult(Value)> body);

  //===- Hooks that every target has --------------------------------------===//

  /// Binds the arguments after those of tensors and scalars, which select a part of the work.
  virtual void bindRange(ValueRange arguments) = 0;
  virtual LogicalResult emitOutputs() = 0;
  /// Emits loops over the nest, and `store` at its positions.
  virtual LogicalResult emitNest(const Nest &nest, Store store) = 0;
  /// The sum of one chunk of a reduction in lanes, [lower, upper).
  virtual FailureOr<Value> laneChunk(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                     Value lower, Value upper, int64_t lanes) = 0;

  //===- Hooks that a target may override ---------------------------------===//

  virtual LogicalResult emitOutput(Value output, const Buffer &destination) {
    return kernelOutputs.emitRange(output, destination, {});
  }
  /// Called before the outputs are evaluated at the positions.
  virtual LogicalResult prepareOutputs(ValueRange outputs, ArrayRef<Position> positions) { return success(); }
  /// Emits an insertion with all other columns of its rows; nothing if that does not pay.
  virtual std::optional<LogicalResult> emitInsertByColumn(tensor::InsertSliceOp insert,
                                                          const Buffer &destination, const AxisRange &range) {
    return std::nullopt;
  }
  /// Emits steps of a running reduction from the first one on, and sets the step and the accumulator that
  /// follow them.
  virtual LogicalResult scanBlocks(linalg::GenericOp scan, const Buffer &destination, ArrayRef<Index> loops,
                                   Value &step, Value &accumulator) {
    return success();
  }

  // Memory
  virtual void store(const Buffer &buffer, const Position &position, Value value) {
    memoryAccess.store(buffer, position, value);
  }
  virtual void storeAll(const Buffer &destination, ArrayRef<Position> positions, ValueRange values);

  // Values
  virtual FailureOr<Value> compute(Value tensor, const Position &position) {
    return evaluator.compute(tensor, position);
  }
  /// The value that the body of the operand's operation reads at these loops.
  virtual FailureOr<Value> operandValue(OpOperand *input, ArrayRef<Index> loops) {
    return evaluator.evaluateOne(input->get(), positionOf(input, loops));
  }
  /// Where the body at these loops reads the operand.
  virtual Position positionOf(OpOperand *input, ArrayRef<Index> loops);
  /// A remembered value, for the code that uses it now.
  virtual Value reload(Value value) { return value; }

  // Reductions
  /// Whether vector code reduces several rows in parallel, one in each lane.
  virtual bool vectorizesRows(linalg::GenericOp generic) { return false; }
  virtual FailureOr<Value> reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops, Value identity,
                                       const Position &position) {
    return reductions.reduceChunks(generic, loops, identity, position);
  }
  virtual FailureOr<SmallVector<Value>> reduceBlocks(linalg::GenericOp generic,
                                                     ArrayRef<SmallVector<Index>> loops,
                                                     ArrayRef<Value> identities,
                                                     ArrayRef<Position> positions) {
    return reductions.reduceBlocks(generic, loops, identities, positions);
  }
  /// Joins blocks by the tree of the order; `block` emits the reduction of [lower, upper).
  virtual FailureOr<SmallVector<Value>> orderedTree(linalg::GenericOp generic, ArrayRef<Value> identities,
                                                    ArrayRef<Position> positions, BlockCode block,
                                                    int64_t blocksPerLeaf);
  /// One chain over everything, of a reduction with several accumulators.
  virtual FailureOr<SmallVector<Value>> wholeChain(linalg::GenericOp generic,
                                                   ArrayRef<SmallVector<Index>> loops, ArrayRef<Value> start,
                                                   ArrayRef<Position> positions);
  /// A chain over [lower, upper) after everything that its loop does not change has been computed.
  virtual FailureOr<SmallVector<Value>> hoistedChain(linalg::GenericOp generic,
                                                     ArrayRef<SmallVector<Index>> loops,
                                                     ArrayRef<Value> start, Value lower, Value upper) {
    return reductions.plainChain(generic, loops, start, lower, upper);
  }
  /// The next accumulators of one step of a chain.
  virtual FailureOr<SmallVector<Value>> accumulate(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                   ValueRange accumulators) {
    return evaluator.applyBody(generic, loops, accumulators);
  }
  /// Called at the end of an iteration of a chain.
  virtual void afterChainStep(linalg::GenericOp generic, ArrayRef<SmallVector<Index>> loops, Value k) {}
  /// The length of the longest reduction whose size is dynamic: the tree has a slot for each doubling of it.
  virtual int64_t longestReduction() const { return std::numeric_limits<int64_t>::max(); }

  //===- Components -------------------------------------------------------===//

  /// Values computed at a position, valid in the blocks that the current one is nested in.
  struct Scope : ValueEvaluator::Scope {
    explicit Scope(KernelEmitter &emitter) : ValueEvaluator::Scope(emitter.evaluator) {}
  };

  ValueEvaluator evaluator{*this};
  Hoisting hoisting{*this};
  LaneValues laneValues{*this};
  MemoryAccess memoryAccess{*this};
  ReductionEmitter reductions{*this};
  ScanEmitter scans{*this};
  InsertEmitter insertEmitter{*this};
  KernelArguments kernelArguments{*this};
  KernelOutputs kernelOutputs{*this};
};

} // namespace mlir::ad::codegen

#endif // ADJOINT_LIB_CODEGEN_KERNEL_KERNELEMITTER_H
