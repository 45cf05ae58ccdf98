// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "EmitterClass.h"
#include "../Generic/GroupFunctions.h"
#include "../Generic/MergeRuns.h"
#include "../Generic/NarrowIndices.h"
#include "../Generic/ShareReciprocals.h"
#include "../Reduction/PartialSizes.h"
#include "adjoint/Codegen/Kernel/KernelFunctions.h"
#include "adjoint/Codegen/Kernel/WorkUnits.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;
using ::mlir::gpu::GPUFuncOp;

// Of the functions of a divided kernel, in profiles.
static constexpr StringLiteral kDividedClass = "divided";

LogicalResult EmitterClass::emit(GPUFunctions &functions, const KernelPlan &plan) const {
  FailureOr<func::FuncOp> declared = emitDivided(functions, plan);
  return succeeded(declared) && !*declared ? LogicalResult(emitWhole(functions, plan))
                                           : LogicalResult(declared);
}

static void finish(GPUFunctions &functions, GPUFuncOp function, const GPUKernelEmitter &emitter,
                   StringRef className) {
  if (emitter.groupsFunctions())
    groupFunctions(function);
  if (emitter.sharesReciprocals())
    shareReciprocals(function);
  functions.finish(function, emitter.launchShape, {emitter.minBlocksPerSM(), emitter.maxRegisters()},
                   className);
}

void EmitterClass::narrowIndices(KernelOp kernel, GPUFuncOp function) const {
  if (hasShortIndices() && hasNarrowIndices(kernel))
    device::narrowIndices(function);
}

FailureOr<func::FuncOp> EmitterClass::emitWhole(GPUFunctions &functions, const KernelPlan &plan) const {
  GPUFuncOp function = functions.define();
  SmallVector<Type> results(functions.kernel.getResultTypes());
  if (computesElements())
    mergeRuns(functions.kernel);
  Emitter emitter = emitterFor(functions, function, plan);
  if (!emitter || failed(emitter->emit()))
    return failure();
  LaunchShape &shape = emitter->launchShape;
  // The host counts elements of the results as the program has them.
  if (TypeRange(results) != TypeRange(functions.kernel.getResultTypes()))
    shape.axes = cast<RankedTensorType>(results[shape.result]).getRank();
  narrowIndices(functions.kernel, function);
  finish(functions, function, *emitter, getName());
  return functions.declare(function, emitter->launchShape);
}

FailureOr<bool> EmitterClass::emitSizes(KernelOp kernel, func::FuncOp host, const Division &division,
                                        int64_t threadsPerNode, const KernelPlan &) const {
  return PartialSizes(kernel, host, division).emitSizes(threadsPerNode);
}

static void reportDivision(KernelOp kernel, const Division &division) {
  remark::passed(kernel.getLoc(), remark::RemarkOpts::name("divided-reduction").category("ad-gpu"))
      << remark::metric("kernel", kernel.getSymName())
      << remark::metric("divided", division.always ? "always" : "by its sizes");
}

// The functions of a kernel with divided reductions. Null when no reduction is divided, or if the sizes
// depend on elements of operands.
FailureOr<func::FuncOp> EmitterClass::emitDivided(GPUFunctions &functions, const KernelPlan &plan) const {
  KernelOp kernel = functions.kernel;
  std::optional<Division> division = divisionOf(kernel, plan);
  if (!division)
    return func::FuncOp();
  OpBuilder builder(kernel);
  // The memory of the nodes, and the leaves of a node.
  Type more[] = {LLVM::LLVMPointerType::get(kernel.getContext()), builder.getIndexType()};
  GPUFuncOp partial = functions.define(kPartialSuffix, more);
  Emitter nodes = nodeEmitter(kernel, partial, plan);
  if (failed(nodes->emitDivided(*division, KernelContext::Work::partial)))
    return failure();
  narrowIndices(functions.kernel, partial);
  finish(functions, partial, *nodes, kDividedClass);
  Type index = builder.getIndexType();
  func::FuncOp sizes = defineHostFunction(kernel, kPartialSizesSuffix, index, {index, index, index});
  FailureOr<bool> known = emitSizes(kernel, sizes, *division, nodes->launchShape.threadsPerElement, plan);
  if (failed(known) || !*known)
    sizes.erase();
  if (failed(known))
    return failure();
  if (!*known) {
    partial.erase();
    return func::FuncOp();
  }
  functions.declare(partial, nodes->launchShape);
  GPUFuncOp merge = functions.define(kMergeSuffix, more);
  Emitter join = joinEmitter(kernel, merge, plan);
  if (failed(join->emitDivided(*division, KernelContext::Work::merge)))
    return failure();
  finish(functions, merge, *join, kDividedClass);
  functions.declare(merge, join->launchShape);
  reportDivision(kernel, *division);
  FailureOr<func::FuncOp> whole =
      division->always ? functions.declareDivided(join->launchShape) : emitWhole(functions, plan);
  if (succeeded(whole))
    (*whole)->setAttr(kPartialReductionsAttr, builder.getStringAttr(division->always ? "always" : "sizes"));
  return whole;
}
