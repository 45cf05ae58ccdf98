// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Host control flow and the operations that call the runtime.

#include "HostEmitter.h"
#include "adjoint/Dialect/Check/IR/CheckOps.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

int32_t HostEmitter::elementNumber(Type element) {
  return static_cast<int32_t>(*numerics::elementTypeOf(element)); // numbered like adrt_type
}

Value HostEmitter::shapeArray(const HostTensor &tensor) {
  Value shape = stackSlot(builder.getI64Type(), tensor.type.getRank());
  for (auto [axis, size] : llvm::enumerate(tensor.sizes)) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, builder.getI64Type(), shape,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(axis)});
    LLVM::StoreOp::create(builder, loc, toI64(size), address);
  }
  return shape;
}

void HostEmitter::describeInto(Value slot, const HostTensor &tensor) {
  Value fields[] = {tensor.pointer, shapeArray(tensor), i32(tensor.type.getRank()),
                    i32(elementNumber(tensor.type.getElementType()))};
  for (auto [i, value] : llvm::enumerate(fields)) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, tensorType, slot,
                                        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, value, address);
  }
}

Value HostEmitter::describe(ArrayRef<HostTensor> described) {
  Value array = stackSlot(tensorType, described.size());
  for (auto [i, tensor] : llvm::enumerate(described)) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointerType, tensorType, array,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    describeInto(slot, tensor);
  }
  return array;
}

void HostEmitter::emitFeed(FeedOp feed) {
  SmallVector<Value> dynamic;
  for (Value size : feed.getSizes())
    dynamic.push_back(scalars.lookupOrDefault(size));
  auto type = cast<RankedTensorType>(feed.getResult().getType());
  HostTensor tensor = place(type, sizesOf(type, dynamic), bufferNumber(feed, 0));
  guard(call("adrt_feed", builder.getI32Type(),
             {context, shared.site(builder, loc, "ad.feed"), shared.string(builder, loc, feed.getName()),
              describe(tensor)}));
  tensors[feed.getResult()] = tensor;
}

void HostEmitter::emitReceive(ReceiveOp receive) {
  SmallVector<HostTensor> values;
  for (Value input : receive.getInputs())
    values.push_back(tensors.lookup(input));
  guard(call("adrt_receive", builder.getI32Type(),
             {context, shared.site(builder, loc, "ad.receive"),
              shared.string(builder, loc, receive.getName()), describe(values), i32(values.size())}));
}

void HostEmitter::emitCheck(Operation *op) {
  int32_t kind = ADRT_CHECK_EQUAL;
  double tolerance = 0;
  bool relative = false;
  if (auto almost = dyn_cast<check::ExpectAlmostEqOp>(op)) {
    kind = ADRT_CHECK_ALMOST_EQUAL;
    tolerance = almost.getTolerance().convertToDouble();
    relative = almost.getRelative();
  } else if (isa<check::ExpectFiniteOp>(op)) {
    kind = ADRT_CHECK_FINITE;
  }
  Value actual = describe(tensors.lookup(op->getOperand(0)));
  Value expected = describe(tensors.lookup(op->getOperands().back()));
  Value bound = arith::ConstantFloatOp::create(builder, loc, builder.getF64Type(), APFloat(tolerance));
  guard(call("adrt_check", builder.getI32Type(),
             {context, shared.site(builder, loc, op->getName().getStringRef()), i32(kind), bound,
              i32(relative), actual, expected}));
}

void HostEmitter::emitRequire(RequireOp require) {
  Value holds = scalars.lookupOrDefault(require.getCondition());
  auto branch = scf::IfOp::create(builder, loc, builder.getI32Type(), holds, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  scf::YieldOp::create(builder, loc, i32(ADRT_OK));
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  Value values = stackSlot(builder.getI64Type(), require.getValues().size());
  for (auto [i, value] : llvm::enumerate(require.getValues())) {
    Value address = LLVM::GEPOp::create(builder, loc, pointerType, builder.getI64Type(), values,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(builder, loc, toI64(scalars.lookupOrDefault(value)), address);
  }
  Value status = call("adrt_fail", builder.getI32Type(),
                      {context, shared.site(builder, loc, require.getAsker()), i32(require.getKind()), values,
                       i32(require.getValues().size())});
  scf::YieldOp::create(builder, loc, status);
  builder.setInsertionPointAfter(branch);
  guard(branch.getResult(0));
}

// Places for tensors that have the sizes of others: carries of a loop, results of a branch.
HostEmitter::HostTensor HostEmitter::withPlaceOf(RankedTensorType type, const HostTensor &like,
                                                 int64_t buffer) {
  return place(type, like.sizes, buffer);
}

// The place of a tensor that a loop carries, with what the loop starts with.
HostEmitter::HostTensor HostEmitter::placeCarry(Value argument, Value init, int64_t buffer) {
  const HostTensor source = tensors.lookup(init);
  HostTensor carry = withPlaceOf(cast<RankedTensorType>(argument.getType()), source, buffer);
  copy(carry, source);
  tensors[argument] = carry;
  return carry;
}

void HostEmitter::yieldTensors(ValueRange yielded, ArrayRef<HostTensor> targets, ArrayRef<int64_t> swaps) {
  SmallVector<HostTensor> sources;
  size_t next = 0;
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    HostTensor source = tensors.lookup(value);
    const HostTensor &target = targets[next++];
    for (auto [axis, before, after] : llvm::enumerate(target.sizes, source.sizes))
      if (target.type.isDynamicDim(axis) && before != after)
        requireSameCarry(i, axis, before, after);
    if (!swaps.empty() && swaps[i] >= 0) {
      HostTensor temporary = place(source.type, source.sizes, swaps[i]);
      copy(temporary, source);
      source = temporary;
    }
    sources.push_back(source);
  }
  for (auto [target, source] : llvm::zip_equal(targets, sources))
    copy(target, source);
}

void HostEmitter::requireSameCarry(int64_t carry, int64_t axis, Value before, Value after) {
  Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, before, after);
  OpBuilder::InsertionGuard insertion(builder);
  auto require =
      RequireOp::create(builder, loc, ADRT_FAIL_CARRY, same,
                        ValueRange{indexConstant(carry), indexConstant(axis), before, after}, "scf.for");
  emitRequire(require);
  require.erase();
}

static SmallVector<Value> nonTensors(ValueRange values) {
  SmallVector<Value> kept;
  for (Value value : values)
    if (!isa<RankedTensorType>(value.getType()))
      kept.push_back(value);
  return kept;
}

SmallVector<Value> HostEmitter::loweredScalars(ValueRange values) {
  return llvm::map_to_vector(nonTensors(values), [&](Value value) { return scalars.lookupOrDefault(value); });
}

void HostEmitter::bindScalars(ValueRange values, ValueRange lowered) {
  for (auto [old, fresh] : llvm::zip_equal(nonTensors(values), lowered))
    scalars.map(old, fresh);
}

// The condition gets what the loop starts with, and then what the body yields.
SmallVector<HostEmitter::HostTensor> HostEmitter::placeConditionArguments(scf::WhileOp loop) {
  auto buffers = loop->getAttrOfType<DenseI64ArrayAttr>("ad.buffer_before");
  SmallVector<HostTensor> arguments;
  for (auto [i, init, argument] : llvm::enumerate(loop.getInits(), loop.getBeforeArguments()))
    if (isa<RankedTensorType>(argument.getType()))
      arguments.push_back(placeCarry(argument, init, buffers[i]));
  return arguments;
}

// The condition yields to the body and to the results alike.
FailureOr<SmallVector<HostEmitter::HostTensor>> HostEmitter::placeResults(scf::WhileOp loop) {
  SmallVector<HostTensor> results;
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
      if (!type.hasStaticShape())
        return loop.emitOpError("carries a tensor of dynamic shape; use scf.for, or a static shape");
      results.push_back(place(type, sizesOf(type, {}), bufferNumber(loop, i)));
      tensors[result] = results.back();
      tensors[loop.getAfterArguments()[i]] = results.back();
    }
  return results;
}

LogicalResult HostEmitter::emitWhile(scf::WhileOp loop) {
  reportTurns(loop);
  SmallVector<HostTensor> arguments = placeConditionArguments(loop);
  FailureOr<SmallVector<HostTensor>> results = placeResults(loop);
  if (failed(results))
    return failure();
  LogicalResult status = success();
  auto emitSide = [&](Block &side, ValueRange yielded, ArrayRef<HostTensor> targets) {
    if (failed(emitBlock(side)))
      status = failure();
    yieldTensors(yielded, targets, {});
    return loweredScalars(yielded);
  };
  // Where one iteration is little work, an iteration number is carried along.
  int64_t strip =
      llvm::bit_floor<uint64_t>(stripOf(workOf(*loop.getBeforeBody()) + workOf(*loop.getAfterBody())));
  bool counts = strip > 1;
  SmallVector<Value> inits = loweredScalars(loop.getInits());
  SmallVector<Type> types = llvm::to_vector(TypeRange(nonTensors(loop.getResults())));
  if (counts) {
    inits.push_back(i64(0));
    types.push_back(builder.getI64Type());
  }
  auto condition = loop.getConditionOp();
  auto lowered = scf::WhileOp::create(
      builder, loc, types, inits,
      [&](OpBuilder &, Location, ValueRange carried) {
        bindScalars(loop.getBeforeArguments(), carried.drop_back(counts));
        counts ? pollEvery(carried.back(), strip) : poll();
        SmallVector<Value> forwarded = emitSide(*loop.getBeforeBody(), condition.getArgs(), *results);
        if (counts)
          forwarded.push_back(carried.back());
        scf::ConditionOp::create(builder, loc, scalars.lookupOrDefault(condition.getCondition()), forwarded);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        bindScalars(loop.getAfterArguments(), carried.drop_back(counts));
        SmallVector<Value> next = emitSide(*loop.getAfterBody(), loop.getYieldOp().getOperands(), arguments);
        if (counts)
          next.push_back(arith::AddIOp::create(builder, loc, carried.back(), i64(1)));
        scf::YieldOp::create(builder, loc, next);
      });
  bindScalars(loop.getResults(), lowered.getResults().drop_back(counts));
  return status;
}
