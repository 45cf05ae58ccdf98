// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Blocks of a reduction joined by a balanced pairwise tree, in one loop over the blocks. PairwiseTree::Stack
// has one slot per level of the tree: after block n, slot i holds the result of 2^i blocks if bit i of n is
// set, and each new result is joined with full slots from the lowest level up. So the tree needs memory for
// log2 of the blocks, and its shape is that of the specified order for any number of blocks.

#include "PairwiseTree.h"
#include "adjoint/Codegen/Target/CPUs.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;

// Results whose siblings in the tree are not computed yet, one stack for each accumulator. The state of a
// loop that joins is (counter, level, values…).
class PairwiseTree::Stack {
public:
  /// For at most 2 to the power of `levels` - 1 blocks.
  Stack(PairwiseTree &tree, ArrayRef<Value> identities, Operation *join, int64_t levels);
  ~Stack();
  Stack(const Stack &) = delete;
  Stack &operator=(const Stack &) = delete;

  void push(Value level, ValueRange values);
  SmallVector<Value> at(Value level);
  /// Joins with the result one level below, as long as the condition holds.
  SmallVector<Value> joinWhile(ValueRange state, function_ref<Value(ValueRange)> condition,
                               function_ref<Value(Value)> nextCounter);
  Value pushJoined(ValueRange state);
  SmallVector<Value> joinAll(Value free);

private:
  Value allocate(Type type);
  /// Stacks of this type and size that no tree uses any more: trees inside of each other need memory at the
  /// same time, others do not.
  SmallVector<Value> &unused(Type type) { return tree.unusedStacks[{type.getAsOpaquePointer(), levels}]; }
  Value slot(size_t accumulator, Value level);
  int64_t alignmentOf(Type type);

  PairwiseTree &tree;
  OpBuilder &builder;
  Location loc;
  Operation *join;
  int64_t levels;
  SmallVector<Value> stacks;
  SmallVector<Type> types;
};

PairwiseTree::Stack::Stack(PairwiseTree &tree, ArrayRef<Value> identities, Operation *join, int64_t levels)
    : tree(tree), builder(tree.builder), loc(tree.loc), join(join), levels(levels) {
  for (Value identity : identities) {
    types.push_back(identity.getType());
    SmallVector<Value> &free = unused(types.back());
    stacks.push_back(free.empty() ? allocate(types.back()) : free.pop_back_val());
  }
}

PairwiseTree::Stack::~Stack() {
  for (auto [type, stack] : llvm::zip_equal(types, stacks))
    unused(type).push_back(stack);
}

Value PairwiseTree::Stack::allocate(Type type) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&tree.function.getFunctionBody().front());
  Value count = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), levels);
  return LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), type, count,
                                alignmentOf(type));
}

Value PairwiseTree::Stack::slot(size_t accumulator, Value level) {
  Value index = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), level);
  Value stack = stacks[accumulator];
  return LLVM::GEPOp::create(builder, loc, stack.getType(), types[accumulator], stack, ValueRange{index});
}

// The slots follow each other at the size of the type. No vector register needs more than kAvx512.bytes.
int64_t PairwiseTree::Stack::alignmentOf(Type type) {
  int64_t bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (auto vectorType = dyn_cast<VectorType>(type))
    bits *= vectorType.getNumElements();
  return std::clamp<int64_t>(llvm::bit_floor<uint64_t>(bits / 8), 1, kAvx512.bytes);
}

void PairwiseTree::Stack::push(Value level, ValueRange values) {
  for (auto [i, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(builder, loc, value, slot(i, level), alignmentOf(types[i]));
}

SmallVector<Value> PairwiseTree::Stack::at(Value level) {
  SmallVector<Value> values;
  for (auto [i, type] : llvm::enumerate(types))
    values.push_back(LLVM::LoadOp::create(builder, loc, type, slot(i, level), alignmentOf(type)));
  return values;
}

SmallVector<Value> PairwiseTree::Stack::joinWhile(ValueRange state, function_ref<Value(ValueRange)> condition,
                                                  function_ref<Value(Value)> nextCounter) {
  auto loop = scf::WhileOp::create(
      builder, loc, state.getTypes(), state,
      [&](OpBuilder &, Location, ValueRange current) {
        scf::ConditionOp::create(builder, loc, condition(current), current);
      },
      [&](OpBuilder &, Location, ValueRange current) {
        Value below = arith::SubIOp::create(builder, loc, current[1], tree.indexConstant(1));
        SmallVector<Value> next = {nextCounter(current[0]), below};
        for (auto [left, right] : llvm::zip_equal(at(below), current.drop_front(2)))
          next.push_back(joinPartialResults(builder, loc, join, left, right));
        scf::YieldOp::create(builder, loc, next);
      });
  return SmallVector<Value>(loop.getResults());
}

// Joins the results of a new block, `state`, with the slots that are full, and pushes the result. The counter
// has as many trailing ones as slots are full. Returns the next free level.
Value PairwiseTree::Stack::pushJoined(ValueRange state) {
  Value zero = tree.indexConstant(0), one = tree.indexConstant(1);
  auto isOdd = [&](ValueRange current) -> Value {
    Value bit = arith::AndIOp::create(builder, loc, current[0], one);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, zero);
  };
  auto half = [&](Value counter) -> Value { return arith::ShRUIOp::create(builder, loc, counter, one); };
  SmallVector<Value> joined = joinWhile(state, isOdd, half);
  push(joined[1], ValueRange(joined).drop_front(2));
  return joined[1];
}

// The join of all slots below the level `free`.
SmallVector<Value> PairwiseTree::Stack::joinAll(Value free) {
  Value zero = tree.indexConstant(0), one = tree.indexConstant(1);
  Value top = tree.binary<arith::SubIOp>(tree.binary<arith::MaxUIOp>(free, one), one);
  SmallVector<Value> state = {zero, top};
  llvm::append_range(state, at(top));
  auto isAboveOthers = [&](ValueRange current) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, current[1], zero);
  };
  SmallVector<Value> all = joinWhile(state, isAboveOthers, [](Value counter) { return counter; });
  return SmallVector<Value>(ArrayRef(all).drop_front(2));
}

// Blocks of `length` joined like a binary counter: after block b, as many joins as b has trailing ones. That
// is the balanced pairwise tree whose absent nodes are skipped.
FailureOr<SmallVector<Value>> PairwiseTree::joinBlocks(Value total, int64_t length,
                                                       ArrayRef<Value> identities, Operation *join,
                                                       BlockCode block) {
  Value zero = indexConstant(0), one = indexConstant(1);
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(total));
  if (known && *known == 0)
    return SmallVector<Value>(identities);
  if (known && *known <= length)
    return block(zero, total);
  uint64_t blocks = llvm::divideCeil(known.value_or(context.longestReduction), length);
  Stack waiting(*this, identities, join, 1 + llvm::Log2_64_Ceil(blocks));
  waiting.push(zero, identities);
  auto loop = scf::ForOp::create(builder, loc, zero, total, indexConstant(length), ValueRange{zero, zero});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Scope scope(context);
    Value lower = loop.getInductionVar(), number = loop.getRegionIterArg(0);
    Value upper = binary<arith::MinUIOp>(binary<arith::AddIOp>(lower, indexConstant(length)), total);
    auto values = block(lower, upper);
    if (failed(values))
      return failure();
    SmallVector<Value> state = {number, loop.getRegionIterArg(1)};
    llvm::append_range(state, *values);
    Value level = waiting.pushJoined(state);
    Value next = arith::AddIOp::create(builder, loc, number, one);
    level = arith::AddIOp::create(builder, loc, level, one);
    scf::YieldOp::create(builder, loc, ValueRange{next, level});
  }
  return waiting.joinAll(loop.getResult(1));
}
