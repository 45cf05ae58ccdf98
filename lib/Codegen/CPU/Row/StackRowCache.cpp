// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Several loops run over a row: for its maximum, for the sum of its exponentials, for the quotients. An
// expensive value that a later loop needs is kept on the stack, where it stays in the first-level cache.

#include "StackRowCache.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Of all cached values of one row.
static constexpr int64_t kSavedBytes = 64 * 1024;

// The longest row of dynamic length whose values are cached: with the vector past its end, four values of f32
// fit.
static constexpr int64_t kDynamicRow = 4095;

// Loops along a row store whole vectors of at most as many elements; one over the lanes of a sum stores as
// many elements as there are lanes, if they are more.
static constexpr int64_t kPadding = 64;

// The values that one loop along the row computes, and the reductions that have to precede it.
void StackRowCache::collectPass(Value tensor, const Position &position, Visited &visited,
                                SmallVectorImpl<Value> &values,
                                SmallVectorImpl<std::pair<Value, Position>> &reductions) {
  if (!visited.insert({tensor.getAsOpaquePointer(), {position.begin(), position.end()}}).second)
    return;
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  if (!varies(position)) {
    if (generic && reductionLoops.usesLanes(generic))
      reductions.push_back({tensor, position});
    else
      for (auto &[input, at] : hoisting.inputsAt(tensor, position))
        collectPass(input, at, visited, values, reductions);
    return;
  }
  values.push_back(tensor);
  for (auto &[input, at] : hoisting.inputsAt(tensor, position))
    collectPass(input, at, visited, values, reductions);
}

// Counts for each value how many loops along the row compute it. Each reduction whose order has lanes is one
// such loop, also where only a result with one element per row needs it, and all results with the row's
// elements are stored by one more loop. Also sets `passesLeft` to the number of these reductions.
llvm::MapVector<Value, int64_t> StackRowCache::countPasses(const RowOutputs &outputs, const Position &row) {
  llvm::MapVector<Value, int64_t> passes;
  SmallVector<std::pair<Value, Position>> pending;
  Visited done;
  auto addPass = [&](ArrayRef<std::pair<Value, Position>> starts) {
    Visited visited;
    SmallVector<Value> values;
    for (auto &[start, position] : starts)
      collectPass(start, position, visited, values, pending);
    for (Value value : values)
      ++passes[value];
  };
  SmallVector<std::pair<Value, Position>> last;
  for (Value output : outputs.whole)
    last.emplace_back(output, row).second.push_back(Index::varying());
  for (auto [output, buffer] : llvm::zip_equal(outputs.perRow, outputs.perRowBuffers))
    last.emplace_back(output, row).second.resize(buffer.shape.size(), {indexConstant(0), 0, nullptr});
  addPass(last);
  while (!pending.empty()) {
    auto [tensor, position] = pending.pop_back_val();
    if (done.insert({tensor.getAsOpaquePointer(), {position.begin(), position.end()}}).second)
      addPass(hoisting.inputsAt(tensor, position));
  }
  passesLeft = done.size();
  return passes;
}

// Whether the use reads each row from its first to its last element, each at its own index. Sets the results
// that are read for the same elements.
static bool readsWholeRows(OpOperand &use, SmallVectorImpl<Value> &results) {
  Operation *user = use.getOwner();
  if (isa<YieldOp, tensor::DimOp>(user))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(user);
  if (!generic || !generic.getMatchingIndexingMap(&use).isIdentity())
    return false;
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  if (!reduced.empty())
    return generic.isDpsInput(&use) && reduced == SmallVector<unsigned>{generic.getNumLoops() - 1};
  if (generic.isDpsInput(&use)) // code that reads its outs has them as inputs, too
    llvm::append_range(results, generic.getResults());
  return llvm::all_of(generic.getDpsInitsMutable(),
                      [&](OpOperand &init) { return generic.getMatchingIndexingMap(&init).isIdentity(); });
}

// Whether every loop that needs the value needs all elements of a row: what the first one stores is then all
// that later ones load.
static bool isReadByWholeRows(Value value) {
  SmallVector<Value> pending = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (!llvm::all_of(next.getUses(), [&](OpOperand &use) { return readsWholeRows(use, pending); }))
      return false;
  }
  return true;
}

static bool isWorthSaving(Value value, int64_t passes, const CPUNest &space) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  return passes >= 2 && generic && generic.getNumReductionLoops() == 0 && isExpensive(generic) &&
         cast<RankedTensorType>(value.getType()).getShape() == ArrayRef<int64_t>(space.shape) &&
         isReadByWholeRows(value);
}

void StackRowCache::chooseSaved(const RowOutputs &outputs, const CPUNest &space, const Position &row,
                                bool maySave) {
  saved.clear();
  savedRow = row;
  OrderAttr order = kernel.getOrderAttr();
  int64_t widest = order && order.hasLanes() ? std::max(kPadding, order.getLanes()) : kPadding;
  int64_t length = space.shape.back();
  bool isDynamic = ShapedType::isDynamic(length);
  longest = isDynamic ? kDynamicRow : length;
  // A loop of dynamic length stores a vector for its remainder, also if that is empty.
  int64_t bytes = 0, padded = llvm::alignTo(longest + isDynamic, widest);
  for (auto &[value, count] : countPasses(outputs, row)) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    int64_t own = padded * memoryBytes(element);
    if (!maySave || !isWorthSaving(value, count, space) || bytes + own > kSavedBytes)
      continue;
    bytes += own;
    saved[value].pointer = stackMemory.allocate(memoryType(element), padded);
  }
}

// Whether the position is a vector on the row whose values are cached.
bool StackRowCache::isOnRow(const Position &position) {
  if (lanes == 1 || position.size() != savedRow.size() + 1)
    return false;
  const Index &along = position.back();
  return !along.lanes && along.step == 1 && llvm::all_of(llvm::zip(position, savedRow), [](auto pair) {
    const auto &[here, row] = pair;
    return here.isUniform() && here.base == row.base;
  });
}

Value StackRowCache::loadSaved(Value tensor, const Position &position) {
  auto found = saved.find(tensor);
  if (found == saved.end() || !found->second.filled || !isOnRow(position))
    return {};
  Buffer row;
  row.element = getElementTypeOrSelf(tensor.getType());
  row.pointer = found->second.pointer;
  Type memory = memoryType(row.element);
  Value value = LLVM::LoadOp::create(builder, loc, VectorType::get(lanes, memory),
                                     memoryAccess.pointerAt(row, position.back().base),
                                     memory.getIntOrFloatBitWidth() / 8);
  return fromMemory(value, row.element);
}

void StackRowCache::storeSaved(Value tensor, const Position &position, Value value) {
  auto found = saved.find(tensor);
  if (found == saved.end() || found->second.filled || !isOnRow(position))
    return;
  Buffer row;
  row.element = getElementTypeOrSelf(tensor.getType());
  row.pointer = found->second.pointer;
  LLVM::StoreOp::create(builder, loc, toMemory(laneValues.splat(value, lanes)),
                        memoryAccess.pointerAt(row, position.back().base), memoryBytes(row.element));
  found->second.stored = true;
}

void StackRowCache::endPass() {
  --passesLeft;
  for (auto &[value, row] : saved)
    row.filled |= row.stored;
}
