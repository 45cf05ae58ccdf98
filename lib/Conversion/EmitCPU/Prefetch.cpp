// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that come from beyond the caches. Memory is to be busy while a row is computed: the lines that it will
// be stored to are fetched by the last sum along it, and the next row by the loop with the most work, which is
// that sum where it keeps values, else the loop that stores.

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// A tensor beyond this size does not stay in the caches from one kernel to the next.
static constexpr int64_t kPrefetchBytes = 1024 * 1024;
static constexpr int64_t kLineBytes = 64;

static int64_t bytesOfElement(Type element) {
  return memoryType(element).getIntOrFloatBitWidth() / 8;
}

static bool isLarge(RankedTensorType type, ArrayRef<int64_t> space) {
  return type && type.getShape() == space && type.hasStaticShape() &&
         type.getNumElements() * bytesOfElement(type.getElementType()) > kPrefetchBytes;
}

SmallVector<Value> KernelEmitter::largeInputs(const Nest &space) {
  SmallVector<Value> inputs;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isLarge(dyn_cast<RankedTensorType>(argument.getType()), space.shape))
      inputs.push_back(argument);
  return inputs;
}

void KernelEmitter::chooseFetched(const Nest &space) {
  passesLeft = 0;
  nextRowFetched = false;
  fetchedInputs.clear();
  fetchedResults.clear();
  for (Value input : largeInputs(space))
    fetchedInputs.push_back(buffers.find(input)->second);
  for (auto [buffer, type] : llvm::zip_equal(results, kernel.getResultTypes()))
    if (isLarge(dyn_cast<RankedTensorType>(type), space.shape))
      fetchedResults.push_back(buffer);
}

// The lines that a vector at the position covers, so many rows ahead.
void KernelEmitter::fetchLines(const Buffer &buffer, const Position &position, int64_t rowsAhead,
                               bool toWrite) {
  int64_t step;
  Value indices, index = linearIndex(buffer, position, step, indices);
  Value first = binary<arith::AddIOp>(
      index, binary<arith::MulIOp>(buffer.sizes.back(), indexConstant(rowsAhead)));
  int64_t bytes = bytesOfElement(buffer.element);
  for (int64_t byte = 0; byte < lanes * bytes; byte += kLineBytes) {
    Value line = binary<arith::AddIOp>(first, indexConstant(byte / bytes));
    LLVM::Prefetch::create(builder, loc, pointerAt(buffer, line), /*rw=*/toWrite, /*hint=*/3, /*cache=*/1);
  }
}

// In the loop of a sum, at the vector that starts at `element` of the row.
void KernelEmitter::fetchInSum(linalg::GenericOp sum, Value element) {
  SmallVector<unsigned> reduced;
  sum.getReductionDims(reduced);
  if (passesLeft != 1 || fetchedResults.empty() || reduced.size() != 1 ||
      ArrayRef<int64_t>(fetchedResults.front().shape) != ArrayRef<int64_t>(sum.getStaticLoopRanges()) ||
      reduced.front() + 1 != fetchedResults.front().shape.size())
    return;
  Position position(savedRow);
  position.push_back({element, 1, nullptr});
  for (const Buffer &result : fetchedResults)
    fetchLines(result, position, /*rowsAhead=*/0, /*toWrite=*/true);
  if (saved.empty())
    return;
  nextRowFetched = true;
  for (const Buffer &input : fetchedInputs)
    fetchLines(input, position, /*rowsAhead=*/1, /*toWrite=*/false);
}

// In the loop that stores the results of a row.
void KernelEmitter::fetchNextRow(ArrayRef<Position> positions) {
  if (lanes == 1 || nextRowFetched)
    return;
  for (const Buffer &input : fetchedInputs)
    for (const Position &position : positions)
      fetchLines(input, position, /*rowsAhead=*/1, /*toWrite=*/false);
}
