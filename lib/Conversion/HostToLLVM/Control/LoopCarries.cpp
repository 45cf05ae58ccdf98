// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors that loops carry.

#include "ControlFlow.h"

using namespace mlir;
using namespace mlir::ad::host;

HostTensor LoopCarries::bindArgument(Value argument, Value init, int64_t buffer) {
  HostTensor source = values.tensor(init);
  HostTensor carry = buffers.tensorIn(buffer, cast<RankedTensorType>(argument.getType()), source.sizes);
  copies.copy(carry, source);
  values.bind(argument, carry);
  return carry;
}

void LoopCarries::yieldTensors(ValueRange yielded, ArrayRef<HostTensor> targets, ArrayRef<int64_t> swaps) {
  SmallVector<HostTensor> sources;
  size_t next = 0;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    HostTensor source = values.tensor(value);
    const HostTensor &target = targets[next++];
    for (auto [axis, before, after] : llvm::enumerate(target.sizes, source.sizes))
      if (target.type.isDynamicDim(axis) && before != after)
        services.requireSameCarry(i, axis, before, after);
    if (!swaps.empty() && swaps[i] >= 0) {
      HostTensor temporary = buffers.tensorIn(swaps[i], source.type, source.sizes);
      copies.copy(temporary, source);
      source = temporary;
    }
    sources.push_back(source);
  }
  for (auto [target, source] : llvm::zip_equal(targets, sources))
    copies.copy(target, source);
}
