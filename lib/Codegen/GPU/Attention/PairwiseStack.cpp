// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "PairwiseStack.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

PairwiseStack::PairwiseStack(AttentionCode &code, int64_t count, int64_t levels) : code(code), count(count) {
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(&code.function.getFunctionBody().front());
  memory = LLVM::AllocaOp::create(
      code.builder, code.loc, LLVM::LLVMPointerType::get(code.builder.getContext()), code.accumulator,
      LLVM::ConstantOp::create(code.builder, code.loc, code.builder.getI64Type(), count * levels));
}

Value PairwiseStack::addressOf(Value level, int64_t number) {
  return code.add(code.binary<arith::MulIOp>(level, count), number);
}

// The state is (parts, depth, sums…): joins the sums with those on top of the stack.
SmallVector<Value> PairwiseStack::joinWhile(ValueRange start, function_ref<Value(ValueRange)> condition) {
  auto loop = scf::WhileOp::create(
      code.builder, code.loc, start.getTypes(), start,
      [&](OpBuilder &, Location loc, ValueRange state) {
        scf::ConditionOp::create(code.builder, loc, condition(state), state);
      },
      [&](OpBuilder &, Location loc, ValueRange state) {
        Value top = code.sub(state[1], code.i64(1));
        SmallVector<Value> next = {code.binary<arith::ShRUIOp>(state[0], 1), top};
        for (auto [number, sum] : llvm::enumerate(state.drop_front(2)))
          next.push_back(code.plus(
              code.load(memory, code.accumulator, addressOf(top, static_cast<int64_t>(number))), sum));
        scf::YieldOp::create(code.builder, loc, next);
      });
  return SmallVector<Value>(loop.getResults());
}

// As many sums are complete as the number of parts before has trailing ones.
PairwiseStack::State PairwiseStack::push(const State &state, ValueRange sums) {
  SmallVector<Value> start = {state.parts, state.depth};
  llvm::append_range(start, sums);
  SmallVector<Value> joined = joinWhile(start, [&](ValueRange current) {
    Value odd = code.binary<arith::AndIOp>(current[0], 1);
    return code.compare(arith::CmpIPredicate::ne, odd, code.i64(0));
  });
  for (auto [number, sum] : llvm::enumerate(ArrayRef(joined).drop_front(2)))
    code.store(memory, addressOf(joined[1], static_cast<int64_t>(number)), sum);
  return {code.add(state.parts, 1), code.add(joined[1], 1)};
}

void PairwiseStack::pushIf(Value condition, State &state, SmallVector<Value> &sums,
                           function_ref<SmallVector<Value>(ValueRange)> join) {
  SmallVector<Value> before = {state.parts, state.depth};
  llvm::append_range(before, sums);
  SmallVector<Value> after = code.changeIf(condition, before, [&] {
    State next = push(state, join(sums));
    SmallVector<Value> all = {next.parts, next.depth};
    all.append(sums.size(), code.real(0));
    return all;
  });
  state = {after[0], after[1]};
  sums.assign(std::next(after.begin(), 2), after.end());
}

SmallVector<Value> PairwiseStack::total(const State &state) {
  Value top = code.sub(state.depth, code.i64(1));
  SmallVector<Value> start = {state.parts, top};
  for (int64_t number = 0; number < count; ++number)
    start.push_back(code.load(memory, code.accumulator, addressOf(top, number)));
  SmallVector<Value> joined = joinWhile(start, [&](ValueRange current) {
    return code.compare(arith::CmpIPredicate::ne, current[1], code.i64(0));
  });
  return SmallVector<Value>(ArrayRef(joined).drop_front(2));
}
