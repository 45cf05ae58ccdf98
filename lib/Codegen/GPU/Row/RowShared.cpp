// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that are too long for the registers of a group, in the shared memory of a block: what several passes
// read is brought there once, by copies that wait for nothing until all are under way. What is expensive and
// summed is computed there by all threads of the block, since a sum is the work of a few, and later passes
// find it.

#include "../SharedMemory.h"
#include "RowEmitter.h"
#include "RowRegisters.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Elements of a row that a thread of its block has, and the threads of a block.
static constexpr int64_t kElementsOfThread = 32, kFewestThreads = 64, kMostThreads = 512;
static constexpr int64_t kSumBytes = kChunksTogether * sizeof(int64_t);
// An asynchronous copy takes no less.
static constexpr int64_t kLeastCopy = 4;
static constexpr unsigned kGlobalSpace = 1;

static int64_t lineBytes(const Buffer &buffer) { return buffer.shape.back() * memoryBytes(buffer.element); }

// The widest copies that a row consists of.
static int64_t copyBytes(const Buffer &buffer) {
  int64_t bytes = kAccessBytes;
  while (lineBytes(buffer) % bytes != 0)
    bytes /= 2;
  return bytes;
}

// As many registers as with two blocks of the usual size.
int64_t RowEmitter::minBlocksPerSM() const {
  return std::max<int64_t>(1, 2 * kBlockThreads / launchShape.threadsPerBlock);
}

// A tensor whose rows are those that are counted.
bool RowEmitter::hasCountedRows(Value tensor) {
  ArrayRef<int64_t> space = results[rows.space].shape;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  return !shape.empty() && shape.back() == rows.length &&
         shape.drop_back() == space.drop_back(rows.ofElements ? 0 : 1);
}

// As much as there is room for of what is read again, and of what is expensive.
bool RowEmitter::chooseLines() {
  if (ShapedType::isDynamic(rows.length) || rows.length < kernel.getOrderAttr().getLanes() || rows.sumsAlong)
    return false;
  int64_t bytes = kSumBytes;
  auto add = [&](Value tensor) {
    Buffer line{nullptr, getElementTypeOrSelf(tensor.getType()), {rows.length}, {indexConstant(rows.length)}};
    int64_t own = llvm::alignTo(lineBytes(line), kAccessBytes);
    if (!hasCountedRows(tensor) || copyBytes(line) < kLeastCopy || bytes + own > mostShared)
      return;
    bytes += own;
    lines[tensor] = {line};
  };
  llvm::for_each(argumentsReadAgain(kernel, rows.length), add);
  if (lines.empty())
    return false;
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    if (generic.getNumReductionLoops() > 0)
      llvm::for_each(firstOnWay(generic,
                                [](Value value) {
                                  auto costly = value.getDefiningOp<linalg::GenericOp>();
                                  return costly && isExpensive(costly);
                                }),
                     add);
  return true;
}

// Runs longer than an access would meet banks twice.
int64_t RowEmitter::runOfLines() const {
  int64_t widest = 1;
  for (auto &[tensor, line] : lines)
    widest = std::max(widest, memoryBytes(line.buffer.element));
  return kAccessBytes / widest;
}

// From a sum towards the arguments, no further than to other sums.
SmallVector<Value> RowEmitter::firstOnWay(linalg::GenericOp sum, function_ref<bool(Value)> isWanted) {
  llvm::SetVector<Value> seen;
  SmallVector<Value> found, waiting(sum.getInputs());
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (!seen.insert(value))
      continue;
    auto generic = value.getDefiningOp<linalg::GenericOp>();
    if (isWanted(value))
      found.push_back(value);
    else if (generic && generic.getNumReductionLoops() == 0)
      llvm::append_range(waiting, generic.getInputs());
  }
  return found;
}

void RowEmitter::layOutLines() {
  Value start = sharedMemory(builder, function, /*bytes=*/0, "rows", kAccessBytes);
  for (auto &[tensor, line] : lines) {
    line.buffer.pointer = bytesBehind(builder, loc, start, indexConstant(launchShape.dynamicSharedBytes));
    launchShape.dynamicSharedBytes += llvm::alignTo(lineBytes(line.buffer), kAccessBytes);
  }
  int64_t threads = llvm::bit_ceil<uint64_t>(rows.length / kElementsOfThread);
  launchShape.threadsPerBlock = std::clamp(threads, kFewestThreads, kMostThreads);
}

void RowEmitter::bringRow() {
  synchronizeBlock(); // the row before has been read
  for (auto &[tensor, line] : lines) {
    line.filled = isa<BlockArgument>(tensor);
    if (line.filled)
      bringLine(buffers.find(tensor)->second, line.buffer);
  }
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  synchronizeBlock();
}

// What the sum needs and nobody has computed yet; a sum of the block begins when all threads are there.
LogicalResult RowEmitter::fillLines(linalg::GenericOp sum) {
  auto isLine = [&](Value value) { return !isa<BlockArgument>(value) && lines.count(value); };
  for (Value tensor : firstOnWay(sum, isLine)) {
    Line &line = lines.find(tensor)->second;
    if (line.filled)
      continue;
    Spread ofThread(*this);
    Value run = indexConstant(share.run), length = indexConstant(rows.length);
    Value first = binary<arith::MulIOp>(inBlock, run), step = binary<arith::MulIOp>(blockThreads, run);
    LogicalResult filled = emitLoop(first, length, step, [&](Value index) -> LogicalResult {
      SmallVector<Position> places, positions;
      for (Value at : runFrom(index, share.run)) {
        places.push_back({{at, 0, nullptr}});
        positions.push_back(row);
        positions.back().push_back({at, 0, nullptr});
      }
      FailureOr<SmallVector<Value>> values = evaluator.evaluate(tensor, positions);
      if (succeeded(values))
        storeAll(line.buffer, places, *values);
      return values;
    });
    if (failed(filled))
      return failure();
    line.filled = true;
  }
  return success();
}

void RowEmitter::bringLine(const Buffer &source, const Buffer &line) {
  int64_t bytes = copyBytes(source), step;
  // Only the widest copies may leave the cache beside the processor alone.
  auto cache = bytes == kAccessBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  Position first(row);
  first.push_back({indexConstant(0), 0, nullptr});
  Value indices;
  Value start = memoryAccess.pointerAt(source, memoryAccess.linearIndex(source, first, step, indices));
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  start = LLVM::AddrSpaceCastOp::create(builder, loc, global, start);
  (void)emitLoop(inBlock, indexConstant(lineBytes(source) / bytes), blockThreads, [&](Value number) {
    Value offset = binary<arith::MulIOp>(number, indexConstant(bytes));
    NVVM::CpAsyncOp::create(builder, loc, bytesBehind(builder, loc, line.pointer, offset),
                            bytesBehind(builder, loc, start, offset), bytes, cache, /*cpSize=*/Value());
    return success();
  });
}

// What lies in shared memory, where it is of the row at hand.
FailureOr<Value> RowEmitter::compute(Value tensor, const Position &position) {
  auto found = lines.find(tensor);
  if (!share.brings || found == lines.end() || !found->second.filled)
    return RunEmitter::compute(tensor, position);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  for (auto [size, index, ofRow] : llvm::zip(shape, position, row))
    if (size != 1 && (index.base != ofRow.base || !index.isUniform()))
      return RunEmitter::compute(tensor, position);
  return readFrom(found->second.buffer, static_cast<int64_t>(row.size()), tensor, position);
}
