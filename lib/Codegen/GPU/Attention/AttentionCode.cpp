// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "AttentionCode.h"
#include "../Generic/SharedMemory.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

AttentionCode AttentionCode::ofHost(OpBuilder &builder, FunctionOpInterface function, Type accumulator) {
  return AttentionCode(function, builder, accumulator);
}

AttentionCode::AttentionCode(OpBuilder &builder, FunctionOpInterface function, Type accumulator)
    : AttentionCode(function, builder, accumulator) {
  dynamicShared = sharedMemory(builder, function, /*bytes=*/0, "attention");
  Value number = ::mlir::gpu::ThreadIdOp::create(builder, loc, ::mlir::gpu::Dimension::x);
  thread = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
}

//===- Floats -------------------------------------------------------------===//

Value AttentionCode::real(double value) { return numberConstant(builder, loc, accumulator, value); }

Value AttentionCode::fma(Value x, Value y, Value z) { return math::FmaOp::create(builder, loc, x, y, z); }

Value AttentionCode::apply(numerics::Elementary function, Value x) {
  return ElementaryOp::create(builder, loc, x.getType(), function, /*approximate=*/false, ValueRange{x});
}

// A vector has one test for its slow path.
SmallVector<Value> AttentionCode::applyAll(numerics::Elementary function, ArrayRef<Value> numbers) {
  constexpr size_t kVector = 4;
  SmallVector<Value> results;
  auto position = [&](size_t i) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), static_cast<int32_t>(i));
  };
  for (; numbers.size() >= kVector; numbers = numbers.drop_front(kVector)) {
    Value vector =
        LLVM::UndefOp::create(builder, loc, VectorType::get(static_cast<int64_t>(kVector), accumulator));
    for (size_t i = 0; i < kVector; ++i)
      vector = LLVM::InsertElementOp::create(builder, loc, vector, numbers[i], position(i));
    Value applied = apply(function, vector);
    for (size_t i = 0; i < kVector; ++i)
      results.push_back(LLVM::ExtractElementOp::create(builder, loc, applied, position(i)));
  }
  for (Value number : numbers)
    results.push_back(apply(function, number));
  return results;
}

Value AttentionCode::isEqual(Value x, double value) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, x, real(value));
}

Value AttentionCode::orZero(Value maximum) { return select(isEqual(maximum, -kInfinity), real(0), maximum); }

Value AttentionCode::rounded(Value x, Type type) {
  return convertScalar(builder, loc, convertScalar(builder, loc, x, type), x.getType());
}

Value AttentionCode::ofThread(Value x, int64_t mask) {
  Type type = x.getType(), word = builder.getI32Type();
  auto exchange = [&](Value bits) -> Value {
    return ::mlir::gpu::ShuffleOp::create(builder, loc, bits, mask, kWarpThreads,
                                          ::mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  if (type.isF32())
    return arith::BitcastOp::create(builder, loc, type,
                                    exchange(arith::BitcastOp::create(builder, loc, word, x)));
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI64Type(), x);
  Value low = resized(exchange(resized(bits, 32)), 64);
  Value high = resized(exchange(resized(binary<arith::ShRUIOp>(bits, 32), 32)), 64);
  bits = binary<arith::OrIOp>(low, binary<arith::ShLIOp>(high, 32));
  return arith::BitcastOp::create(builder, loc, type, bits);
}

//===- Control flow -------------------------------------------------------===//

SmallVector<Value> AttentionCode::loop(Value first, Value end, Value step, ValueRange values, Body body) {
  auto loop = scf::ForOp::create(builder, loc, first, end, step, values);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!values.empty())
    scf::YieldOp::create(builder, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void AttentionCode::loop(Value first, Value end, Value step, function_ref<void(Value)> body) {
  loop(first, end, step, ValueRange(), [&](Value number, ValueRange) {
    body(number);
    return SmallVector<Value>();
  });
}

SmallVector<Value> AttentionCode::changeIf(Value condition, ValueRange values, Values then) {
  std::optional<int64_t> known = condition ? getConstantIntValue(condition) : 1;
  if (known)
    return *known ? then() : SmallVector<Value>(values);
  auto branch =
      scf::IfOp::create(builder, loc, ValueRange(values).getTypes(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> changed = then();
  scf::YieldOp::create(builder, loc, changed);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, values);
  return SmallVector<Value>(branch.getResults());
}

void AttentionCode::emitIf(Value condition, function_ref<void()> then) {
  if (std::optional<int64_t> known = getConstantIntValue(condition)) {
    if (*known)
      then();
    return;
  }
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}

void AttentionCode::forEach(int64_t count, int64_t threads, function_ref<void(Value)> body) {
  for (int64_t first = 0; first < count; first += threads) {
    Value number = add(thread, first);
    if (first + threads <= count)
      body(number);
    else
      emitIf(isBelow(number, i32(count)), [&] { body(number); });
  }
}

void AttentionCode::forEachOfGrid(Value count, function_ref<void(Value)> body) {
  using ::mlir::gpu::Dimension;
  auto wide = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  };
  Value first = wide(::mlir::gpu::BlockIdOp::create(builder, loc, Dimension::x));
  loop(first, count, wide(::mlir::gpu::GridDimOp::create(builder, loc, Dimension::x)), body);
}

void AttentionCode::synchronize() { ::mlir::gpu::BarrierOp::create(builder, loc); }

Value AttentionCode::hiddenCopy(Value number) {
  auto copy = [&](Value word) -> Value {
    return ::mlir::gpu::ShuffleOp::create(builder, loc, word, binary<arith::RemUIOp>(thread, kWarpThreads),
                                          i32(kWarpThreads), ::mlir::gpu::ShuffleMode::IDX)
        .getShuffleResult();
  };
  if (number.getType().isInteger(32))
    return copy(number);
  Value high = resized(copy(resized(binary<arith::ShRUIOp>(number, 32), 32)), 64);
  return binary<arith::OrIOp>(resized(copy(resized(number, 32)), 64), binary<arith::ShLIOp>(high, 32));
}

AttentionCode::OwnThread::OwnThread(AttentionCode &code) : code(code), before(code.thread) {
  code.thread = code.hiddenCopy(before);
}

//===- Memory -------------------------------------------------------------===//

Value AttentionCode::shared(int64_t byte) { return at(dynamicShared, builder.getI8Type(), i32(byte)); }

SmallVector<Value> AttentionCode::loadVector(Value pointer, Value number, int64_t count) {
  Value first = at(pointer, accumulator, number);
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  if (count == 1)
    return {LLVM::LoadOp::create(builder, loc, accumulator, first, bytes)};
  Value vector = LLVM::LoadOp::create(builder, loc, VectorType::get(count, accumulator), first,
                                      std::min(kAccessBytes, count * bytes));
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; ++i) {
    Value position = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), static_cast<int32_t>(i));
    values.push_back(LLVM::ExtractElementOp::create(builder, loc, vector, position));
  }
  return values;
}

void AttentionCode::storeVector(Value pointer, Value number, ArrayRef<Value> values) {
  if (values.size() == 1)
    return store(pointer, number, values.front());
  auto count = static_cast<int64_t>(values.size());
  Value vector = LLVM::UndefOp::create(builder, loc, VectorType::get(count, accumulator));
  for (int64_t i = 0; i < count; ++i) {
    Value position = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), static_cast<int32_t>(i));
    vector = LLVM::InsertElementOp::create(builder, loc, vector, values[i], position);
  }
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8;
  LLVM::StoreOp::create(builder, loc, vector, at(pointer, accumulator, number),
                        std::min(kAccessBytes, count * bytes));
}
