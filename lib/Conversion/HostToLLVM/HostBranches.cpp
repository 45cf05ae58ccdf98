// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Branches of the host program. A result of static shape has its place before the branch, into which both
// sides write. One of dynamic shape gets its place where its sizes are known: the branch gives its address
// and its sizes.

#include "HostEmitter.h"

using namespace mlir;
using namespace mlir::ad;

// What each side of the lowered branch yields: scalars, and what describes tensors of dynamic shape.
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

SmallVector<Value> HostEmitter::yieldOfBranch(scf::IfOp branch, ValueRange yielded) {
  SmallVector<Value> given;
  for (auto [i, value, result] : llvm::enumerate(yielded, branch.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      given.push_back(scalars.lookupOrDefault(value));
      continue;
    }
    const HostTensor source = tensors.lookup(value);
    if (type.hasStaticShape()) {
      copy(tensors.lookup(result), source);
      continue;
    }
    HostTensor target = place(type, source.sizes, bufferNumber(branch, i));
    copy(target, source);
    given.push_back(target.pointer);
    for (auto [axis, size] : llvm::enumerate(source.sizes))
      if (type.isDynamicDim(axis))
        given.push_back(size);
  }
  return given;
}

void HostEmitter::bindResults(scf::IfOp branch, ValueRange given) {
  auto next = [&] {
    Value value = given.front();
    given = given.drop_front();
    return value;
  };
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type) {
      scalars.map(result, next());
    } else if (!type.hasStaticShape()) {
      HostTensor tensor{next(), {}, type, bufferNumber(branch, i)};
      ValueRange dynamic = given.take_front(type.getNumDynamicDims());
      tensor.sizes = sizesOf(type, dynamic);
      given = given.drop_front(dynamic.size());
      tensors[result] = tensor;
    }
  }
}

LogicalResult HostEmitter::emitIf(scf::IfOp branch) {
  for (auto [i, result] : llvm::enumerate(branch.getResults()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && type.hasStaticShape())
      tensors[result] = place(type, sizesOf(type, {}), bufferNumber(branch, i));
  SmallVector<Type> types = yieldedTypes(branch, pointerType);
  auto lowered = scf::IfOp::create(builder, loc, types, scalars.lookupOrDefault(branch.getCondition()),
                                   /*addThenBlock=*/true, /*addElseBlock=*/!branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), lowered->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard insertion(builder);
    // A branch that yields nothing already has its terminator.
    bool terminated = !to.front().empty();
    terminated ? builder.setInsertionPoint(&to.front().back()) : builder.setInsertionPointToEnd(&to.front());
    if (failed(emitBlock(from.front())))
      return failure();
    SmallVector<Value> given = yieldOfBranch(branch, from.front().getTerminator()->getOperands());
    if (!terminated)
      scf::YieldOp::create(builder, branch.getLoc(), given);
  }
  bindResults(branch, lowered.getResults());
  return success();
}
