// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands, tensor maps and launches of kernels on a device.

#include "DeviceLaunches.h"
#include "KernelFunctions.h"
#include "adjoint/Codegen/Kernel/Grid.h"
#include "adjoint/Codegen/Kernel/LaunchStages.h"
#include "adjoint/Codegen/Kernel/SortedRuns.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using namespace mlir::ad::host;

void DeviceLaunches::emit(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  if (kernel->hasAttr(kPartialReductionsAttr))
    emitDivided(launch, kernel, operands);
  else if (kernel->hasAttr(kSortedRunsAttr))
    emitSort(launch, kernel, operands);
  else if (kernel->hasAttr(kLaunchStagesAttr))
    emitStages(launch, kernel, operands);
  else
    emitWhole(launch, kernel, operands);
}

// If the sizes are dynamic, a function next to the kernel decides at run time whether to divide.
void DeviceLaunches::emitDivided(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  auto arguments = llvm::to_vector(operands);
  arguments.push_back(grid.multiprocessors());
  auto sizes = func::CallOp::create(builder, loc, companionOf(kernel, kPartialSizesSuffix), arguments);
  if (kernel->getAttrOfType<StringAttr>(kPartialReductionsAttr).getValue() == "always")
    return emitNodes(launch, kernel, operands, sizes.getResults());
  Value divides =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, sizes.getResult(0), indexConstant(0));
  auto branch = scf::IfOp::create(builder, loc, divides, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emitNodes(launch, kernel, operands, sizes.getResults());
  builder.setInsertionPointToStart(branch.elseBlock());
  emitWhole(launch, kernel, operands);
}

// `sizes`: the leaves of a node, the bytes of all nodes and the threads that sum them.
void DeviceLaunches::emitNodes(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands,
                               ValueRange sizes) {
  Value memory = buffers.scratch(sizes[1]);
  entry.guardMemory(memory, loc);
  auto withNodes = llvm::to_vector(operands);
  withNodes.append({memory, sizes[0]});
  func::FuncOp partial = companionOf(kernel, kPartialSuffix);
  emitOnGrid(launch, partial, withNodes, grid.ofThreads(launchConfigOf(partial), sizes[2]));
  emitWhole(launch, companionOf(kernel, kMergeSuffix), withNodes);
}

void DeviceLaunches::emitSort(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  auto sizes = func::CallOp::create(builder, loc, companionOf(kernel, kRunSizesSuffix), operands);
  Value memory = buffers.scratch(sizes.getResult(0)), zero = indexConstant(0);
  entry.guardMemory(memory, loc);
  auto emitPart = [&](StringRef suffix, Value number) {
    auto withRuns = llvm::to_vector(operands);
    withRuns.append({memory, number});
    emitWhole(launch, companionOf(kernel, suffix), withRuns);
  };
  emitPart(kSortTilesSuffix, zero);
  auto loop = scf::ForOp::create(builder, loc, zero, sizes.getResult(1), indexConstant(1));
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(loop.getBody());
  emitPart(kMergeRunsSuffix, loop.getInductionVar());
}

// `sizes`: the bytes of the memory between stages, and the blocks of each stage.
void DeviceLaunches::emitStages(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  auto sizes = func::CallOp::create(builder, loc, companionOf(kernel, kStageSizesSuffix), operands);
  Value memory = buffers.scratch(sizes.getResult(0));
  entry.guardMemory(memory, loc);
  auto withMemory = llvm::to_vector(operands);
  withMemory.push_back(memory);
  auto suffixes = kernel->getAttrOfType<ArrayAttr>(kLaunchStagesAttr).getAsValueRange<StringAttr>();
  for (auto [suffix, blocks] : llvm::zip_equal(suffixes, sizes.getResults().drop_front())) {
    func::FuncOp stage = companionOf(kernel, suffix);
    emitOnGrid(launch, stage, withMemory, grid.ofBlocks(launchConfigOf(stage), blocks));
  }
}

// Tensor maps are in memory of the host, into which the runtime encodes descriptions of operands.
SmallVector<Value> DeviceLaunches::tensorMaps(LaunchOp launch, LaunchConfigAttr config) {
  SmallVector<Value> maps;
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kTensorMapBytes);
  for (TensorMapAttr map : config.getTensorMaps()) {
    Value input = launch.getInputs()[map.getOperand()];
    Value sizes = entry.stackSlot(builder.getI32Type(), map.getBox().size());
    for (auto [axis, size] : llvm::enumerate(map.getBox())) {
      Value address = entry.elementAddress(builder.getI32Type(), sizes, axis);
      LLVM::StoreOp::create(builder, loc, i32(size), address);
    }
    maps.push_back(entry.stackSlot(bytes, 1, kTensorMapAlignment));
    guard(
        call("adrt_tensor_map", builder.getI32Type(),
             {context, module.site(builder, loc, ""), maps.back(), descriptors.describe(values.tensor(input)),
              sizes, i32(map.getSwizzle()), i32(map.getTf32())}));
  }
  return maps;
}

// Of an argument: pointers and sizes take 64 bits.
static int32_t bytesInMemory(Type type) {
  return type.isIntOrFloat() ? std::max<int32_t>(1, type.getIntOrFloatBitWidth() / 8) : 8;
}

void DeviceLaunches::emitWhole(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  emitOnGrid(launch, kernel, operands, grid.of(launch, launchConfigOf(kernel)));
}

// The kernel takes the operands by the addresses of their values, and then its tensor maps.
void DeviceLaunches::emitOnGrid(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands, Value grid) {
  Value number = i32(module.kernelNumber(kernel.getSymName()));
  if (options.profile)
    call("adrt_kernel_begin", nullptr, {context, number});
  Value closure = closures.create(operands);
  Type type = closures.typeOf(operands);
  SmallVector<Value> arguments;
  SmallVector<int32_t> bytes;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    arguments.push_back(entry.fieldAddress(type, closure, i));
    bytes.push_back(bytesInMemory(operand.getType()));
  }
  arguments.append(tensorMaps(launch, launchConfigOf(kernel)));
  bytes.resize(arguments.size(), kTensorMapBytes);
  auto bytesType = RankedTensorType::get({int64_t(bytes.size())}, builder.getI32Type());
  Value pointers = entry.stackSlot(pointerType, arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments))
    LLVM::StoreOp::create(builder, loc, argument, entry.elementAddress(pointerType, pointers, i));
  guard(call("adrt_launch", builder.getI32Type(),
             {context, module.site(builder, loc, ""), number, grid, pointers,
              module.data(builder, loc, DenseElementsAttr::get(bytesType, ArrayRef(bytes))),
              i32(arguments.size())}));
  if (options.profile)
    call("adrt_kernel_end", nullptr, {context, number});
}
