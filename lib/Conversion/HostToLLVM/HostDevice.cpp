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

// How many tiles the kernel's declaration asks for.
Value HostEmitter::tileCount(LaunchOp launch, func::FuncOp kernel) {
  auto space = kernel->getAttrOfType<DenseI64ArrayAttr>("ad.space");
  const HostTensor result = tensors.lookup(launch.getResult(space[0]));
  SmallVector<int64_t> tile(space[1], 1);
  if (auto extents = kernel->getAttrOfType<DenseI64ArrayAttr>("ad.tile"))
    llvm::copy(extents.asArrayRef(), tile.end() - extents.size());
  Value count = indexConstant(1);
  for (auto [size, each] : llvm::zip_first(tile, result.sizes)) {
    Value tiles = builder.createOrFold<arith::CeilDivUIOp>(loc, each, indexConstant(size));
    count = builder.createOrFold<arith::MulIOp>(loc, count, tiles);
  }
  if (auto run = kernel->getAttrOfType<IntegerAttr>("ad.run"))
    count = builder.createOrFold<arith::CeilDivUIOp>(loc, count, indexConstant(run.getInt()));
  return count;
}

static int64_t numberOf(func::FuncOp kernel, StringRef attribute, int64_t otherwise) {
  auto number = kernel->getAttrOfType<IntegerAttr>(attribute);
  return number ? number.getInt() : otherwise;
}

static int64_t threadsOfTile(func::FuncOp kernel) {
  StringRef takers = kernel->getAttrOfType<StringAttr>("ad.tiles").getValue();
  if (takers != "threads")
    return takers == "warps" ? kWarpThreads : numberOf(kernel, "ad.threads", kBlockThreads);
  return numberOf(kernel, "ad.group", 1);
}

// Blocks of whole warps, and how many.
std::pair<Value, Value> HostEmitter::blocksFor(func::FuncOp kernel, Value threads) {
  Value block = indexConstant(numberOf(kernel, "ad.threads", kBlockThreads));
  if (kernel->getAttrOfType<StringAttr>("ad.tiles").getValue() != "blocks") {
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

// Blocks that stay with their processor are no more than those have room for, but one cluster always is.
Value HostEmitter::roomFor(int64_t resident, int64_t cluster) {
  Value room = builder.createOrFold<arith::MulIOp>(loc, processors, indexConstant(resident));
  if (cluster == 1)
    return room;
  room = builder.createOrFold<arith::DivUIOp>(loc, room, indexConstant(cluster));
  return builder.createOrFold<arith::MaxUIOp>(loc, room, indexConstant(1));
}

// Counted in clusters, so that the grid consists of whole ones.
Value HostEmitter::countedBlocks(LaunchOp launch, func::FuncOp kernel) {
  bool counts = kernel->hasAttr("ad.tile"); // here, what only the run knows
  int64_t cluster = numberOf(kernel, "ad.cluster", 1), most = kMostBlocks / cluster;
  int64_t known = std::clamp<int64_t>(numberOf(kernel, "ad.blocks", cluster) / cluster, 1, most);
  Value count = counts ? tileCount(launch, kernel) : indexConstant(known);
  if (int64_t resident = numberOf(kernel, "ad.resident", 0))
    count = builder.createOrFold<arith::MinUIOp>(loc, count, roomFor(resident, cluster));
  if (counts) {
    count = builder.createOrFold<arith::MinUIOp>(loc, count, indexConstant(most));
    count = builder.createOrFold<arith::MaxUIOp>(loc, count, indexConstant(1));
  }
  return builder.createOrFold<arith::MulIOp>(loc, count, indexConstant(cluster));
}

// Blocks that the kernel counts, or as many as its tiles take.
Value HostEmitter::gridFor(LaunchOp launch, func::FuncOp kernel) {
  int64_t most = numberOf(kernel, "ad.threads", kBlockThreads);
  int64_t sharedBytes = numberOf(kernel, "ad.shared_bytes", 0);
  if (kernel->hasAttr("ad.tile") || kernel->hasAttr("ad.blocks"))
    return gridOf(countedBlocks(launch, kernel), indexConstant(most), sharedBytes);
  Value threads = tileCount(launch, kernel);
  if (int64_t each = threadsOfTile(kernel); each > 1)
    threads = builder.createOrFold<arith::MulIOp>(loc, threads, indexConstant(each));
  return gridOfThreads(kernel, threads);
}

Value HostEmitter::gridOfThreads(func::FuncOp kernel, Value threads) {
  threads = builder.createOrFold<arith::MaxUIOp>(loc, threads, indexConstant(1));
  auto [blocks, block] = blocksFor(kernel, threads);
  return gridOf(blocks, block, numberOf(kernel, "ad.shared_bytes", 0));
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
SmallVector<Value> HostEmitter::tensorMapsFor(LaunchOp launch, func::FuncOp kernel) {
  SmallVector<Value> places;
  auto maps = kernel->getAttrOfType<ArrayAttr>(kTensorMapsAttr);
  if (!maps)
    return places;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
  for (auto map : maps.getAsRange<DictionaryAttr>()) {
    Value input = launch.getInputs()[map.getAs<IntegerAttr>("operand").getInt()];
    auto box = map.getAs<DenseI64ArrayAttr>("box").asArrayRef();
    Value sizes = stackSlot(builder.getI32Type(), box.size());
    for (auto [axis, size] : llvm::enumerate(box)) {
      Value address = LLVM::GEPOp::create(builder, loc, pointerType, builder.getI32Type(), sizes,
                                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(axis)});
      LLVM::StoreOp::create(builder, loc, i32(size), address);
    }
    places.push_back(stackSlot(bytes, 1, kTensorMapAlignment));
    guard(call("adrt_tensor_map", builder.getI32Type(),
               {context, shared.site(builder, loc, ""), places.back(), describe(tensors.lookup(input)), sizes,
                i32(map.getAs<IntegerAttr>("swizzle").getInt()), i32(map.contains("tf32"))}));
  }
  return places;
}

// Of an argument: pointers and sizes take 64 bits.
static int32_t bytesInMemory(Type type) {
  return type.isIntOrFloat() ? std::max<int32_t>(1, type.getIntOrFloatBitWidth() / 8) : 8;
}

void HostEmitter::launchOnDevice(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  launchOnDevice(launch, kernel, operands, gridFor(launch, kernel));
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
  arguments.append(tensorMapsFor(launch, kernel));
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
