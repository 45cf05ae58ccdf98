// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Host programs whose tensors lie in the memory of a device: kernels are launched by number, and what crosses
// between the two memories does so by calls of the runtime.

#include "HostEmitter.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

Value HostEmitter::deviceArgument(unsigned number) {
  Value described = LLVM::GEPOp::create(builder, loc, pointerType, tensorType, entry.getArgument(1),
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  Value memory = call("adrt_argument", pointerType, {context, described, i32(number)});
  guardMemory(memory, loc);
  return memory;
}

Value HostEmitter::deviceConstant(Value data, const HostTensor &described) {
  Value memory = call("adrt_constant", pointerType, {context, data, byteCount(described)});
  guardMemory(memory, loc);
  return memory;
}

// Asked for once: nothing that a program computes depends on it.
void HostEmitter::bindDevice() {
  if (options.device)
    processors = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                            call("adrt_processors", builder.getI32Type(), context));
}

void HostEmitter::readFromDevice(Value target, Value source, Value bytes) {
  guard(call("adrt_read", builder.getI32Type(), {context, target, source, bytes}));
}

// The argument keeps its place in the host's memory; the result that it is donated to lies in the device's.
void HostEmitter::returnDonated(Value argument, const HostTensor &tensor) {
  Value address =
      LLVM::GEPOp::create(builder, loc, pointerType, tensorType, argument, ArrayRef<LLVM::GEPArg>{0, 0});
  Value data = LLVM::LoadOp::create(builder, loc, pointerType, address);
  readFromDevice(data, tensor.pointer, byteCount(tensor));
}

// How many elements or tiles the grid enumerates, each taken as often as a thread, warp or block can at once.
Value HostEmitter::tileCount(LaunchOp launch, LaunchConfigAttr config) {
  const HostTensor result = tensors.lookup(launch.getResult(config.getResult()));
  SmallVector<int64_t> tile(config.getAxes(), 1);
  llvm::copy(config.getTile(), tile.end() - config.getTile().size());
  Value count = indexConstant(1);
  for (auto [size, each] : llvm::zip_first(tile, result.sizes)) {
    Value tiles = builder.createOrFold<arith::CeilDivUIOp>(loc, each, indexConstant(size));
    count = builder.createOrFold<arith::MulIOp>(loc, count, tiles);
  }
  if (config.getElements() > 1)
    count = builder.createOrFold<arith::CeilDivUIOp>(loc, count, indexConstant(config.getElements()));
  return count;
}

// Blocks of whole warps, and how many.
std::pair<Value, Value> HostEmitter::blocksFor(LaunchConfigAttr config, Value threads) {
  Value block = indexConstant(config.getThreadsPerBlock());
  if (config.getLevel() != MappingLevel::block) {
    // Short work is spread over the processors, two blocks each, before blocks grow.
    Value warp = indexConstant(kWarpThreads);
    Value spread = builder.createOrFold<arith::MulIOp>(loc, processors, indexConstant(2 * kWarpThreads));
    Value warps = builder.createOrFold<arith::DivUIOp>(loc, threads, spread);
    warps = builder.createOrFold<arith::MaxUIOp>(loc, warps, indexConstant(1));
    block = builder.createOrFold<arith::MinUIOp>(loc, block,
                                                 builder.createOrFold<arith::MulIOp>(loc, warps, warp));
  }
  Value blocks = builder.createOrFold<arith::CeilDivUIOp>(loc, threads, block);
  return {builder.createOrFold<arith::MinUIOp>(loc, blocks, indexConstant(kMostBlocks)), block};
}

// The grid of persistent blocks fills the multiprocessors, and has at least one cluster.
Value HostEmitter::roomFor(int64_t persistent, int64_t cluster) {
  Value room = builder.createOrFold<arith::MulIOp>(loc, processors, indexConstant(persistent));
  if (cluster == 1)
    return room;
  room = builder.createOrFold<arith::DivUIOp>(loc, room, indexConstant(cluster));
  return builder.createOrFold<arith::MaxUIOp>(loc, room, indexConstant(1));
}

// Counted in clusters, so that the grid consists of whole ones.
Value HostEmitter::countedBlocks(LaunchOp launch, LaunchConfigAttr config) {
  bool isDynamic = config.getGridSize() == 0;
  int64_t cluster = config.getClusterSize(), most = kMostBlocks / cluster;
  Value count = isDynamic ? tileCount(launch, config)
                          : indexConstant(std::clamp<int64_t>(config.getGridSize() / cluster, 1, most));
  if (int64_t persistent = config.getPersistentBlocks())
    count = builder.createOrFold<arith::MinUIOp>(loc, count, roomFor(persistent, cluster));
  if (isDynamic) {
    count = builder.createOrFold<arith::MinUIOp>(loc, count, indexConstant(most));
    count = builder.createOrFold<arith::MaxUIOp>(loc, count, indexConstant(1));
  }
  return builder.createOrFold<arith::MulIOp>(loc, count, indexConstant(cluster));
}

// Blocks that the kernel counts, or as many as its tiles take.
Value HostEmitter::gridFor(LaunchOp launch, LaunchConfigAttr config) {
  if (config.countsBlocks())
    return gridOf(countedBlocks(launch, config), indexConstant(config.getThreadsPerBlock()),
                  config.getDynamicSharedBytes());
  Value threads = tileCount(launch, config);
  if (int64_t each = config.threadsOfElement(); each > 1)
    threads = builder.createOrFold<arith::MulIOp>(loc, threads, indexConstant(each));
  return gridOfThreads(config, threads);
}

Value HostEmitter::gridOfThreads(LaunchConfigAttr config, Value threads) {
  threads = builder.createOrFold<arith::MaxUIOp>(loc, threads, indexConstant(1));
  auto [blocks, block] = blocksFor(config, threads);
  return gridOf(blocks, block, config.getDynamicSharedBytes());
}

// adrt_grid: blocks and threads of a block along x, and 1 along every other axis. Kernels say themselves how
// many blocks their clusters have.
Value HostEmitter::gridOf(Value blocks, Value threads, int64_t sharedBytes) {
  constexpr int64_t numbers = 10; // three triples and the bytes of shared memory
  auto type = LLVM::LLVMArrayType::get(builder.getI32Type(), numbers);
  Value grid = stackSlot(type, 1);
  for (int32_t i = 0; i < numbers; ++i) {
    Value number =
        i == 0 || i == 3
            ? Value(arith::IndexCastOp::create(builder, loc, builder.getI32Type(), i == 0 ? blocks : threads))
            : i32(i == numbers - 1 ? sharedBytes : 1);
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, type, grid, ArrayRef<LLVM::GEPArg>{0, i});
    LLVM::StoreOp::create(builder, loc, number, address);
  }
  return grid;
}

// Places of the host's memory in which the runtime describes operands to the kernel.
SmallVector<Value> HostEmitter::tensorMapsFor(LaunchOp launch, LaunchConfigAttr config) {
  SmallVector<Value> places;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
  for (TensorMapAttr map : config.getTensorMaps()) {
    Value input = launch.getInputs()[map.getOperand()];
    Value sizes = stackSlot(builder.getI32Type(), map.getBox().size());
    for (auto [axis, size] : llvm::enumerate(map.getBox())) {
      Value address = LLVM::GEPOp::create(builder, loc, pointerType, builder.getI32Type(), sizes,
                                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(axis)});
      LLVM::StoreOp::create(builder, loc, i32(size), address);
    }
    places.push_back(stackSlot(bytes, 1, kTensorMapAlignment));
    guard(call("adrt_tensor_map", builder.getI32Type(),
               {context, shared.site(builder, loc, ""), places.back(), describe(tensors.lookup(input)), sizes,
                i32(map.getSwizzle()), i32(map.getTf32())}));
  }
  return places;
}

// Of an argument: pointers and sizes take 64 bits.
static int32_t bytesInMemory(Type type) {
  return type.isIntOrFloat() ? std::max<int32_t>(1, type.getIntOrFloatBitWidth() / 8) : 8;
}

void HostEmitter::launchOnDevice(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  launchOnDevice(launch, kernel, operands, gridFor(launch, launchConfigOf(kernel)));
}

// The kernel takes the operands by the addresses of their values, and then its tensor maps.
void HostEmitter::launchOnDevice(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands, Value grid) {
  Value number = i32(shared.kernelNumber(kernel.getSymName()));
  if (options.profile)
    call("adrt_kernel_begin", nullptr, {context, number});
  Value closure = closureOf(operands);
  auto type = closureType(operands);
  SmallVector<Value> arguments;
  SmallVector<int32_t> bytes;
  for (int32_t i = 0, count = operands.size(); i < count; ++i) {
    arguments.push_back(
        LLVM::GEPOp::create(builder, loc, pointerType, type, closure, ArrayRef<LLVM::GEPArg>{0, i}));
    bytes.push_back(bytesInMemory(operands[i].getType()));
  }
  arguments.append(tensorMapsFor(launch, launchConfigOf(kernel)));
  bytes.resize(arguments.size(), kTensorMapBytes);
  auto bytesType = RankedTensorType::get({int64_t(bytes.size())}, builder.getI32Type());
  Value pointers = stackSlot(pointerType, arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointerType, pointerType, pointers,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, argument, slot);
  }
  guard(call("adrt_launch", builder.getI32Type(),
             {context, shared.site(builder, loc, ""), number, grid, pointers,
              shared.data(builder, loc, DenseElementsAttr::get(bytesType, ArrayRef(bytes))),
              i32(arguments.size())}));
  if (options.profile)
    call("adrt_kernel_end", nullptr, {context, number});
}
