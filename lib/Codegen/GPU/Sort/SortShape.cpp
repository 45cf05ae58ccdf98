// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "SortShape.h"
#include "SharedItems.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

// Items of a tile at most, by the shared memory that every chip has, and at least, so that a block has
// several warps.
static constexpr int64_t kMaxTile = 8192, kMaxWideTile = 4096, kMinTile = 1024;
// Blocks of an SM where the host does not know how many tiles have work.
static constexpr int64_t kOpenBlocksPerSM = 2;

// Where lengths are open, tiles of short lines would be large for nothing.
SortShape::SortShape(ArgsortOp sort)
    : element(sort.getInput().getType().getElementType()), descending(sort.getDescending()),
      shape(sort.getInput().getType().getShape()) {
  int64_t most = ItemForm::inTile(element).keyBytes == 8 ? kMaxWideTile : kMaxTile;
  tile = ShapedType::isDynamic(length())
             ? most / 2
             : std::clamp(static_cast<int64_t>(llvm::PowerOf2Ceil(length())), kMinTile, most);
}

int64_t SortShape::placesOfLine() const {
  if (ShapedType::isDynamic(length()))
    return 0;
  return std::min(static_cast<int64_t>(llvm::PowerOf2Ceil(std::max(length(), kItemsOfThread))), tile);
}

int64_t SortShape::registerRun() const {
  return ShapedType::isDynamic(length()) ? kRegisterRun : std::min(kRegisterRun, placesOfLine());
}

static LaunchShape launchOf(const SortShape &sort, ItemForm form) {
  LaunchShape launch = {MappingLevel::block, /*result=*/0, static_cast<int64_t>(sort.shape.size())};
  launch.tile = {sort.tile};
  launch.threadsPerBlock = sort.tile / kItemsOfThread;
  launch.dynamicSharedBytes = SharedItems::bytesFor(form, sort.tile);
  return launch;
}

LaunchShape SortShape::tilesLaunch() const {
  LaunchShape launch = launchOf(*this, ItemForm::inTile(element));
  if (ShapedType::isDynamic(length())) {
    launch.persistentBlocks = kOpenBlocksPerSM;
  } else if (!mayMerge()) {
    launch.tile = {std::max<int64_t>(length(), 1)};
    launch.elements = tile / placesOfLine();
  }
  return launch;
}

LaunchShape SortShape::mergeLaunch() const { return launchOf(*this, ItemForm::inRuns(element)); }
