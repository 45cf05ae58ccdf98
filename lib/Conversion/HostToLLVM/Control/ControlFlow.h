// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Structured control flow of the host program, and the tensors that it carries. A carry of a loop has one
// buffer, which starts as a copy of the initial value. A result of a branch has one buffer, into which both
// sides write.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_CONTROLFLOW_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_CONTROLFLOW_H

#include "../RuntimeServices.h"
#include "../TensorCopies.h"
#include "StopPolls.h"

namespace mlir::ad::host {

/// Lowers the operations of a block at the insertion point.
class BlockEmitter {
public:
  virtual ~BlockEmitter() = default;
  virtual LogicalResult emitBlock(Block &block) = 0;
};

/// Buffers of the tensors that loops carry.
class LoopCarries : public HostComponent {
public:
  LoopCarries(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, TensorCopies &copies,
              RuntimeServices &services)
      : HostComponent(entry), values(values), buffers(buffers), copies(copies), services(services) {}

  /// Binds an argument of a loop to a buffer that starts as a copy of `init`.
  HostTensor bindArgument(Value argument, Value init, int64_t buffer);
  /// Copies the yielded tensors into the buffers of `targets`; `swaps` names a temporary buffer for each
  /// yielded value, or -1.
  void yieldTensors(ValueRange yielded, ArrayRef<HostTensor> targets, ArrayRef<int64_t> swaps);

private:
  HostValues &values;
  BufferAddresses &buffers;
  TensorCopies &copies;
  RuntimeServices &services;
};

/// scf.for. A loop polls in each iteration, or, if one iteration is little work, once per strip of
/// iterations: the loop over a strip has no calls then, so that its carries stay in registers.
class ForLoops : public HostComponent {
public:
  ForLoops(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, LoopCarries &carries,
           StopPolls &polls, BlockEmitter &blocks)
      : HostComponent(entry), values(values), buffers(buffers), carries(carries), polls(polls),
        blocks(blocks) {}

  LogicalResult emit(scf::ForOp loop);

private:
  struct Carries {
    SmallVector<HostTensor> tensors;
    SmallVector<Value> scalars;
  };
  enum class Polls { inEachIteration, outside };

  SmallVector<HostTensor> bindCarries(scf::ForOp loop);
  LogicalResult emitWhole(scf::ForOp loop, const Carries &carried, Polls where);
  LogicalResult emitStrips(scf::ForOp loop, const Carries &carried, int64_t strip, int64_t work);
  LogicalResult emitIteration(scf::ForOp loop, scf::ForOp lowered, Value index, const Carries &carried);
  scf::ForOp makeWhole(scf::ForOp loop, ValueRange initial);
  scf::ForOp makeCounting(Value to, Value by, ValueRange initial);
  Value indexOf(scf::ForOp loop, Value trip);
  Value number(Type type, int64_t value);

  HostValues &values;
  BufferAddresses &buffers;
  LoopCarries &carries;
  StopPolls &polls;
  BlockEmitter &blocks;
};

/// scf.while. The condition's arguments and the results have buffers of their own.
class WhileLoops : public HostComponent {
public:
  WhileLoops(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, LoopCarries &carries,
             StopPolls &polls, BlockEmitter &blocks)
      : HostComponent(entry), values(values), buffers(buffers), carries(carries), polls(polls),
        blocks(blocks) {}

  LogicalResult emit(scf::WhileOp loop);

private:
  SmallVector<HostTensor> bindConditionArguments(scf::WhileOp loop);
  FailureOr<SmallVector<HostTensor>> bindResults(scf::WhileOp loop);
  int64_t iterationsBetweenPolls(scf::WhileOp loop);
  LogicalResult emitCondition(scf::WhileOp loop, ArrayRef<HostTensor> results, ValueRange carried,
                              int64_t strip);
  LogicalResult emitBody(scf::WhileOp loop, ArrayRef<HostTensor> arguments, ValueRange carried, bool counts);

  HostValues &values;
  BufferAddresses &buffers;
  LoopCarries &carries;
  StopPolls &polls;
  BlockEmitter &blocks;
};

/// scf.if. The buffer of a static shape is bound before the branch. That of a dynamic shape is bound where
/// its sizes are known, and the branch yields its address and its sizes.
class Branches : public HostComponent {
public:
  Branches(EntryBuilder &entry, HostValues &values, BufferAddresses &buffers, TensorCopies &copies,
           BlockEmitter &blocks)
      : HostComponent(entry), values(values), buffers(buffers), copies(copies), blocks(blocks) {}

  LogicalResult emit(scf::IfOp branch);

private:
  SmallVector<Value> yieldSide(scf::IfOp branch, ValueRange yielded);
  void bindResults(scf::IfOp branch, ValueRange lowered);

  HostValues &values;
  BufferAddresses &buffers;
  TensorCopies &copies;
  BlockEmitter &blocks;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_CONTROL_CONTROLFLOW_H
