// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers of blocks and threads.

#include "DeviceGrid.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using namespace mlir::ad::host;

void DeviceGrid::bind() {
  smCount = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                       call("adrt_sm_count", builder.getI32Type(), context));
}

// The number of elements or tiles that the grid enumerates, divided by those that a thread, warp or block
// computes at once.
Value DeviceGrid::tileCount(LaunchOp launch, LaunchConfigAttr config) {
  HostTensor result = values.tensor(launch.getResult(config.getResult()));
  SmallVector<int64_t> tile(config.getAxes(), 1);
  llvm::copy(config.getTile(), tile.end() - config.getTile().size());
  Value count = indexConstant(1);
  for (auto [tileSize, size] : llvm::zip_first(tile, result.sizes)) {
    Value tiles = builder.createOrFold<arith::CeilDivUIOp>(loc, size, indexConstant(tileSize));
    count = builder.createOrFold<arith::MulIOp>(loc, count, tiles);
  }
  if (config.getElements() > 1)
    count = builder.createOrFold<arith::CeilDivUIOp>(loc, count, indexConstant(config.getElements()));
  return count;
}

// Blocks of whole warps.
std::pair<Value, Value> DeviceGrid::blocksAndThreads(LaunchConfigAttr config, Value threads) {
  Value block = indexConstant(config.getThreadsPerBlock());
  if (config.getLevel() != MappingLevel::block) {
    // Short work is spread over the multiprocessors, two blocks each, before blocks grow.
    Value warp = indexConstant(kWarpThreads);
    Value spread = builder.createOrFold<arith::MulIOp>(loc, smCount, indexConstant(2 * kWarpThreads));
    Value warps = builder.createOrFold<arith::DivUIOp>(loc, threads, spread);
    warps = builder.createOrFold<arith::MaxUIOp>(loc, warps, indexConstant(1));
    block = builder.createOrFold<arith::MinUIOp>(loc, block,
                                                 builder.createOrFold<arith::MulIOp>(loc, warps, warp));
  }
  Value blocks = builder.createOrFold<arith::CeilDivUIOp>(loc, threads, block);
  return {builder.createOrFold<arith::MinUIOp>(loc, blocks, indexConstant(kMaxBlocks)), block};
}

// The clusters of persistent blocks that fill the multiprocessors, at least one.
Value DeviceGrid::persistentClusters(int64_t persistent, int64_t cluster) {
  Value blocks = builder.createOrFold<arith::MulIOp>(loc, smCount, indexConstant(persistent));
  if (cluster == 1)
    return blocks;
  Value clusters = builder.createOrFold<arith::DivUIOp>(loc, blocks, indexConstant(cluster));
  return builder.createOrFold<arith::MaxUIOp>(loc, clusters, indexConstant(1));
}

// Counted in clusters, so that the grid consists of whole clusters.
Value DeviceGrid::countedBlocks(LaunchOp launch, LaunchConfigAttr config) {
  bool isDynamic = config.getGridSize() == 0;
  int64_t cluster = config.getClusterSize(), max = kMaxBlocks / cluster;
  Value count = isDynamic ? tileCount(launch, config)
                          : indexConstant(std::clamp<int64_t>(config.getGridSize() / cluster, 1, max));
  if (int64_t persistent = config.getPersistentBlocks())
    count = builder.createOrFold<arith::MinUIOp>(loc, count, persistentClusters(persistent, cluster));
  if (isDynamic) {
    count = builder.createOrFold<arith::MinUIOp>(loc, count, indexConstant(max));
    count = builder.createOrFold<arith::MaxUIOp>(loc, count, indexConstant(1));
  }
  return builder.createOrFold<arith::MulIOp>(loc, count, indexConstant(cluster));
}

Value DeviceGrid::of(LaunchOp launch, LaunchConfigAttr config) {
  if (config.countsBlocks())
    return create(countedBlocks(launch, config), indexConstant(config.getThreadsPerBlock()),
                  config.getDynamicSharedBytes());
  Value threads = tileCount(launch, config);
  if (int64_t perElement = config.threadsOfElement(); perElement > 1)
    threads = builder.createOrFold<arith::MulIOp>(loc, threads, indexConstant(perElement));
  return ofThreads(config, threads);
}

Value DeviceGrid::ofThreads(LaunchConfigAttr config, Value threads) {
  threads = builder.createOrFold<arith::MaxUIOp>(loc, threads, indexConstant(1));
  auto [blocks, block] = blocksAndThreads(config, threads);
  return create(blocks, block, config.getDynamicSharedBytes());
}

Value DeviceGrid::ofBlocks(LaunchConfigAttr config, Value blocks) {
  blocks = builder.createOrFold<arith::MinUIOp>(loc, blocks, indexConstant(kMaxBlocks));
  blocks = builder.createOrFold<arith::MaxUIOp>(loc, blocks, indexConstant(1));
  return create(blocks, indexConstant(config.getThreadsPerBlock()), config.getDynamicSharedBytes());
}

// adrt_grid: blocks and threads per block along x, and 1 along every other axis. The size of clusters is an
// attribute of the kernel.
Value DeviceGrid::create(Value blocks, Value threads, int64_t sharedBytes) {
  constexpr int64_t numbers = 10; // three triples and the bytes of shared memory
  auto type = LLVM::LLVMArrayType::get(builder.getI32Type(), numbers);
  Value grid = entry.stackSlot(type, 1);
  for (int32_t i = 0; i < numbers; ++i) {
    Value number =
        i == 0 || i == 3
            ? Value(arith::IndexCastOp::create(builder, loc, builder.getI32Type(), i == 0 ? blocks : threads))
            : i32(i == numbers - 1 ? sharedBytes : 1);
    LLVM::StoreOp::create(builder, loc, number, entry.fieldAddress(type, grid, i));
  }
  return grid;
}
