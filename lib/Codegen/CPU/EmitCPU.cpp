// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass `ad-emit-cpu`: a function for each kernel.

#include "CPUKernelEmitter.h"
#include "adjoint/Codegen/Kernel/NormalizeKernel.h"
#include "adjoint/Codegen/Passes.h"
#include "adjoint/Dialect/AD/Transforms/Stages.h"
#include "adjoint/Support/NumericOption.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#define DEBUG_TYPE "ad-emit-cpu"

namespace mlir::ad {
#define GEN_PASS_DEF_EMITCPUPASS
#include "adjoint/Codegen/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class EmitCPUPass : public ad::impl::EmitCPUPassBase<EmitCPUPass> {
public:
  using EmitCPUPassBase::EmitCPUPassBase;

private:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<TileTable> table = findTiles(tiles, vectorWidth);
    if (!table) {
      emitError(module.getLoc(), "unknown table of tiles '") << tiles << "', expected large or small";
      return signalPassFailure();
    }
    if (failed(verifyVectorBytes(module, vectorWidth)) ||
        failed(requireStage(getOperation(), Stage::planned)))
      return signalPassFailure();
    for (KernelOp kernel : llvm::make_early_inc_range(module.getOps<KernelOp>())) {
      if (failed(normalizeKernel(kernel)))
        return signalPassFailure();
      func::FuncOp function = emitWork(kernel, "", cpu::CPUKernelEmitter::Work::all, *table);
      if (!function || failed(emitEstimate(kernel, function, *table)) ||
          failed(emitPartialReductions(kernel, function, *table)))
        return signalPassFailure();
      kernel.erase();
    }
  }

  cpu::CPUKernelEmitter emitterOf(KernelOp kernel, func::FuncOp function, const TileTable &table) {
    return cpu::CPUKernelEmitter(kernel, function, vectorWidth / kLaneBytes, table, dotProducts);
  }

  // Null after a diagnostic.
  func::FuncOp emitWork(KernelOp kernel, StringRef suffix, cpu::CPUKernelEmitter::Work work,
                        const TileTable &table) {
    Type index = IndexType::get(&getContext()), pointer = LLVM::LLVMPointerType::get(&getContext());
    SmallVector<Type> range = {index, index};
    if (work != cpu::CPUKernelEmitter::Work::all)
      range.insert(range.begin(), pointer);
    func::FuncOp function = declare(kernel, suffix, range, {});
    cpu::CPUKernelEmitter emitter = emitterOf(kernel, function, table);
    if (failed(emitter.emit(work)))
      return nullptr;
    std::optional<int64_t> known = emitter.distribution.knownNanoseconds();
    LDBG() << "@" << function.getSymName() << " takes about "
           << (known ? std::to_string(*known) : "an unknown number of") << " ns on one thread";
    if (known && work == cpu::CPUKernelEmitter::Work::all)
      function->setAttr(kNanosecondsAttr, OpBuilder(kernel).getI64IntegerAttr(*known));
    OpBuilder atEnd = OpBuilder::atBlockEnd(&function.getBody().back());
    func::ReturnOp::create(atEnd, kernel.getLoc());
    return function;
  }

  // If the sizes are dynamic, a function of them estimates the time of the kernel.
  LogicalResult emitEstimate(KernelOp kernel, func::FuncOp function, const TileTable &table) {
    if (function->hasAttr(kNanosecondsAttr))
      return success();
    func::FuncOp estimate = declare(kernel, kNanosecondsSuffix, {}, IndexType::get(&getContext()));
    return emitterOf(kernel, estimate, table).emitNanoseconds();
  }

  LogicalResult emitPartialReductions(KernelOp kernel, func::FuncOp function, const TileTable &table) {
    Type index = IndexType::get(&getContext());
    func::FuncOp sizes = declare(kernel, kPartialSizesSuffix, {}, {index, index});
    cpu::CPUKernelEmitter emitter = emitterOf(kernel, sizes, table);
    FailureOr<int64_t> threads = emitter.emitSizesOfPartialReductions();
    if (failed(threads))
      return failure();
    if (*threads == 0) {
      sizes.erase();
      return success();
    }
    LDBG() << "@" << kernel.getSymName() << " computes partial results from " << *threads << " threads on";
    function->setAttr(kPartialReductionsAttr, OpBuilder(kernel).getI64IntegerAttr(*threads));
    return success(emitWork(kernel, kPartialSuffix, cpu::CPUKernelEmitter::Work::partial, table) &&
                   emitWork(kernel, kMergeSuffix, cpu::CPUKernelEmitter::Work::merge, table));
  }

  // Per tensor a pointer and its dynamic sizes, scalars as they are; the same for the results; then `more`.
  static func::FuncOp declare(KernelOp kernel, StringRef suffix, TypeRange more, TypeRange results) {
    OpBuilder builder(kernel);
    Type index = builder.getIndexType(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
    SmallVector<Type> types;
    auto add = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      types.push_back(tensor ? pointer : type);
      if (tensor)
        types.append(tensor.getNumDynamicDims(), index);
    };
    llvm::for_each(kernel.getArgumentTypes(), add);
    llvm::for_each(kernel.getResultTypes(), add);
    llvm::append_range(types, more);
    auto function = func::FuncOp::create(builder, kernel.getLoc(), (kernel.getSymName() + suffix).str(),
                                         builder.getFunctionType(types, results));
    function.setPrivate();
    function.addEntryBlock();
    return function;
  }
};
} // namespace
