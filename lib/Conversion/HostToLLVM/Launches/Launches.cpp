// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of launches, and where they run.

#include "Launches.h"
#include "WorkEstimate.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::host;

// Per tensor a pointer and its dynamic sizes, scalars unchanged; then the same for each result.
SmallVector<Value> Launches::operandsOf(LaunchOp launch) {
  SmallVector<Value> operands;
  auto append = [&](const HostTensor &tensor) {
    operands.push_back(tensor.pointer);
    for (auto [size, value] : llvm::zip_equal(tensor.type.getShape(), tensor.sizes))
      if (ShapedType::isDynamic(size))
        operands.push_back(value);
  };
  for (Value input : launch.getInputs()) {
    if (isa<RankedTensorType>(input.getType()))
      append(values.tensor(input));
    else
      operands.push_back(values.scalar(input));
  }
  SmallVector<Value> dynamic = values.scalars(launch.getSizes());
  ValueRange rest = dynamic;
  auto tied = launch.getTied();
  for (OpResult result : launch->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes = values.sizesOf(type, rest.take_front(type.getNumDynamicDims()));
    rest = rest.drop_front(type.getNumDynamicDims());
    HostTensor tensor = buffers.tensorIn(buffers.plan.bufferOf(result), type, sizes);
    if (tied && (*tied)[result.getResultNumber()] >= 0)
      copies.copy(tensor, values.tensor(launch.getInputs()[(*tied)[result.getResultNumber()]]));
    append(tensor);
    values.bind(result, tensor);
  }
  return operands;
}

void Launches::emit(LaunchOp launch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(launch, launch.getKernelAttr());
  if (!options.device) // there, adrt_launch polls
    polls.pollBefore(workOf(launch));
  groups.flushBefore(launch);
  SmallVector<Value> operands = operandsOf(launch);
  if (options.device)
    onDevice.emit(launch, kernel, operands);
  else
    emitOnCPU(launch, kernel, std::move(operands));
}

void Launches::emitOnCPU(LaunchOp launch, func::FuncOp kernel, SmallVector<Value> operands) {
  Value number = options.profile ? i32(module.kernelNumber(kernel.getSymName())) : Value();
  if (options.profile)
    call("adrt_kernel_begin", nullptr, {context, number});
  CPULaunch prepared = onCPU.prepare(launch, kernel, std::move(operands));
  if (groups.accepts(prepared)) {
    groups.add(std::move(prepared));
  } else {
    groups.flush();
    onCPU.emit(prepared);
  }
  if (options.profile)
    call("adrt_kernel_end", nullptr, {context, number});
}
