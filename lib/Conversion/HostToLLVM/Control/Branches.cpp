// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Branches of the host program.

#include "ControlFlow.h"

using namespace mlir;
using namespace mlir::ad::host;

// What each side of the lowered branch yields: scalars, and addresses and sizes of tensors of dynamic shape.
static SmallVector<Type> yieldedTypes(scf::IfOp branch, Type pointerType) {
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      types.push_back(type);
    else if (!tensor.hasStaticShape()) {
      types.push_back(pointerType);
      types.append(tensor.getNumDynamicDims(), IndexType::get(type.getContext()));
    }
  }
  return types;
}

// Copies the yielded tensors of a side into the buffers of the results; returns the values that the lowered
// side yields.
SmallVector<Value> Branches::yieldSide(scf::IfOp branch, ValueRange yielded) {
  SmallVector<Value> lowered;
  for (auto [i, value, result] : llvm::enumerate(yielded, branch.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      lowered.push_back(values.scalar(value));
      continue;
    }
    HostTensor source = values.tensor(value);
    if (type.hasStaticShape()) {
      copies.copy(values.tensor(result), source);
      continue;
    }
    // A second request for the memory of a result may move it.
    int64_t buffer = buffers.plan.bufferOf(branch->getResult(i));
    HostTensor target = source.buffer == buffer ? source : buffers.tensorIn(buffer, type, source.sizes);
    copies.copy(target, source);
    lowered.push_back(target.pointer);
    for (auto [axis, size] : llvm::enumerate(source.sizes))
      if (type.isDynamicDim(axis))
        lowered.push_back(size);
  }
  return lowered;
}

void Branches::bindResults(scf::IfOp branch, ValueRange lowered) {
  auto next = [&] {
    Value value = lowered.front();
    lowered = lowered.drop_front();
    return value;
  };
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      values.bindScalar(result, next());
    } else if (!type.hasStaticShape()) {
      HostTensor tensor{next(), {}, type, buffers.plan.bufferOf(branch->getResult(i))};
      ValueRange dynamic = lowered.take_front(type.getNumDynamicDims());
      tensor.sizes = values.sizesOf(type, dynamic);
      lowered = lowered.drop_front(dynamic.size());
      values.bind(result, tensor);
    }
  }
}

LogicalResult Branches::emit(scf::IfOp branch) {
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && type.hasStaticShape())
      values.bind(result, buffers.tensorIn(buffers.plan.bufferOf(branch->getResult(i)), type,
                                           values.sizesOf(type, {})));
  SmallVector<Type> types = yieldedTypes(branch, pointerType);
  auto lowered = scf::IfOp::create(builder, loc, types, values.scalar(branch.getCondition()),
                                   /*addThenBlock=*/true, /*addElseBlock=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), lowered->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard insertion(builder);
    // A branch that yields nothing already has its terminator.
    bool terminated = !to.front().empty();
    terminated ? builder.setInsertionPoint(&to.front().back()) : builder.setInsertionPointToEnd(&to.front());
    if (failed(blocks.emitBlock(from.front())))
      return failure();
    SmallVector<Value> yielded = yieldSide(branch, from.front().getTerminator()->getOperands());
    if (!terminated)
      scf::YieldOp::create(builder, branch.getLoc(), yielded);
  }
  bindResults(branch, lowered.getResults());
  return success();
}
