// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Code of kernels for attention: floats of the accumulator's type, loops, shared memory.

#ifndef ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONCODE_H
#define ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONCODE_H

#include "../Generic/ScalarBuilder.h"
#include "adjoint/Numerics/Elementary.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <limits>

namespace mlir::ad::device {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

class AttentionCode : public ScalarBuilder {
public:
  /// At the start of the function, which has an entry block.
  AttentionCode(OpBuilder &builder, FunctionOpInterface function, Type accumulator);
  /// Code of the host, without threads and shared memory.
  static AttentionCode ofHost(OpBuilder &builder, FunctionOpInterface function, Type accumulator);

  //===- Floats -===//

  Value real(double value);
  Value fma(Value x, Value y, Value z);
  Value plus(Value x, Value y) { return binary<arith::AddFOp>(x, y); }
  Value times(Value x, Value y) { return binary<arith::MulFOp>(x, y); }
  Value apply(numerics::Elementary function, Value x);
  /// Those of many numbers, which share the branches around slow paths.
  SmallVector<Value> applyAll(numerics::Elementary function, ArrayRef<Value> numbers);
  Value isEqual(Value x, double value);
  /// What is subtracted from scores: their maximum, or 0 where none counts and the maximum is -inf.
  Value orZero(Value maximum);
  /// The value that a number has after it was rounded to `type`.
  Value rounded(Value x, Type type);
  /// Of another thread of the warp, whose number differs in the bits of `mask`.
  Value ofThread(Value x, int64_t mask);

  //===- Control flow -===//

  using Body = function_ref<SmallVector<Value>(Value number, ValueRange values)>;
  /// for (number = first; number < end; number += step) values = body(number, values)
  SmallVector<Value> loop(Value first, Value end, Value step, ValueRange values, Body body);
  void loop(Value first, Value end, Value step, function_ref<void(Value)> body);
  using Values = function_ref<SmallVector<Value>()>;
  /// `values`, or those of the code if the condition holds. A condition of null always holds.
  SmallVector<Value> changeIf(Value condition, ValueRange values, Values then);
  void emitIf(Value condition, function_ref<void()> then);
  /// The numbers below `count` that the thread has: neighbouring threads have neighbouring ones.
  void forEach(int64_t count, int64_t threads, function_ref<void(Value)> body);
  /// Those that the block of threads has: blocks take numbers below `count` (i64) by turns, so that every
  /// grid takes all of them.
  void forEachOfGrid(Value count, function_ref<void(Value)> body);
  void synchronize();

  //===- Memory -===//

  Value shared(int64_t byte);
  /// Neighbouring elements, the first of which has an address of a multiple of 16 bytes or of their own size.
  SmallVector<Value> loadVector(Value pointer, Value number, int64_t count);
  void storeVector(Value pointer, Value number, ArrayRef<Value> values);

  FunctionOpInterface function;
  const Type accumulator;
  Value thread; ///< its number in the block (i32)

  /// A copy of a number, of which the compiler does not know that it is one: what follows from it is computed
  /// where it is used, instead of being kept in registers. All threads of a warp are here.
  Value hiddenCopy(Value number);
  /// While it lives, the number of the thread is such a copy.
  class OwnThread {
  public:
    explicit OwnThread(AttentionCode &code);
    ~OwnThread() { code.thread = before; }
    OwnThread(const OwnThread &) = delete;
    OwnThread &operator=(const OwnThread &) = delete;

  private:
    AttentionCode &code;
    Value before;
  };

private:
  AttentionCode(FunctionOpInterface function, OpBuilder &builder, Type accumulator)
      : ScalarBuilder(builder, function.getLoc()), function(function), accumulator(accumulator) {}

  Value dynamicShared;
};

} // namespace mlir::ad::device

#endif // ADJOINT_LIB_CODEGEN_GPU_ATTENTION_ATTENTIONCODE_H
