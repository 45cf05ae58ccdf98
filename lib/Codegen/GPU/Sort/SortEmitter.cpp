// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SortEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

//===- Arguments and threads ----------------------------------------------===//

// The number of lines, and the elements of each.
static std::pair<Value, Value> boundSizes(ScalarBuilder &code, FunctionOpInterface function,
                                          const SortShape &shape) {
  unsigned argument = 1;
  auto sizeOf = [&](int64_t size) -> Value {
    if (!ShapedType::isDynamic(size))
      return code.i64(size);
    return arith::IndexCastOp::create(code.builder, code.loc, code.builder.getI64Type(),
                                      function.getArgument(argument++));
  };
  Value lines = code.i64(1);
  for (int64_t size : ArrayRef(shape.shape).drop_back())
    lines = code.binary<arith::MulIOp>(lines, sizeOf(size));
  return {lines, sizeOf(shape.length())};
}

SortEmitter::SortEmitter(FunctionOpInterface function, const SortShape &shape, ItemForm form)
    : shape(shape), function(function), builder(OpBuilder::atBlockBegin(&function.getFunctionBody().front())),
      loc(function.getLoc()), items(builder, loc, shape.element, shape.descending, form) {
  Block &entry = function.getFunctionBody().front();
  int64_t open = llvm::count_if(shape.shape, ShapedType::isDynamic);
  keys = entry.getArgument(0);
  positions = entry.getArgument(1 + open);
  std::tie(lines, length) = boundSizes(items, function, shape);
  thread = threadNumber();
  if (auto more = entry.getArguments().drop_front(2 * (1 + open)); more.size() == 2) {
    memory = more[0];
    pass = more[1];
  }
}

Value SortEmitter::threadNumber() {
  Value number = ::mlir::gpu::ThreadIdOp::create(builder, loc, ::mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
}

// Blocks take tiles by turns: every grid computes all of them.
void SortEmitter::forEachTile(Value count, function_ref<void(Value)> body) {
  using ::mlir::gpu::Dimension;
  auto wide = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
  };
  Value block = wide(::mlir::gpu::BlockIdOp::create(builder, loc, Dimension::x));
  Value blocks = wide(::mlir::gpu::GridDimOp::create(builder, loc, Dimension::x));
  auto loop = scf::ForOp::create(builder, loc, block, count, blocks);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

// Neighbouring threads have neighbouring places.
void SortEmitter::forEachPlace(int64_t count, function_ref<void(Value)> body) {
  for (int64_t first = 0; first < count; first += count / kItemsOfThread)
    body(items.add(thread, first));
}

// The item behind the others comes after all of them.
SharedItems SortEmitter::shareItems(int64_t count) {
  SharedItems shared(items, function, count, thread);
  emitIf(items.compare(arith::CmpIPredicate::eq, thread, items.i32(0)),
         [&] { shared.store(items.i32(count), items.last()); });
  return shared;
}

void SortEmitter::emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  if (std::optional<int64_t> known = getConstantIntValue(condition)) {
    if (*known)
      then();
    else if (otherwise)
      otherwise();
    return;
  }
  auto branch = scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

//===- Memory -------------------------------------------------------------===//

// Stores items from that element on: their positions if lines are sorted, else the items themselves. `side`
// of the memory of runs; `storeEach` stores items by their numbers.
void SortEmitter::storeItems(Value isSorted, Value side, Value element, function_ref<void(Store)> storeEach) {
  emitIf(
      isSorted,
      [&] {
        Value first = items.at(positions, builder.getI64Type(), element);
        storeEach([&](Value number, const SortItem &item) {
          items.store(first, number, items.resized(item.position, 64));
        });
      },
      [&] {
        Runs runs = runsAt(side, element);
        storeEach([&](Value number, const SortItem &item) { storeTo(runs, number, item); });
      });
}

//===- On the host --------------------------------------------------------===//

// For lines that are too long there is never enough memory.
static constexpr int64_t kTooManyBytes = int64_t(1) << 62;

void device::emitRunSizes(func::FuncOp host, const SortShape &shape) {
  OpBuilder builder = OpBuilder::atBlockBegin(&host.getBody().front());
  ScalarBuilder code(builder, host.getLoc());
  auto [lines, length] = boundSizes(code, host, shape);
  Value tile = code.i64(shape.tile), one = code.i64(1);
  Value tiles = code.binary<arith::CeilDivUIOp>(code.binary<arith::MaxUIOp>(length, one), tile);
  Value zeros = LLVM::CountLeadingZerosOp::create(builder, code.loc, builder.getI64Type(),
                                                  code.sub(tiles, one), /*is_zero_poison=*/false);
  Value merges = code.sub(code.i64(64), zeros);
  Value bytes = code.binary<arith::MulIOp>(code.binary<arith::MulIOp>(lines, length),
                                           2 * ItemForm::inRuns(shape.element).bytes());
  Value isTile = code.compare(arith::CmpIPredicate::eq, merges, code.i64(0));
  bytes = code.select(isTile, one, code.binary<arith::MaxUIOp>(bytes, one));
  Value fits = code.compare(arith::CmpIPredicate::ult, length, code.i64(kFirstTooLong));
  bytes = code.select(fits, bytes, code.i64(kTooManyBytes));
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, code.loc, builder.getIndexType(), value);
  };
  func::ReturnOp::create(builder, code.loc, ValueRange{index(bytes), index(merges)});
}
