// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "OperandStaging.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Every tensor begins at a multiple of 64 bytes, so 16-byte chunks are aligned if the length of rows is a
// multiple of them. `mma.sync` reads bytes from K-major tiles only.
StagedOperand OperandStaging::plan(OpOperand *operand, bool isA) {
  linalg::GenericOp op = contraction.op;
  unsigned loop = isA ? contraction.mLoop : contraction.nLoop;
  AffineMap map = op.getMatchingIndexingMap(operand);
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  StagedOperand part{
      operand,         isA,          loop,         reductionLoops.sizeOf(op, loop), isA ? tile.m : tile.n,
      tile.k,          last != loop, last != loop,
      /*copyBytes=*/0, nullptr};
  if (contraction.instruction == MathInstruction::MmaSync && part.elementBytes() == 1)
    part.kMajor = true;
  if (!buffers.count(operand->get()) || (last != loop && last != contraction.kLoop) ||
      part.kMajor != part.globalKMajor)
    return part;
  Value rest = binary<arith::RemUIOp>(reductionLoops.sizeOf(op, last), indexConstant(part.chunkElements()));
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(rest));
  part.copyBytes = known ? std::gcd(*known * part.elementBytes(), kChunkBytes) : kChunkBytes;
  if (!known)
    part.aligned = isEqual(rest, 0);
  part.realigned = part.copyBytes < kMinCopyBytes && contraction.instruction == MathInstruction::MmaSync;
  if (part.copyBytes < kMinCopyBytes)
    part.copyBytes = 0;
  return part;
}

// Rows that are realigned are moved from as many tiles as the pipeline has stages to one tile.
int64_t OperandStaging::swizzledBytes(const StagedOperand &part) const {
  int64_t bytes =
      part.realigned ? part.tileBytes() + part.rawTileBytes() * tile.stages : part.tileBytes() * tile.stages;
  return llvm::alignTo(bytes, kBankRowBytes);
}

// PTX for one chip runs on others, some of which have less shared memory.
static int64_t sharedBytesOfAllChips() {
  int64_t bytes = ad::chips().front().sharedBytes;
  for (const Chip &chip : ad::chips())
    bytes = std::min(bytes, chip.sharedBytes);
  return bytes;
}

// The tiles of the largest warps leave no room for rows to be realigned. Such rows pass through registers.
void OperandStaging::planOperands() {
  operands.clear();
  operands.push_back(planA());
  operands.push_back(planB());
  int64_t bytes = 0;
  for (const StagedOperand &part : operands)
    bytes += swizzledBytes(part);
  if (bytes > sharedBytesOfAllChips())
    for (StagedOperand &part : operands)
      part.realigned = false;
}

// Consecutive threads have consecutive numbers. The unrolled form has no branch, so address computations are
// invariant in the loop over K tiles.
LogicalResult OperandStaging::distribute(int64_t count, function_ref<LogicalResult(LoadNumber)> code) {
  constexpr int64_t maxUnrolled = 16;
  if (count % tile.threads != 0 || count > maxUnrolled * tile.threads)
    return emitLoop(mapping.threadInBlock, indexConstant(count), indexConstant(tile.threads),
                    [&](Value number) { return code({number, /*range=*/0, /*constant=*/0}); });
  for (int64_t first = 0; first < count; first += tile.threads)
    if (failed(code({mapping.threadInBlock, tile.threads, first})))
      return failure();
  return success();
}

// Of two powers of two one divides the other.
std::pair<LoadNumber, LoadNumber> OperandStaging::divideNumber(LoadNumber number, int64_t by) {
  auto [base, range, constant] = number;
  if (range != 0 && by % range == 0)
    return {{indexConstant(0), 1, constant / by}, {base, range, constant % by}};
  auto [quotient, remainder] = divide(base, indexConstant(by));
  assert((range == 0 || range % by == 0) && "tiles have powers of two");
  return {{quotient, range / by, constant / by}, {remainder, by, 0}};
}

FailureOr<Value> OperandStaging::loadClamped(const StagedOperand &part, const TileOrigin &origin, Value index,
                                             Value step) {
  linalg::GenericOp op = contraction.op;
  Value one = indexConstant(1);
  index = binary<arith::MinUIOp>(index, binary<arith::SubIOp>(part.size, one));
  step = binary<arith::MinUIOp>(step, binary<arith::SubIOp>(tileMapping.sizeK(), one));
  ThreadMapping::PerThread perThread(mapping);
  AffineMap map = op.getMatchingIndexingMap(part.operand);
  return evaluator.evaluateOne(part.operand->get(),
                               maps.apply(map, tileMapping.loopsAt(origin, index, index, step)));
}

// Always true if the size is a whole number of tiles. A tile size of 0 means that tiles may begin anywhere.
Value OperandStaging::isInside(Value index, Value size, int64_t tileSize) {
  std::optional<int64_t> known = getConstantIntValue(getAsOpFoldResult(size));
  if (known && tileSize > 0 && *known % tileSize == 0)
    return arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  return isBelow(index, size);
}

// Copies of 16 bytes bypass the L1 cache; the hardware supports this for no other size.
void OperandStaging::asyncCopy(const StagedOperand &part, const TileOrigin &origin, Value index, Value step,
                               Value target, int64_t bytes) {
  linalg::GenericOp op = contraction.op;
  // A block of the order may end within a K tile, and the next one begins there.
  int64_t kTile =
      contraction.instruction != MathInstruction::Fma || tileMapping.hasWholeKTiles() ? tile.k : 0;
  Value hasIndex = isInside(index, part.size, part.extent),
        hasStep = isInside(step, tileMapping.sizeK(), kTile),
        inside = binary<arith::AndIOp>(hasIndex, hasStep);
  auto orFirst = [&](Value has, Value number) {
    return builder.createOrFold<arith::SelectOp>(loc, has, number, indexConstant(0));
  };
  index = orFirst(hasIndex, index);
  Position position = maps.apply(op.getMatchingIndexingMap(part.operand),
                                 tileMapping.loopsAt(origin, index, index, orFirst(hasStep, step)));
  const Buffer &buffer = buffers.find(part.operand->get())->second;
  int64_t stride;
  Value vector;
  Value source = memoryAccess.pointerAt(buffer, memoryAccess.linearIndex(buffer, position, stride, vector));
  Type global = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
  source = LLVM::AddrSpaceCastOp::create(builder, loc, global, source);
  auto number = [&](int64_t count) -> Value {
    return arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), count);
  };
  Value size = builder.createOrFold<arith::SelectOp>(loc, inside, number(bytes), number(0));
  auto cache = bytes == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, target, source, bytes, cache, size);
}
