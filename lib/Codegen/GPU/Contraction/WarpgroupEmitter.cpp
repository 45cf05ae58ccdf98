// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel as a whole, and the warpgroup that copies.

#include "WarpgroupEmitter.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// What a block may have of shared memory.
[[maybe_unused]] static constexpr int64_t kMostSharedBytes = 227 * 1024;
// Registers of a thread where two warpgroups multiply: what the one that copies does not need goes to them.
static constexpr int64_t kLaunchRegisters = 168, kCopyRegisters = 40, kMultiplyRegisters = 232;
static_assert(kCopyRegisters + 2 * kMultiplyRegisters <= 3 * kLaunchRegisters, "a block has no more");
static constexpr unsigned kClusterSpace = 7;

int64_t WarpgroupEmitter::minBlocksPerSM() const { return tile.warpgroups > 1 ? 1 : 2; }

Value WarpgroupEmitter::pieceCount() { return divideUp(depthCount, tile.depth); }

LogicalResult WarpgroupEmitter::emitRoots() {
  recordUse();
  bindSizes();
  if (failed(addSources()))
    return failure();
  shareTiles();
  launchShape.persistentBlocks = minBlocksPerSM();
  launchShape.threadsPerBlock = (tile.warpgroups + 1) * kWarpgroupThreads;
  launchShape.dynamicSharedBytes = barriersStart() + Ring::barrierBytes(tile.stages);
  assert(minBlocksPerSM() * launchShape.dynamicSharedBytes <= kMostSharedBytes &&
         "tiles fit into shared memory");
  emitPrologue();
  auto copy = [&] {
    limitRegisters(/*copies=*/true);
    return emitIf(isEqual(mapping.threadInBlock, 0), [&] { return emitCopies(); });
  };
  auto multiply = [&] {
    limitRegisters(/*copies=*/false);
    return emitProducts();
  };
  if (failed(emitIf(isEqual(warpgroup, 0), copy, multiply)))
    return failure();
  // The other block may still arrive at mbarriers of this one.
  if (tile.cluster > 1)
    synchronizeCluster();
  return success();
}

// Threads of a warp may come one by one.
void WarpgroupEmitter::synchronizeCluster() {
  NVVM::ClusterArriveOp::create(builder, loc, /*aligned=*/nullptr);
  NVVM::ClusterWaitOp::create(builder, loc, /*aligned=*/nullptr);
}

// Tensor maps are passed by value, as arguments behind all others: the driver then keeps a copy for each
// launch, and neither it nor the emulator needs memory of its own for them. Blocks of a cluster have the same
// columns.
LogicalResult WarpgroupEmitter::addSources() {
  int64_t offset = 0;
  auto add = [&](OpOperand *operand, unsigned loop, int64_t extent, int64_t sharers) -> LogicalResult {
    Staged part = stagedOf(operand, loop, extent);
    SwizzledTile swizzled{extent, tile.depth, part.alongDepth, elementBytes()};
    unsigned number = function.getNumArguments();
    if (failed(function.insertArgument(number, LLVM::LLVMPointerType::get(builder.getContext()),
                                       builder.getDictionaryAttr({}), loc)))
      return function.emitOpError("takes no further argument");
    sources.push_back({part, swizzled, sharers, function.getArgument(number), offset});
    launchShape.tensorMaps.push_back(mapOf(sources.back()));
    offset += swizzled.bytes();
    return success();
  };
  assert(tile.depth * elementBytes() == kSwizzleBytes && "a line along the depth is a piece deep");
  if (failed(add(contraction.rows, contraction.rowLoop, tile.rows, /*sharers=*/1)) ||
      failed(add(contraction.columns, contraction.columnLoop, tile.columns, tile.cluster)))
    return failure();
  return success();
}

// The operand by its number, and what a copy takes along each of its axes. The copy rounds f32, of which the
// instructions would only cut off what they do not read.
TensorMapAttr WarpgroupEmitter::mapOf(const Source &source) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(source.part.operand);
  SmallVector<int64_t> box;
  for (unsigned axis = 0; axis < map.getNumResults(); ++axis) {
    unsigned loop = map.getDimPosition(axis);
    box.push_back(loop == contraction.depthLoop  ? source.tile.depth
                  : loop == source.part.lineLoop ? source.share().slabExtent()
                                                 : 1);
  }
  auto argument = cast<BlockArgument>(source.part.operand->get());
  return TensorMapAttr::get(builder.getContext(), argument.getArgNumber(), box, kSwizzleBytes,
                            /*tf32=*/operandType().isF32());
}

// All threads of a warp take the number of its warpgroup from one of them, so that the compiler sees that
// they branch together.
void WarpgroupEmitter::emitPrologue() {
  shared = sharedMemory(builder, function, /*bytes=*/0, "shared", kTileAlignment);
  Value number = binary<arith::DivUIOp>(mapping.threadInBlock, indexConstant(kWarpgroupThreads));
  number = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), number);
  number =
      ::mlir::gpu::ShuffleOp::create(builder, loc, number, 0, kWarpThreads, ::mlir::gpu::ShuffleMode::IDX)
          .getShuffleResult();
  warpgroup = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number);
  (void)emitIf(isEqual(mapping.threadInBlock, 0), [&] {
    for (const Source &source : sources) // the first copies would wait for them
      NVVM::PrefetchOp::create(builder, loc, NVVM::PrefetchCacheLevelAttr(),
                               NVVM::CacheEvictionPriorityAttr(), source.map, /*predicate=*/Value(),
                               /*tensormap=*/true, /*uniform=*/false, /*in_param_space=*/true);
    ring().initialize();
    return success();
  });
  inCluster = binary<arith::RemUIOp>(mapping.block, indexConstant(tile.cluster));
  if (tile.cluster > 1)
    synchronizeCluster();
  else
    mapping.synchronizeBlock();
}

// All warpgroups of a cluster go through the same parts of the result, and count the pieces of the ring
// alike.
LogicalResult WarpgroupEmitter::forTiles(TileCode code) {
  Value size = indexConstant(tile.cluster);
  Value cluster = binary<arith::DivUIOp>(mapping.block, size),
        clusters = binary<arith::DivUIOp>(mapping.gridBlocks, size);
  auto loop = scf::ForOp::create(builder, loc, cluster, countTiles(), clusters, indexConstant(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Scope scope(*this);
  Value before = loop.getRegionIterArg(0);
  Place place = placeOf(loop.getInductionVar());
  place.row = binary<arith::AddIOp>(place.row, binary<arith::MulIOp>(inCluster, indexConstant(tile.rows)));
  if (failed(code(place, before)))
    return failure();
  Value after = binary<arith::AddIOp>(before, pieceCount());
  scf::YieldOp::create(builder, loc, after);
  return success();
}

void WarpgroupEmitter::limitRegisters(bool copies) {
  if (tile.warpgroups > 1)
    NVVM::SetMaxRegisterOp::create(
        builder, loc, static_cast<uint32_t>(copies ? kCopyRegisters : kMultiplyRegisters),
        copies ? NVVM::SetMaxRegisterAction::decrease : NVVM::SetMaxRegisterAction::increase);
}

LogicalResult WarpgroupEmitter::emitCopies() {
  return forTiles([&](const Place &place, Value before) {
    return emitLoop(indexConstant(0), pieceCount(), indexConstant(1), [&](Value number) {
      copyPiece(place, binary<arith::AddIOp>(before, number),
                binary<arith::MulIOp>(number, indexConstant(tile.depth)));
      return success();
    });
  });
}

void WarpgroupEmitter::copyPiece(const Place &place, Value piece, Value depth) {
  Value full = ring().startFilling(piece);
  for (const Source &source : sources)
    copyShare(source, place, piece, depth, full);
}

// What lies outside of an operand becomes zero, which adds nothing. A share lies at the same place in each
// block, and is reported to the mbarrier of each.
void WarpgroupEmitter::copyShare(const Source &source, const Place &place, Value piece, Value depth,
                                 Value full) {
  linalg::GenericOp op = contraction.op;
  AffineMap map = op.getMatchingIndexingMap(source.part.operand);
  Type cluster = LLVM::LLVMPointerType::get(builder.getContext(), kClusterSpace);
  SwizzledTile share = source.share();
  Value start = source.part.lineLoop == contraction.rowLoop ? place.row : place.column;
  Value byte = indexConstant(source.offset), mask;
  if (source.sharers > 1) {
    start = binary<arith::AddIOp>(start, binary<arith::MulIOp>(inCluster, indexConstant(share.extent)));
    byte = binary<arith::AddIOp>(byte, binary<arith::MulIOp>(inCluster, indexConstant(share.bytes())));
    mask = arith::ConstantIntOp::create(builder, loc, builder.getI16Type(), (1 << source.sharers) - 1);
  }
  for (int64_t slab = 0; slab < share.slabCount(); ++slab) {
    Value line = binary<arith::AddIOp>(start, indexConstant(slab * share.slabExtent()));
    SmallVector<Value> coordinates; // from the axis that is contiguous
    for (const Index &index : llvm::reverse(evaluator.apply(map, loopsAt(place, line, line, depth))))
      coordinates.push_back(arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index.base));
    Value at = binary<arith::AddIOp>(byte, indexConstant(slab * share.slabBytes()));
    Value target = LLVM::AddrSpaceCastOp::create(builder, loc, cluster, ring().pointerTo(piece, at));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, target, source.map, coordinates, full, /*im2colOffsets=*/ValueRange(), mask,
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
        /*predicate=*/Value());
  }
}
