// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "CPUReductions.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Rows of several chunks inside of vector code: one after the other, in a loop that stores the sums on the
// stack. Rows that are not active repeat the first one.
FailureOr<Value> CPUReductions::reduceEachRow(linalg::GenericOp generic, ArrayRef<Index> loops,
                                              Value identity, const Position &position) {
  Type element = getElementTypeOrSelf(generic.getResultTypes()[0]), memory = memoryType(element);
  Buffer stack{stackMemory.allocate(memory, lanes), element, {}, {}};
  Value zero = indexConstant(0);
  auto loop = scf::ForOp::create(builder, loc, zero, indexConstant(lanes), indexConstant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVar();
  auto lane = [&](Value vector, Value number) -> Value {
    return vector::ExtractOp::create(builder, loc, vector, ArrayRef<OpFoldResult>{getAsOpFoldResult(number)});
  };
  Value from = mask ? arith::SelectOp::create(builder, loc, lane(mask, row), row, zero).getResult() : row;
  auto ofRow = [&](const Index &index) -> Index {
    if (index.isUniform())
      return index;
    if (index.lanes)
      return {lane(index.lanes, from), 0, nullptr};
    Value distance = binary<arith::MulIOp>(from, indexConstant(index.step));
    return {binary<arith::AddIOp>(index.base, distance), 0, nullptr};
  };
  auto inner = llvm::map_to_vector(loops, ofRow);
  Position at(llvm::map_range(position, ofRow));
  if (isa<VectorType>(identity.getType()))
    identity = lane(identity, from);
  {
    Scope scope(context);
    WithLanes scalarCode(context, 1, nullptr);
    FailureOr<Value> sum = reduceChunks(generic, inner, identity, at);
    if (failed(sum))
      return failure();
    LLVM::StoreOp::create(builder, loc, toMemory(*sum), memoryAccess.pointerAt(stack, row),
                          memoryBytes(element));
  }
  builder.setInsertionPointAfter(loop);
  Value sums =
      LLVM::LoadOp::create(builder, loc, VectorType::get(lanes, memory), stack.pointer, memoryBytes(element));
  return fromMemory(sums, element);
}

FailureOr<Value> CPUReductions::reduceLanes(linalg::GenericOp generic, SmallVector<Index> loops,
                                            Value identity, const Position &position) {
  if (lanes != 1 && reductionLoops.vectorizesRows(generic))
    return rowReductions.reduceRows(generic, loops, identity);
  if (lanes != 1)
    return reduceEachRow(generic, loops, identity, position);
  FailureOr<Value> sum = reduceChunks(generic, loops, identity, position);
  if (succeeded(sum))
    rowCache.endPass();
  return sum;
}

FailureOr<SmallVector<Value>> CPUReductions::reduceBlocks(linalg::GenericOp generic,
                                                          ArrayRef<SmallVector<Index>> loops,
                                                          ArrayRef<Value> identities,
                                                          ArrayRef<Position> positions) {
  // Sums of integers are the same in any order.
  if (productGroups.groupSize(generic) == kByteDotProduct.group)
    return byteChains.byteChain(generic, loops, identities);
  OrderAttr order = kernel.getOrderAttr();
  bool joinsBlocks = order && !order.hasLanes();
  int64_t unroll = joinsBlocks ? interleavedBlocks.interleavedBlocks(generic, loops) : 1;
  if (unroll == 1)
    return ReductionEmitter::reduceBlocks(generic, loops, identities, positions);
  auto group = [&](Value lower, Value upper) {
    return interleavedBlocks.interleavedGroup(generic, loops, identities, lower, upper, unroll);
  };
  return orderedTree(generic, identities, positions, group, unroll);
}
