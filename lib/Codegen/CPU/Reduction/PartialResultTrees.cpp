// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The tree of an order over all that is reduced, over one node of it, or over the nodes that another function
// has computed.

#include "PartialResultTrees.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Partial results: enough for the threads of a large machine; merging more would be slower.
static constexpr int64_t kMaxPartials = 256;

int64_t cpu::knownElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (size > 0) // kDynamic is negative
      elements = std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(elements, size), kMaxResults + 1);
  return elements;
}

// Its partial results have this many elements at most, or are a single one.
static constexpr int64_t kMaxConvolutionElements = 1 << 23;

bool cpu::isDeepConvolution(linalg::GenericOp generic) {
  if (!isConvolution(generic))
    return false;
  auto elementsOf = [](Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    return type && type.hasStaticShape() ? type.getNumElements() : 0;
  };
  int64_t results = elementsOf(generic.getResult(0));
  return results > 0 &&
         llvm::all_of(generic.getDpsInputs(), [&](Value input) { return elementsOf(input) > results; });
}

// Whether the tree of the order reduces the operation, to few elements, from values that are not reduced
// before.
bool PartialResultTrees::isDivisible(linalg::GenericOp generic) {
  OrderAttr order = kernel.getOrderAttr();
  return order && generic.getNumResults() == 1 && combiningOp(generic) &&
         productGroups.groupSize(generic) == 1 &&
         llvm::none_of(generic.getDpsInputs(), [](Value input) { return dependsOn(input, reduces); });
}

// Blocks of the order in a partial result: a power of two, so that it is a node of the tree.
int64_t PartialResultTrees::blocksOfPartial(linalg::GenericOp generic) {
  int64_t length = kernel.getOrderAttr().getPartLength(), total = reducedElements(generic);
  int64_t results = knownElements(cast<RankedTensorType>(generic.getResult(0).getType()).getShape());
  int64_t blocks = llvm::divideCeil(tiles.tileSteps, length * results);
  if (!ShapedType::isDynamic(total))
    blocks = std::max<int64_t>(blocks, llvm::divideCeil(llvm::divideCeil(total, length), kMaxPartials));
  if (isDeepConvolution(generic)) {
    int64_t all = cast<RankedTensorType>(generic.getResult(0).getType()).getNumElements();
    blocks = std::max<int64_t>(
        blocks, llvm::divideCeil(llvm::divideCeil(total, length) * all, kMaxConvolutionElements));
  }
  return llvm::bit_ceil(uint64_t(blocks));
}

// The tree of the order over all that is reduced, over one node of it, or over partial results that are
// there.
FailureOr<SmallVector<Value>> PartialResultTrees::orderedTree(linalg::GenericOp generic,
                                                              ArrayRef<Value> identities,
                                                              ArrayRef<Position> positions, BlockCode block,
                                                              int64_t blocksPerLeaf) {
  Operation *join = combiningOp(generic);
  int64_t length = blocksPerLeaf * kernel.getOrderAttr().getPartLength();
  auto found = partials.find(generic);
  if (found == partials.end())
    return tree.joinBlocks(reductionLoops.total(generic), length, identities, join, block);
  PartialResults &partial = found->second;
  if (context.work == KernelContext::Work::merge)
    return tree.joinBlocks(partial.count, 1, identities, join,
                           [&](Value number, Value) -> FailureOr<SmallVector<Value>> {
                             SmallVector<Value> values;
                             for (const Position &position : positions) {
                               Position at = {{number, 0, nullptr}};
                               llvm::append_range(at, position);
                               Value value = memoryAccess.load(partial.buffer, at);
                               values.push_back(lanes > 1 ? laneValues.splat(value, lanes) : value);
                             }
                             return values;
                           });
  Value from = binary<arith::MulIOp>(partial.number, indexConstant(partial.length));
  Value size =
      binary<arith::MinUIOp>(binary<arith::SubIOp>(partial.total, from), indexConstant(partial.length));
  return tree.joinBlocks(size, length, identities, join, [&](Value lower, Value upper) {
    return block(binary<arith::AddIOp>(lower, from), binary<arith::AddIOp>(upper, from));
  });
}

// The address of the partial result that is being emitted.
Value PartialResultTrees::addressOfPartial(const PartialResults &partial, const Buffer &result) {
  Value bytes = indexConstant(memoryBytes(result.element));
  for (Value size : result.sizes)
    bytes = binary<arith::MulIOp>(bytes, size);
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            binary<arith::MulIOp>(partial.number, bytes));
  Value memory = partial.buffer.pointer;
  return LLVM::GEPOp::create(builder, loc, memory.getType(), builder.getI8Type(), memory, ValueRange{offset});
}
