// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-emit-gpu`: a `gpu.func` for each kernel, and a declaration that tells the host program how to
// launch it. This file selects the emitter of the kernel's class.

#include "Contraction/ByteFloats.h"
#include "Contraction/ContractionEmitter.h"
#include "Elementwise/ElementwiseEmitter.h"
#include "Generic/PartialSizes.h"
#include "Row/RowEmitter.h"
#include "Transpose/TransposeEmitter.h"
#include "adjoint/Codegen/Kernel/KernelAttributes.h"
#include "adjoint/Codegen/Kernel/NormalizeKernel.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Codegen/Target/Chips.h"
#include "adjoint/Dialect/AD/IR/ADLaunchAttributes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-emit-gpu"

namespace mlir::ad {
#define GEN_PASS_DEF_EMITGPUPASS
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::codegen;
using ::mlir::gpu::GPUFuncOp;
using ::mlir::gpu::GPUModuleOp;

namespace {
class EmitGPUPass : public ad::impl::EmitGPUPassBase<EmitGPUPass> {
public:
  using EmitGPUPassBase::EmitGPUPassBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(requireStage(getOperation(), Stage::planned)))
      return signalPassFailure();
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    if (kernels.empty())
      return;
    target = findChip(chip);
    if (!target) {
      emitError(module.getLoc(), "unknown chip '") << chip << "', expected " << chipNames();
      return signalPassFailure();
    }
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto isTaken = [&](StringRef name) { return SymbolTable::lookupSymbolIn(module, name) != nullptr; };
    unsigned number = 0;
    SmallString<16> name(kKernelModule);
    if (isTaken(name))
      name = SymbolTable::generateSymbolName<16>(kKernelModule, isTaken, number);
    auto gpuModule = GPUModuleOp::create(builder, module.getLoc(), name);
    for (KernelOp kernel : kernels)
      if (failed(emit(kernel, gpuModule)))
        return signalPassFailure();
  }

  LogicalResult emit(KernelOp kernel, GPUModuleOp gpuModule) {
    if (failed(normalizeKernel(kernel)) || failed(refusePanels(kernel)) ||
        failed(refuseOtherInstructions(kernel)))
      return failure();
    if (target->ptxOfByteFloats.empty())
      device::widenByteFloats(kernel);
    FailureOr<func::FuncOp> declared = emitDivided(kernel, gpuModule);
    if (succeeded(declared) && !*declared)
      declared = emitWhole(kernel, gpuModule);
    if (failed(declared))
      return failure();
    kernel.erase();
    return success();
  }

  FailureOr<func::FuncOp> emitWhole(KernelOp kernel, GPUModuleOp gpuModule) {
    GPUFuncOp function = defineIn(gpuModule, kernel);
    std::unique_ptr<device::GPUKernelEmitter> emitter = emitterFor(kernel, function);
    if (!emitter || failed(emitter->emit()))
      return failure();
    finish(kernel, function, *emitter);
    return declare(kernel, function, emitter->launchShape);
  }

  // The functions of a kernel with divided reductions. Null when no reduction is divided, or if the sizes
  // depend on elements of operands.
  FailureOr<func::FuncOp> emitDivided(KernelOp kernel, GPUModuleOp gpuModule) {
    std::optional<device::Rows> rows = rowsOf(kernel);
    std::optional<device::Division> division = divisionOf(kernel, rows);
    if (!division)
      return func::FuncOp();
    GPUFuncOp partial = defineIn(gpuModule, kernel, kPartialSuffix);
    std::unique_ptr<device::GPUKernelEmitter> nodes = nodeEmitter(kernel, partial, rows);
    if (failed(nodes->emitDivided(*division, KernelEmitter::Work::partial)))
      return failure();
    finish(kernel, partial, *nodes);
    FailureOr<bool> known = emitNodeSizes(kernel, *division, nodes->launchShape.threadsPerElement);
    if (failed(known))
      return failure();
    if (!*known) {
      partial.erase();
      return func::FuncOp();
    }
    declare(kernel, partial, nodes->launchShape);
    GPUFuncOp merge = defineIn(gpuModule, kernel, kMergeSuffix);
    device::GPUKernelEmitter join(kernel, merge);
    if (failed(join.emitDivided(*division, KernelEmitter::Work::merge)))
      return failure();
    finish(kernel, merge, join);
    declare(kernel, merge, join.launchShape);
    for (GPUFuncOp function : {partial, merge})
      function->setAttr(kClassAttr, OpBuilder(kernel).getStringAttr("divided"));
    reportDivision(kernel, *division);
    FailureOr<func::FuncOp> whole =
        division->always ? declareDivided(kernel, join.launchShape) : emitWhole(kernel, gpuModule);
    if (succeeded(whole))
      (*whole)->setAttr(kPartialReductionsAttr,
                        OpBuilder(kernel).getStringAttr(division->always ? "always" : "sizes"));
    return whole;
  }

  static FailureOr<bool> emitNodeSizes(KernelOp kernel, const device::Division &division,
                                       int64_t threadsPerNode) {
    OpBuilder builder(kernel);
    Type index = builder.getIndexType();
    SmallVector<Type> types = argumentTypes(kernel);
    types.push_back(index);
    auto sizes =
        func::FuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + kPartialSizesSuffix).str(),
                             builder.getFunctionType(types, {index, index, index}));
    sizes.setPrivate();
    sizes.addEntryBlock();
    FailureOr<bool> known = device::PartialSizes(kernel, sizes, division).emitSizes(threadsPerNode);
    if (failed(known) || !*known)
      sizes.erase();
    return known;
  }

  static std::unique_ptr<device::GPUKernelEmitter> nodeEmitter(KernelOp kernel, GPUFuncOp function,
                                                               std::optional<device::Rows> rows) {
    if (rows)
      return std::make_unique<device::RowEmitter>(kernel, function, *rows, /*maxSharedBytes=*/0);
    return std::make_unique<device::GPUKernelEmitter>(kernel, function);
  }

  // The rows of a kernel that the emitter of class row covers.
  static std::optional<device::Rows> rowsOf(KernelOp kernel) {
    std::string reason;
    return kernel.getKernelClass() == KernelClass::row ? device::matchRows(kernel, reason) : std::nullopt;
  }

  // Contractions have enough tiles for all multiprocessors, or their K is split before.
  static std::optional<device::Division> divisionOf(KernelOp kernel, std::optional<device::Rows> rows) {
    std::string reason;
    if (kernel.getKernelClass() == KernelClass::contraction && device::matchContraction(kernel, reason))
      return std::nullopt;
    return device::matchDivision(kernel, rows && device::usesBlockPerRow(kernel, *rows));
  }

  // Attributes for ptxas and for the launch.
  void finish(KernelOp kernel, GPUFuncOp function, const device::GPUKernelEmitter &emitter) {
    OpBuilder atEnd = OpBuilder::atBlockEnd(&function.getBody().back());
    ::mlir::gpu::ReturnOp::create(atEnd, kernel.getLoc());
    // Without a target occupancy ptxas may limit registers for more blocks per multiprocessor and spill, or
    // use all registers.
    if (int64_t maxRegisters = emitter.maxRegisters())
      function->setAttr(NVVM::NVVMDialect::getMaxnregAttrName(), atEnd.getI32IntegerAttr(maxRegisters));
    else
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        atEnd.getI32IntegerAttr(emitter.minBlocksPerSM()));
    const device::LaunchShape &shape = emitter.launchShape;
    assert(std::max<int64_t>(shape.persistentBlocks, 1) * shape.dynamicSharedBytes <= target->sharedBytes &&
           "blocks fit into shared memory");
    int64_t threads = shape.threadsPerBlock;
    LDBG() << "@" << function.getName() << ": " << threads << " threads per block, "
           << shape.dynamicSharedBytes << " bytes of dynamic shared memory";
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                      atEnd.getDenseI32ArrayAttr({static_cast<int32_t>(threads)}));
    function.walk([&](::mlir::gpu::ThreadIdOp id) { id.setUpperBoundAttr(atEnd.getIndexAttr(threads)); });
    if (auto size = static_cast<int32_t>(shape.clusterSize); size > 1)
      function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(), atEnd.getDenseI32ArrayAttr({size, 1, 1}));
    if (ArrayRef<TensorMapAttr> maps = shape.tensorMaps; !maps.empty())
      function->setAttr(kTensorMapsAttr,
                        atEnd.getArrayAttr(SmallVector<Attribute>(maps.begin(), maps.end())));
  }

  // The kernel of a contraction with a fixed instruction has to use it: anything else would have other bits.
  static LogicalResult refuseOtherInstructions(KernelOp kernel) {
    for (auto generic : kernel.getBody().getOps<linalg::GenericOp>()) {
      if (!device::fixedInstruction(generic))
        continue;
      std::string reason = "its class is not contraction";
      if (kernel.getKernelClass() == KernelClass::contraction)
        if (auto found = device::matchContraction(kernel, reason))
          reason = found->instruction == device::MathInstruction::MmaSync ? "" : "it multiplies other types";
      if (!reason.empty())
        return generic.emitOpError("expected a kernel that uses the instruction of ")
               << kMmaAttr << ", but this one cannot: " << reason
               << "; run --ad-choose-instructions before --ad-fuse";
    }
    return success();
  }

  // Operands are not packed before their kernels for GPUs.
  static LogicalResult refusePanels(KernelOp kernel) {
    for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
      for (OpOperand &init : generic.getDpsInitsMutable())
        if (llvm::any_of(generic.getMatchingIndexingMap(&init).getResults(),
                         [](AffineExpr expr) { return isa<AffineBinaryOpExpr>(expr); }))
          return generic.emitOpError(
              "expected a projected permutation as the map of a result, but got one that "
              "packs panels, which only the CPU has; write the result as it is");
    return success();
  }

  // The emitter of the kernel's class, or the one that covers every kernel; null after a diagnostic.
  std::unique_ptr<device::GPUKernelEmitter> emitterFor(KernelOp kernel, GPUFuncOp function) {
    StringRef wanted = stringifyKernelClass(kernel.getKernelClass());
    std::string reason = ("the GPU has no emitter for class " + wanted).str();
    if (kernel.getKernelClass() == KernelClass::generic)
      reason = "no other class covers it";
    if (kernel.getKernelClass() == KernelClass::contraction)
      if (std::optional<device::Contraction> contraction = device::matchContraction(kernel, reason))
        return contractionEmitter(kernel, function, *contraction);
    if (kernel.getKernelClass() == KernelClass::elementwise) {
      reportClass(kernel, function);
      return std::make_unique<device::ElementwiseEmitter>(kernel, function);
    }
    if (kernel.getKernelClass() == KernelClass::row)
      if (std::optional<device::Rows> rows = device::matchRows(kernel, reason)) {
        reportClass(kernel, function);
        return std::make_unique<device::RowEmitter>(kernel, function, *rows, target->sharedBytes);
      }
    if (kernel.getKernelClass() == KernelClass::transposition)
      if (std::optional<device::Transposition> moved = device::matchTransposition(kernel, reason)) {
        reportClass(kernel, function);
        return std::make_unique<device::TransposeEmitter>(kernel, function, *moved);
      }
    reportGeneric(kernel, function, reason);
    if (canVectorize(kernel))
      return std::make_unique<device::ElementwiseEmitter>(kernel, function);
    return std::make_unique<device::GPUKernelEmitter>(kernel, function);
  }

  // Kernels without reductions, such as copies and insertions, can compute contiguous elements in a thread.
  static bool canVectorize(KernelOp kernel) {
    return llvm::none_of(kernel.getBody().getOps<linalg::GenericOp>(), reduces) &&
           llvm::all_of(kernel.getBody().getOps<tensor::InsertSliceOp>(), insertsVectors);
  }

  // Whether the slice begins and ends at multiples of the longest vector.
  static bool insertsVectors(tensor::InsertSliceOp insert) {
    RankedTensorType source = insert.getSourceType();
    int64_t axis = device::contiguousAxis(insert.getDestType().getShape());
    if (axis < 0 || source.getRank() != insert.getDestType().getRank())
      return false;
    int64_t length = device::kAccessBytes / memoryBytes(source.getElementType());
    std::optional<int64_t> offset = getConstantIntValue(insert.getMixedOffsets()[axis]);
    return offset && *offset % length == 0 && !source.isDynamicDim(axis) &&
           source.getDimSize(axis) % length == 0 && getConstantIntValue(insert.getMixedStrides()[axis]) == 1;
  }

  std::unique_ptr<device::GPUKernelEmitter> contractionEmitter(KernelOp kernel, GPUFuncOp function,
                                                               device::Contraction contraction) {
    // Nothing proves that wgmma adds like mma.sync, and the layout of operands would decide which of the two.
    if (contraction.instruction == device::MathInstruction::MmaSync && target->hasWgmma &&
        !device::fixedInstruction(contraction.op)) {
      std::string reason = device::whyNoWgmma(contraction);
      if (reason.empty())
        contraction.instruction = device::MathInstruction::Wgmma;
      else
        remark::missed(kernel.getLoc(), remark::RemarkOpts::name("wgmma").category("ad-gpu"))
            << remark::metric("kernel", kernel.getSymName()) << remark::metric("reason", reason);
    }
    std::string instruction = device::promotionStep(contraction.op) != 0
                                  ? device::describePromoted(contraction)
                                  : device::nameOf(contraction.instruction).str();
    reportClass(kernel, function) << remark::metric("instruction", instruction);
    std::optional<device::ContractionTile> found = device::chooseTile(contraction, tile);
    if (!found) {
      refuseTile(kernel, contraction);
      return nullptr;
    }
    return std::make_unique<device::ContractionEmitter>(kernel, function, contraction, *found);
  }

  void refuseTile(KernelOp kernel, const device::Contraction &contraction) {
    SmallVector<std::string> names;
    for (const device::ContractionTile &known : device::tilesFor(contraction))
      names.push_back(known.name());
    kernel.emitOpError("unknown tile '") << tile << "' for " << device::nameOf(contraction.instruction)
                                         << ", expected " << llvm::join(names, " or ");
  }

  // `ad.class` of the function names the class for profiles of a run.
  static remark::detail::InFlightRemark reportClass(KernelOp kernel, GPUFuncOp function) {
    StringRef name = stringifyKernelClass(kernel.getKernelClass());
    LDBG() << "@" << kernel.getSymName() << " has class " << name;
    function->setAttr(kClassAttr, StringAttr::get(kernel.getContext(), name));
    // A remark keeps no copy of its name.
    auto title = StringAttr::get(kernel.getContext(), name + "-class");
    auto report = remark::passed(kernel.getLoc(), remark::RemarkOpts::name(title).category("ad-gpu"));
    report << remark::metric("kernel", kernel.getSymName());
    return report;
  }

  static void reportDivision(KernelOp kernel, const device::Division &division) {
    remark::passed(kernel.getLoc(), remark::RemarkOpts::name("divided-reduction").category("ad-gpu"))
        << remark::metric("kernel", kernel.getSymName())
        << remark::metric("divided", division.always ? "always" : "by its sizes");
  }

  static void reportGeneric(KernelOp kernel, GPUFuncOp function, StringRef reason) {
    StringRef name = stringifyKernelClass(KernelClass::generic);
    LDBG() << "@" << kernel.getSymName() << " has class generic: " << reason;
    function->setAttr(kClassAttr, StringAttr::get(kernel.getContext(), name));
    remark::missed(kernel.getLoc(), remark::RemarkOpts::name("generic-class").category("ad-gpu"))
        << remark::metric("kernel", kernel.getSymName()) << remark::metric("reason", reason);
  }

  // Per tensor a pointer and its dynamic sizes, scalars as they are; then the same for each result.
  static SmallVector<Type> argumentTypes(KernelOp kernel) {
    Type index = IndexType::get(kernel.getContext()),
         pointer = LLVM::LLVMPointerType::get(kernel.getContext());
    SmallVector<Type> types;
    for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      types.push_back(tensor ? pointer : type);
      if (tensor)
        types.append(tensor.getNumDynamicDims(), index);
    }
    return types;
  }

  // A function of a divided kernel has a suffix, and the memory of the nodes and their leaves as arguments.
  static GPUFuncOp defineIn(GPUModuleOp gpuModule, KernelOp kernel, StringRef suffix = "") {
    OpBuilder builder = OpBuilder::atBlockEnd(gpuModule.getBody());
    SmallVector<Type> types = argumentTypes(kernel);
    if (!suffix.empty())
      types.append({LLVM::LLVMPointerType::get(kernel.getContext()), builder.getIndexType()});
    auto function = GPUFuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + suffix).str(),
                                      builder.getFunctionType(types, {}));
    function->setAttr(::mlir::gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    return function;
  }

  // What the host program has to know; the launch keeps the symbol that it names.
  static func::FuncOp declare(KernelOp kernel, GPUFuncOp function, const device::LaunchShape &shape) {
    return declare(kernel, function.getName(), function.getFunctionType(), shape);
  }

  // The declaration of a kernel without an undivided function: the host launches the functions of its parts.
  static func::FuncOp declareDivided(KernelOp kernel, const device::LaunchShape &shape) {
    return declare(kernel, kernel.getSymName(),
                   FunctionType::get(kernel.getContext(), argumentTypes(kernel), {}), shape);
  }

  static LaunchConfigAttr launchConfigOf(OpBuilder &builder, const device::LaunchShape &shape) {
    return LaunchConfigAttr::get(builder.getContext(), shape.level, shape.result, shape.axes, shape.gridSize,
                                 shape.persistentBlocks, shape.clusterSize, shape.tile, shape.threadsPerBlock,
                                 shape.dynamicSharedBytes, shape.elements, shape.threadsPerElement,
                                 shape.tensorMaps);
  }

  static func::FuncOp declare(KernelOp kernel, StringRef name, FunctionType type,
                              const device::LaunchShape &shape) {
    OpBuilder builder(kernel);
    auto declaration = func::FuncOp::create(builder, kernel.getLoc(), name, type);
    declaration.setPrivate();
    declaration->setAttr(kLaunchConfigAttr, launchConfigOf(builder, shape));
    return declaration;
  }

  std::optional<Chip> target; // of the option
};
} // namespace
