// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The entry function that the lowering is writing: builder, location, signature, and the calls, constants and
// stack variables that every component creates. An entry has the C ABI of `adrt`: context, arguments,
// results; a status.

#ifndef ADJOINT_LIB_CONVERSION_HOSTTOLLVM_ENTRYBUILDER_H
#define ADJOINT_LIB_CONVERSION_HOSTTOLLVM_ENTRYBUILDER_H

#include "HostModule.h"

namespace mlir::ad::host {

struct HostOptions {
  bool profile = false; ///< kernels are bracketed with timing calls
  bool device = false;  ///< a device with memory of its own runs the kernels
};

/// Of every entry.
FunctionType entryType(MLIRContext *context);

class EntryBuilder {
public:
  /// Creates the entry of `source` before it and sets the insertion point into it.
  EntryBuilder(func::FuncOp source, HostModule &module, const HostOptions &options);

  Value call(StringRef name, Type result, ValueRange operands);
  /// Leaves the entry unless the status is ADRT_OK.
  void guard(Value status);
  /// Leaves the entry if the runtime gave no memory; the error names `user`.
  void guardMemory(Value pointer, Location user);
  /// Variables in the entry block, so that loops do not grow the stack.
  Value stackSlot(Type type, int64_t count, unsigned alignment = 8);
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value toI64(Value index);
  Value indexConstant(int64_t value);
  /// Address of an element of an array of `type`.
  Value elementAddress(Type type, Value array, int32_t index);
  Value fieldAddress(Type structType, Value base, int32_t field);
  /// Address of the adrt_tensor of an argument or of a result.
  Value argument(int32_t number);
  Value result(int32_t number);

  func::FuncOp source, function;
  HostModule &module;
  const HostOptions options;
  OpBuilder builder;
  Location loc; ///< of the operation that is being lowered
  const Type pointerType, tensorType;
  Value context;
};

/// The base of the components of the lowering. Each has state of its own and knows the components that its
/// constructor names.
class HostComponent {
public:
  explicit HostComponent(EntryBuilder &entry)
      : entry(entry), module(entry.module), options(entry.options), builder(entry.builder), loc(entry.loc),
        pointerType(entry.pointerType), context(entry.context) {}

protected:
  Value call(StringRef name, Type result, ValueRange operands) { return entry.call(name, result, operands); }
  void guard(Value status) { entry.guard(status); }
  Value i32(int64_t value) { return entry.i32(value); }
  Value i64(int64_t value) { return entry.i64(value); }
  Value toI64(Value index) { return entry.toI64(index); }
  Value indexConstant(int64_t value) { return entry.indexConstant(value); }

  EntryBuilder &entry;
  HostModule &module;
  const HostOptions &options;
  OpBuilder &builder;
  Location &loc;
  const Type pointerType;
  const Value context;
};

} // namespace mlir::ad::host

#endif // ADJOINT_LIB_CONVERSION_HOSTTOLLVM_ENTRYBUILDER_H
