// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Addresses of the buffers of the memory plan. A buffer is in the arena, in a pool of dynamic size, in a
// donated argument or in a result of the entry. On the CPU, a buffer of few bytes is a variable on the stack:
// LLVM keeps it in a register (mem2reg), unless a kernel or a service of the runtime takes its address.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_BUFFERADDRESSES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_BUFFERADDRESSES_H

#include "HostValues.h"
#include "TensorDescriptors.h"
#include "adjoint/Transforms/MemoryPlan.h"

namespace mlir::ad::host {

class BufferAddresses : public HostComponent {
public:
  BufferAddresses(EntryBuilder &entry, const MemoryPlan &plan, HostValues &values,
                  TensorDescriptors &descriptors)
      : HostComponent(entry), plan(plan), values(values), descriptors(descriptors),
        resultMemory(entry.source.getNumResults()) {}

  /// Requests the arena from the runtime.
  void bindArena();
  /// Requests the memory of all results of static shape in which the plan has a buffer.
  void bindStaticResults();
  /// A tensor of these sizes in a buffer. Memory of a result of dynamic shape is requested here.
  HostTensor tensorIn(int64_t buffer, RankedTensorType type, ArrayRef<Value> sizes);
  /// Memory of a result of static shape in which the plan has a buffer; null for every other result.
  Value memoryOfResult(int64_t number) const { return resultMemory[number]; }
  /// Requests the memory of a result with the shape of `like`; a lack of memory is reported at `user`.
  Value allocateResult(int64_t number, const HostTensor &like, Location user);
  /// The stack variable of a buffer, if it has one by now.
  Value existingStackVariable(int64_t buffer) const { return stackVariables.lookup(buffer); }
  /// Temporary memory of this many bytes for one launch, null if there is none. Launches share it.
  Value scratch(Value bytes);
  /// The location of the operation that fills the largest matching buffer, or the current one.
  Location largestUser(function_ref<bool(BufferAttr)> matches);

  const MemoryPlan &plan;

private:
  Value stackVariable(int64_t buffer);
  Value saturatedProduct(Value a, Value b);
  Value poolUnit(const HostTensor &tensor);
  bool hasStaticShape(int64_t result) const;

  HostValues &values;
  TensorDescriptors &descriptors;
  Value arena;
  SmallVector<Value> resultMemory;
  DenseMap<int64_t, Value> stackVariables; // null for buffers for which the stack has no room
  int64_t stackBytes = 0;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_BUFFERADDRESSES_H
