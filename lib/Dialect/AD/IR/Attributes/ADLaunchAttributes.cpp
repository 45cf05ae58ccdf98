// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Assembly and verifiers of the launch configuration of a GPU kernel and of its tensor maps.

#include "LaunchAssembly.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::ad;

#include "adjoint/Dialect/AD/IR/ADLaunchEnums.cpp.inc"

using EmitError = function_ref<InFlightDiagnostic()>;

// CUDA programming guide, "Compute Capabilities": the largest limits of the supported chips.
static constexpr int64_t kWarpThreads = 32, kMaxBlockThreads = 1024, kMaxResidentThreads = 2048;
static constexpr int64_t kMaxSharedBytes = 227 * 1024;
// A larger cluster needs an attribute of the kernel.
static constexpr int64_t kMaxClusterBlocks = 8;
// cuTensorMapEncodeTiled
static constexpr int64_t kMaxBoxAxes = 5, kMaxBoxExtent = 256;

//===- Assembly -----------------------------------------------------------===//

ParseResult ad::parseLevel(AsmParser &parser, MappingLevel &level) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<MappingLevel> known = symbolizeMappingLevel(word);
  if (!known)
    return parser.emitError(loc, "expected thread, warp or block, but got '") << word << "'";
  level = *known;
  return success();
}

void ad::printLevel(AsmPrinter &printer, MappingLevel level) { printer << stringifyMappingLevel(level); }

ParseResult ad::parseExtents(AsmParser &parser, SmallVector<int64_t> &extents) {
  return parser.parseDimensionList(extents, /*allowDynamic=*/false, /*withTrailingX=*/false);
}

void ad::printExtents(AsmPrinter &printer, ArrayRef<int64_t> extents) { printer.printDimensionList(extents); }

ParseResult ad::parseTensorMaps(AsmParser &parser, SmallVector<TensorMapAttr> &maps) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseCustomAttributeWithFallback(maps.emplace_back());
  });
}

void ad::printTensorMaps(AsmPrinter &printer, ArrayRef<TensorMapAttr> maps) {
  printer << "[";
  llvm::interleaveComma(maps, printer, [&](TensorMapAttr map) { printer.printStrippedAttrOrType(map); });
  printer << "]";
}

//===- Verifiers ----------------------------------------------------------===//

static LogicalResult verifyAtLeast(EmitError emitError, StringRef name, int64_t value, int64_t least) {
  if (value >= least)
    return success();
  return emitError() << "expected " << name << " to be at least " << least << ", but got " << value;
}

LogicalResult TensorMapAttr::verify(EmitError emitError, int64_t operand, ArrayRef<int64_t> box,
                                    int64_t swizzle, bool) {
  if (failed(verifyAtLeast(emitError, "operand", operand, 0)))
    return failure();
  if (box.empty() || box.size() > kMaxBoxAxes)
    return emitError() << "expected a box of 1 to " << kMaxBoxAxes << " axes, but got " << box.size();
  for (int64_t extent : box)
    if (extent < 1 || extent > kMaxBoxExtent)
      return emitError() << "expected 1 to " << kMaxBoxExtent
                         << " elements along each axis of the box, but got " << extent;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "expected a swizzle of 0, 32, 64 or 128 bytes, but got " << swizzle;
  return success();
}

// The threads and the shared memory of one block.
static LogicalResult verifyBlock(EmitError emitError, int64_t threads, int64_t sharedBytes) {
  if (threads < 1 || threads > kMaxBlockThreads || threads % kWarpThreads != 0)
    return emitError() << "expected threads_per_block to be a multiple of " << kWarpThreads << " up to "
                       << kMaxBlockThreads << ", but got " << threads;
  if (sharedBytes < 0 || sharedBytes > kMaxSharedBytes)
    return emitError() << "expected 0 to " << kMaxSharedBytes << " dynamic_shared_bytes, but got "
                       << sharedBytes;
  return success();
}

static LogicalResult verifyTile(EmitError emitError, int64_t axes, ArrayRef<int64_t> tile) {
  if (static_cast<int64_t>(tile.size()) > axes)
    return emitError() << "expected a tile of at most " << axes << " axes, as the grid enumerates, but got "
                       << tile.size();
  for (int64_t extent : tile)
    if (failed(verifyAtLeast(emitError, "each extent of the tile", extent, 1)))
      return failure();
  return success();
}

// Persistent blocks share a multiprocessor.
static LogicalResult verifyPersistent(EmitError emitError, int64_t blocks, int64_t threads,
                                      int64_t sharedBytes) {
  if (blocks > kMaxResidentThreads / threads)
    return emitError() << "expected persistent_blocks to have at most " << kMaxResidentThreads
                       << " threads together, but got " << blocks << " of " << threads;
  if (sharedBytes > 0 && blocks > kMaxSharedBytes / sharedBytes)
    return emitError() << "expected persistent_blocks to have at most " << kMaxSharedBytes
                       << " dynamic_shared_bytes together, but got " << blocks << " of " << sharedBytes;
  return success();
}

// Without a grid size or a tile, the host counts threads: then there is nothing to be persistent, and no
// cluster.
static LogicalResult verifyCountedThreads(EmitError emitError, int64_t persistent, int64_t cluster) {
  if (persistent > 0)
    return emitError() << "expected a grid_size or a tile with persistent_blocks, but got neither";
  if (cluster > 1)
    return emitError() << "expected a grid_size or a tile with cluster_size, but got neither";
  return success();
}

static LogicalResult verifyCountedBlocks(EmitError emitError, MappingLevel level, int64_t axes,
                                         int64_t gridSize, int64_t cluster, bool tiled) {
  if (level != MappingLevel::block)
    return emitError() << "expected level block with a grid_size or a tile, but got "
                       << stringifyMappingLevel(level);
  if (gridSize > 0 && tiled)
    return emitError() << "expected either a grid_size or a tile, but got both";
  if (gridSize > 0 && axes > 0)
    return emitError() << "expected 0 axes with a grid_size, but got " << axes;
  if (gridSize % cluster != 0)
    return emitError() << "expected a grid_size that is a multiple of cluster_size, but got " << gridSize
                       << " and " << cluster;
  return success();
}

// How many of the enumerated elements a thread, warp or block computes.
static LogicalResult verifyElements(EmitError emitError, MappingLevel level, int64_t elements,
                                    int64_t threads, bool countsBlocks) {
  if (failed(verifyAtLeast(emitError, "elements", elements, 1)))
    return failure();
  if (elements > 1 && countsBlocks)
    return emitError() << "expected elements to be 1 with a grid_size or a tile, but got " << elements;
  if (threads < 1 || threads > kWarpThreads || (threads & (threads - 1)) != 0)
    return emitError() << "expected threads_per_element to be a power of two up to " << kWarpThreads
                       << ", but got " << threads;
  if (threads > 1 && level != MappingLevel::thread)
    return emitError() << "expected level thread with threads_per_element, but got "
                       << stringifyMappingLevel(level);
  return success();
}

LogicalResult LaunchConfigAttr::verify(EmitError emitError, MappingLevel level, int64_t result, int64_t axes,
                                       int64_t gridSize, int64_t persistentBlocks, int64_t clusterSize,
                                       ArrayRef<int64_t> tile, int64_t threadsPerBlock,
                                       int64_t dynamicSharedBytes, int64_t elements,
                                       int64_t threadsPerElement, ArrayRef<TensorMapAttr>) {
  bool countsBlocks = gridSize > 0 || !tile.empty();
  if (failed(verifyAtLeast(emitError, "result", result, 0)) ||
      failed(verifyAtLeast(emitError, "axes", axes, 0)) ||
      failed(verifyAtLeast(emitError, "grid_size", gridSize, 0)) ||
      failed(verifyAtLeast(emitError, "persistent_blocks", persistentBlocks, 0)) ||
      failed(verifyTile(emitError, axes, tile)) ||
      failed(verifyBlock(emitError, threadsPerBlock, dynamicSharedBytes)))
    return failure();
  if (clusterSize < 1 || clusterSize > kMaxClusterBlocks)
    return emitError() << "expected a cluster_size of 1 to " << kMaxClusterBlocks << ", but got "
                       << clusterSize;
  if (failed(countsBlocks ? verifyCountedBlocks(emitError, level, axes, gridSize, clusterSize, !tile.empty())
                          : verifyCountedThreads(emitError, persistentBlocks, clusterSize)))
    return failure();
  if (failed(verifyPersistent(emitError, persistentBlocks, threadsPerBlock, dynamicSharedBytes)))
    return failure();
  return verifyElements(emitError, level, elements, threadsPerElement, countsBlocks);
}

int64_t LaunchConfigAttr::threadsOfElement() const {
  switch (getLevel()) {
  case MappingLevel::thread:
    return getThreadsPerElement();
  case MappingLevel::warp:
    return kWarpThreads;
  case MappingLevel::block:
    return getThreadsPerBlock();
  }
  return 1;
}

LogicalResult ad::verifyLaunchAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!isa<FunctionOpInterface>(op))
    return op->emitOpError("expected '") << name << "' on a function only";
  if (name == kLaunchConfigAttr && !isa<LaunchConfigAttr>(attribute.getValue()))
    return op->emitOpError("expected '")
           << name
           << "' to be #ad.launch_config<LEVEL, …>, such as #ad.launch_config<thread, axes = 1>, but got "
           << attribute.getValue();
  auto maps = dyn_cast<ArrayAttr>(attribute.getValue());
  if (name == kTensorMapsAttr && (!maps || !llvm::all_of(maps, llvm::IsaPred<TensorMapAttr>)))
    return op->emitOpError("expected '")
           << name << "' to be an array of #ad.tensor_map<…>, but got " << attribute.getValue();
  return success();
}
