// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ContractionKernel.h"
#include "../Generic/SharedMemory.h"
#include "ContractionEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

LogicalResult ContractionKernel::prepare() {
  tileMapping.bindSizes();
  tileMapping.setGrid();
  launchShape.threadsPerBlock = tile.threads;
  if (tile.loadsByTma)
    return tma.prepare();
  staging.planOperands();
  int64_t bytes = layOutSharedMemory();
  if (bytes > kStaticSharedBytes)
    launchShape.dynamicSharedBytes = std::exchange(bytes, 0);
  shared = sharedMemory(builder, function, bytes, "shared");
  return success();
}

// Mbarriers count the K tiles of all tiles of the block.
LogicalResult ContractionKernel::forEachTile(Value count, function_ref<LogicalResult(Value)> code) {
  if (!tile.loadsByTma)
    return emitLoop(mapping.block, count, mapping.gridBlocks, code);
  auto loop = scf::ForOp::create(builder, loc, mapping.block, count, mapping.gridBlocks, indexConstant(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(context);
  tma.before = loop.getRegionIterArg(0);
  if (failed(code(loop.getInductionVar())))
    return failure();
  scf::YieldOp::create(builder, loc, tma.after);
  return success();
}

LogicalResult ContractionKernel::emitTile(const TileOrigin &origin) {
  return contraction.instruction == MathInstruction::MmaSync ? tensorCores.emit(origin) : simt.emit(origin);
}

LogicalResult ContractionKernel::emit() {
  if (failed(prepare()))
    return failure();
  return forEachTile(tileMapping.tileCount(),
                     [&](Value number) { return emitTile(tileMapping.originOf(number)); });
}

// Blocks that run at the same time have tiles of one node, which share operands in the L2 cache.
LogicalResult ContractionKernel::emitNodes() {
  if (failed(prepare()))
    return failure();
  PartialTree::Nodes &nodes = emitter.partialTree.nodes[contraction.op];
  Value tiles = tileMapping.tileCount(), blocks = binary<arith::MulIOp>(tiles, nodes.count);
  return forEachTile(blocks, [&](Value number) {
    auto [node, inNode] = divide(number, tiles);
    nodes.number = node;
    TileOrigin origin = tileMapping.originOf(inNode);
    origin.beginK = binary<arith::MulIOp>(node, nodes.length);
    origin.endK = binary<arith::MinUIOp>(binary<arith::AddIOp>(origin.beginK, nodes.length), nodes.total);
    return emitTile(origin);
  });
}

// The epilogue reuses the memory of the stages, after the last K tile. Returns the bytes.
int64_t ContractionKernel::layOutSharedMemory() {
  int64_t operandBytes = 0;
  for (StagedOperand &part : staging.operands) {
    int64_t bytes = contraction.instruction == MathInstruction::MmaSync
                        ? staging.swizzledBytes(part)
                        : simt.stageElements(part) * part.elementBytes() * tile.stages;
    part.offset = operandBytes;
    operandBytes += llvm::alignTo(bytes, kBankRowBytes);
  }
  return std::max(epilogue.rowsPerPass() * epilogue.rowBytes(), operandBytes);
}
