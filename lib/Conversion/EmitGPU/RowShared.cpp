// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that are too long for the registers of a group, in the shared memory of a block: what several passes
// read is brought there once, by copies that wait for nothing until all are under way.

#include "RowEmitter.h"
#include "RowRegisters.h"
#include "SharedMemory.h"
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

static int64_t lineBytes(const cpu::Buffer &buffer) {
  return buffer.shape.back() * cpu::memoryBytes(buffer.element);
}

// The widest copies that a row consists of.
static int64_t copyBytes(const cpu::Buffer &buffer) {
  int64_t bytes = kAccessBytes;
  while (lineBytes(buffer) % bytes != 0)
    bytes /= 2;
  return bytes;
}

// As many registers as with two blocks of the usual size.
int64_t RowEmitter::blocksTogether() const {
  return std::max<int64_t>(1, 2 * kBlockThreads / tileCount.blockThreads);
}

// A tensor whose rows are those that are counted.
bool RowEmitter::canBring(const Buffer &buffer) {
  ArrayRef<int64_t> space = results[rows.space].shape;
  return copyBytes(buffer) >= kLeastCopy &&
         ArrayRef(buffer.shape).drop_back() == space.drop_back(rows.ofElements ? 0 : 1);
}

// As much as there is room for of what is read again.
bool RowEmitter::chooseBrought() {
  if (ShapedType::isDynamic(rows.length) || rows.length < kernel.getOrderAttr().getLanes() || rows.sumsAlong)
    return false;
  int64_t bytes = kSumBytes;
  for (Value argument : argumentsReadAgain(kernel, rows.length)) {
    const Buffer &buffer = buffers.find(argument)->second;
    int64_t line = llvm::alignTo(lineBytes(buffer), kAccessBytes);
    if (!canBring(buffer) || bytes + line > mostShared)
      continue;
    bytes += line;
    brought[argument] = {nullptr, buffer.element, {rows.length}, {buffer.sizes.back()}};
  }
  return !brought.empty();
}

void RowEmitter::layOutBrought() {
  Value lines = sharedMemory(builder, function, /*bytes=*/0, "rows", kAccessBytes);
  for (auto &[argument, line] : brought) {
    line.pointer = bytesBehind(builder, loc, lines, indexConstant(tileCount.sharedBytes));
    tileCount.sharedBytes += llvm::alignTo(lineBytes(line), kAccessBytes);
  }
  int64_t threads = llvm::bit_ceil<uint64_t>(rows.length / kElementsOfThread);
  tileCount.blockThreads = std::clamp(threads, kFewestThreads, kMostThreads);
}

void RowEmitter::bringRow() {
  synchronizeBlock(); // the row before has been read
  for (auto &[argument, line] : brought)
    bringLine(buffers.find(argument)->second, line);
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  synchronizeBlock();
}

void RowEmitter::bringLine(const Buffer &source, const Buffer &line) {
  int64_t bytes = copyBytes(source), step;
  // Only the widest copies may leave the cache beside the processor alone.
  auto cache = bytes == kAccessBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  Position first(row);
  first.push_back({indexConstant(0), 0, nullptr});
  Value indices;
  Value start = pointerAt(source, linearIndex(source, first, step, indices));
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  start = LLVM::AddrSpaceCastOp::create(builder, loc, global, start);
  (void)emitLoop(inBlock, indexConstant(lineBytes(source) / bytes), blockThreads, [&](Value number) {
    Value offset = binary<arith::MulIOp>(number, indexConstant(bytes));
    NVVM::CpAsyncOp::create(builder, loc, bytesBehind(builder, loc, line.pointer, offset),
                            bytesBehind(builder, loc, start, offset), bytes, cache, /*cpSize=*/Value());
    return success();
  });
}

// What is brought, where it is the row at hand.
FailureOr<Value> RowEmitter::compute(Value tensor, const Position &position) {
  auto found = brought.find(tensor);
  if (!share.brings || found == brought.end())
    return RunEmitter::compute(tensor, position);
  for (auto [size, index, ofRow] : llvm::zip(buffers.find(tensor)->second.shape, position, row))
    if (size != 1 && (index.base != ofRow.base || !index.isUniform()))
      return RunEmitter::compute(tensor, position);
  return readFrom(found->second, static_cast<int64_t>(row.size()), tensor, position);
}
