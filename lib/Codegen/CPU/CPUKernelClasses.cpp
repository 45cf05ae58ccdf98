// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The kernel classes for CPUs. CPUKernelEmitter makes the code of all of them.

#include "CPUKernelEmitter.h"
#include "Movement/SortKernel.h"
#include "adjoint/Codegen/Kernel/CPUKernelClass.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Dialect/AD/Transforms/ClusterKinds.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-emit-cpu"

using namespace mlir;
using namespace mlir::ad;
using cpu::CPUKernelEmitter;

namespace {
using Work = CPUKernelEmitter::Work;

/// The functions of one kernel.
class Functions {
public:
  Functions(KernelOp kernel, const CPUTarget &target) : kernel(kernel), target(target) {}

  LogicalResult emit() {
    function = emitWork("", Work::all);
    return success(function && succeeded(emitEstimate()) && succeeded(emitPartialReductions()));
  }

private:
  CPUKernelEmitter emitterOf(func::FuncOp emitted) {
    return CPUKernelEmitter(kernel, emitted, target.lanes, target.tiles, target.dotProducts);
  }

  // Null after a diagnostic.
  func::FuncOp emitWork(StringRef suffix, Work work) {
    SmallVector<Type> range = {index, index};
    if (work != Work::all)
      range.insert(range.begin(), LLVM::LLVMPointerType::get(kernel.getContext()));
    func::FuncOp emitted = defineHostFunction(kernel, suffix, range, {});
    CPUKernelEmitter emitter = emitterOf(emitted);
    if (failed(emitter.emit(work)))
      return nullptr;
    std::optional<int64_t> known = emitter.knownNanoseconds();
    LDBG() << "@" << emitted.getSymName() << " takes about "
           << (known ? std::to_string(*known) : "an unknown number of") << " ns on one thread";
    if (known && work == Work::all)
      emitted->setAttr(kNanosecondsAttr, OpBuilder(kernel).getI64IntegerAttr(*known));
    OpBuilder atEnd = OpBuilder::atBlockEnd(&emitted.getBody().back());
    func::ReturnOp::create(atEnd, kernel.getLoc());
    return emitted;
  }

  // If the sizes are dynamic, a function of them estimates the time of the kernel.
  LogicalResult emitEstimate() {
    if (function->hasAttr(kNanosecondsAttr))
      return success();
    return emitterOf(defineHostFunction(kernel, kNanosecondsSuffix, {}, index)).emitNanoseconds();
  }

  LogicalResult emitPartialReductions() {
    func::FuncOp sizes = defineHostFunction(kernel, kPartialSizesSuffix, {}, {index, index});
    FailureOr<int64_t> threads = emitterOf(sizes).emitSizesOfPartialReductions();
    if (failed(threads))
      return failure();
    if (*threads == 0) {
      sizes.erase();
      return success();
    }
    LDBG() << "@" << kernel.getSymName() << " computes partial results from " << *threads << " threads on";
    function->setAttr(kPartialReductionsAttr, OpBuilder(kernel).getI64IntegerAttr(*threads));
    return success(emitWork(kPartialSuffix, Work::partial) && emitWork(kMergeSuffix, Work::merge));
  }

  KernelOp kernel;
  const CPUTarget &target;
  Type index = IndexType::get(kernel.getContext());
  func::FuncOp function;
};

struct CPUPlan : KernelPlan {
  explicit CPUPlan(int64_t lanes) : lanes(lanes) {}
  SmallVector<Fact> facts() const override { return {{"lanes", std::to_string(lanes)}}; }
  int64_t lanes; // of a vector
};

class CPUEmitterClass : public CPUKernelClass {
public:
  using Predicate = bool (*)(FusionOp);
  CPUEmitterClass(StringRef name, unsigned benefit, Predicate predicate)
      : CPUKernelClass(name, benefit), predicate(predicate) {}

  bool covers(FusionOp fusion) const override { return predicate(fusion); }
  std::unique_ptr<KernelPlan> matchOnCPU(KernelOp, const CPUTarget &target, std::string &) const override {
    return std::make_unique<CPUPlan>(target.lanes);
  }
  bool readsBeforeStoring() const override { return true; }
  LogicalResult emit(KernelOp kernel, const KernelPlan &, const CPUTarget &target) const override {
    return Functions(kernel, target).emit();
  }

private:
  Predicate predicate;
};

struct CPUElementwiseClass : CPUEmitterClass {
  CPUElementwiseClass() : CPUEmitterClass(kElementwiseClass, /*benefit=*/4, isElementwiseCluster) {}
};
struct CPURowClass : CPUEmitterClass {
  CPURowClass() : CPUEmitterClass(kRowClass, /*benefit=*/3, isRowCluster) {}
};
struct CPUContractionClass : CPUEmitterClass {
  CPUContractionClass() : CPUEmitterClass(kContractionClass, /*benefit=*/2, isContractionCluster) {}
};
struct CPUTranspositionClass : CPUEmitterClass {
  CPUTranspositionClass() : CPUEmitterClass(kTranspositionClass, /*benefit=*/1, isTransposition) {}
};
struct CPUScanClass : CPUEmitterClass {
  CPUScanClass() : CPUEmitterClass(kScanClass, /*benefit=*/1, isScan) {}
};
struct CPUScatterClass : CPUEmitterClass {
  CPUScatterClass() : CPUEmitterClass(kScatterClass, /*benefit=*/1, isScatter) {}
};
/// Code of the runtime.
struct CPUSortClass : CPUKernelClass {
  CPUSortClass() : CPUKernelClass(kSortClass, /*benefit=*/5) {}
  bool covers(FusionOp fusion) const override { return isSort(fusion); }
  std::unique_ptr<KernelPlan> matchOnCPU(KernelOp, const CPUTarget &, std::string &) const override {
    return std::make_unique<KernelPlan>();
  }
  LogicalResult emit(KernelOp kernel, const KernelPlan &, const CPUTarget &) const override {
    cpu::emitSort(kernel);
    return success();
  }
};
struct CPUGenericClass : CPUEmitterClass {
  CPUGenericClass() : CPUEmitterClass(kGenericClass, /*benefit=*/0, [](FusionOp) { return true; }) {}
};
} // namespace

void ad::registerCPUKernelClasses(DialectRegistry &registry) {
  registerKernelClass<CPUContractionClass>(registry);
  registerKernelClass<CPUElementwiseClass>(registry);
  registerKernelClass<CPUGenericClass>(registry);
  registerKernelClass<CPURowClass>(registry);
  registerKernelClass<CPUScanClass>(registry);
  registerKernelClass<CPUScatterClass>(registry);
  registerKernelClass<CPUSortClass>(registry);
  registerKernelClass<CPUTranspositionClass>(registry);
}
