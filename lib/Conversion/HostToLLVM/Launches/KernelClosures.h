// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Closures: the operands of a kernel in memory, for functions that the runtime calls and for launches on a
// device.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_KERNELCLOSURES_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_KERNELCLOSURES_H

#include "../EntryBuilder.h"

namespace mlir::ad::host {

/// The type of an operand in memory: sizes have 64 bits, and floats of 8 and 16 bits are integers.
Type typeInClosure(Type type);
/// Converts a value between the two types.
Value convertForClosure(OpBuilder &builder, Location loc, Value value, Type type);

class KernelClosures : public HostComponent {
public:
  using HostComponent::HostComponent;

  LLVM::LLVMStructType typeOf(ValueRange operands);
  void store(Value closure, ValueRange operands);
  /// Stores the operands on the stack.
  Value create(ValueRange operands);
  /// The function that runs ranges of a kernel's units, and its closure.
  std::pair<Value, Value> functionAndClosure(func::FuncOp kernel, ValueRange operands);
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_LAUNCHES_KERNELCLOSURES_H
