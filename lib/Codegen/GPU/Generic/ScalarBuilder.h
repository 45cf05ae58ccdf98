// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar code of kernels that are written by hand: integers, addresses and accesses.

#ifndef ADJOINT_LIB_CODEGEN_GPU_GENERIC_SCALARBUILDER_H
#define ADJOINT_LIB_CODEGEN_GPU_GENERIC_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::ad::device {

/// Scalar code, with constants folded.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value i32(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, /*width=*/32); }
  Value i64(int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, /*width=*/64); }
  /// A constant of the type of `like`.
  Value number(Value like, int64_t value);
  template <class Op> Value binary(Value x, Value y) { return builder.createOrFold<Op>(loc, x, y); }
  template <class Op> Value binary(Value x, int64_t y) { return binary<Op>(x, number(x, y)); }
  Value add(Value x, Value y) { return binary<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y) { return binary<arith::AddIOp>(x, y); }
  Value sub(Value x, Value y) { return binary<arith::SubIOp>(x, y); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return builder.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  }
  Value isBelow(Value x, Value y) { return compare(arith::CmpIPredicate::ult, x, y); }
  Value select(Value condition, Value x, Value y) {
    return builder.createOrFold<arith::SelectOp>(loc, condition, x, y);
  }
  /// An unsigned number in another width.
  Value resized(Value x, unsigned width);
  /// The address of an element of a pointer.
  Value at(Value pointer, Type element, Value index);
  Value load(Value pointer, Type type, Value number);
  void store(Value pointer, Value number, Value value);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_GENERIC_SCALARBUILDER_H
