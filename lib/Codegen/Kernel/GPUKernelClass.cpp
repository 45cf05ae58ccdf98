// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions of kernels in the module of kernels, their declarations in the host program, and what every class
// for GPUs refuses.

#include "adjoint/Codegen/Kernel/GPUKernelClass.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-emit-gpu"

using namespace mlir;
using namespace mlir::ad;
using ::mlir::gpu::GPUFuncOp;

LogicalResult GPUKernelClass::verify(KernelOp kernel, const KernelPlan &, StringRef whyNotNamed) const {
  for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
    if (generic->hasAttrOfType<InstructionAttr>(kInstructionAttr))
      return generic.emitOpError("expected a kernel that uses its ")
             << kInstructionAttr << ", but this one of class " << getName()
             << " does not: " << (whyNotNamed.empty() ? "only contractions have instructions" : whyNotNamed)
             << "; run --ad-choose-instructions before --ad-fuse";
  return success();
}

GPUFuncOp GPUFunctions::define(StringRef suffix, TypeRange more) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<Type> types = functionArgumentTypes(kernel);
  llvm::append_range(types, more);
  auto function = GPUFuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + suffix).str(),
                                    builder.getFunctionType(types, {}));
  function->setAttr(::mlir::gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  return function;
}

void GPUFunctions::finish(GPUFuncOp function, const device::LaunchShape &shape,
                          const RegisterLimit &registers, StringRef className) {
  OpBuilder atEnd = OpBuilder::atBlockEnd(&function.getBody().back());
  ::mlir::gpu::ReturnOp::create(atEnd, kernel.getLoc());
  function->setAttr(kClassAttr, atEnd.getStringAttr(className));
  // Without a target occupancy ptxas may limit registers for more blocks per multiprocessor and spill, or
  // use all registers.
  if (registers.maxRegisters)
    function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(),
                      atEnd.getI32IntegerAttr(registers.maxRegisters));
  else
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      atEnd.getI32IntegerAttr(registers.minBlocksPerSM));
  assert(std::max<int64_t>(shape.persistentBlocks, 1) * shape.dynamicSharedBytes <= target.chip.sharedBytes &&
         "blocks fit into shared memory");
  int64_t threads = shape.threadsPerBlock;
  LDBG() << "@" << function.getName() << ": " << threads << " threads per block, " << shape.dynamicSharedBytes
         << " bytes of dynamic shared memory";
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    atEnd.getDenseI32ArrayAttr({static_cast<int32_t>(threads)}));
  function.walk([&](::mlir::gpu::ThreadIdOp id) { id.setUpperBoundAttr(atEnd.getIndexAttr(threads)); });
  if (auto size = static_cast<int32_t>(shape.clusterSize); size > 1)
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), atEnd.getDenseI32ArrayAttr({size, 1, 1}));
  if (ArrayRef<TensorMapAttr> maps = shape.tensorMaps; !maps.empty())
    function->setAttr(kTensorMapsAttr, atEnd.getArrayAttr(SmallVector<Attribute>(maps.begin(), maps.end())));
}

static LaunchConfigAttr launchConfigOf(OpBuilder &builder, const device::LaunchShape &shape) {
  return LaunchConfigAttr::get(builder.getContext(), shape.level, shape.result, shape.axes, shape.gridSize,
                               shape.persistentBlocks, shape.clusterSize, shape.tile, shape.threadsPerBlock,
                               shape.dynamicSharedBytes, shape.elements, shape.threadsPerElement,
                               shape.tensorMaps);
}

func::FuncOp GPUFunctions::declare(StringRef name, FunctionType type, const device::LaunchShape &shape) {
  OpBuilder builder(kernel);
  auto declaration = func::FuncOp::create(builder, kernel.getLoc(), name, type);
  declaration.setPrivate();
  declaration->setAttr(kLaunchConfigAttr, launchConfigOf(builder, shape));
  return declaration;
}

// The launch keeps the symbol that it names.
func::FuncOp GPUFunctions::declare(GPUFuncOp function, const device::LaunchShape &shape) {
  return declare(function.getName(), function.getFunctionType(), shape);
}

func::FuncOp GPUFunctions::declareDivided(const device::LaunchShape &shape) {
  return declare(kernel.getSymName(),
                 FunctionType::get(kernel.getContext(), functionArgumentTypes(kernel), {}), shape);
}
