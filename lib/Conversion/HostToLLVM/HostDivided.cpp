// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions that a grid of threads shares (decision 0018): a launch that writes the nodes of the order's
// tree to memory of the runtime, and one of the kernel that joins them. By sizes that only the run knows, the
// kernel is launched undivided.

#include "HostEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::ad;

void HostEmitter::launchDivided(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands) {
  auto withProcessors = llvm::to_vector(operands);
  withProcessors.push_back(processors);
  auto sizes = func::CallOp::create(builder, loc, companionOf(kernel, kPartialSizesSuffix), withProcessors);
  if (kernel->getAttrOfType<StringAttr>(kPartialReductionsAttr).getValue() == "always")
    return launchNodes(launch, kernel, operands, sizes.getResults());
  Value divides =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, sizes.getResult(0), indexConstant(0));
  auto branch = scf::IfOp::create(builder, loc, divides, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  launchNodes(launch, kernel, operands, sizes.getResults());
  builder.setInsertionPointToStart(branch.elseBlock());
  launchOnDevice(launch, kernel, operands);
}

// `sizes`: the leaves of a node, the bytes of all nodes and the threads that sum them. Their memory lies
// behind the pools of the plan; kernels that follow each other share it.
void HostEmitter::launchNodes(LaunchOp launch, func::FuncOp kernel, ArrayRef<Value> operands,
                              ValueRange sizes) {
  Value memory = call("adrt_buffer", pointerType, {context, i32(plan.pools.size()), toI64(sizes[1])});
  guardMemory(memory, loc);
  auto withNodes = llvm::to_vector(operands);
  withNodes.append({memory, sizes[0]});
  func::FuncOp partial = companionOf(kernel, kPartialSuffix);
  launchOnDevice(launch, partial, withNodes, gridOfThreads(launchConfigOf(partial), sizes[2]));
  launchOnDevice(launch, companionOf(kernel, kMergeSuffix), withNodes);
}
