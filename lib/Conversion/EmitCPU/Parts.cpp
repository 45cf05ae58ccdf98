// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions with few results, such as the sum of a whole tensor: threads share what is reduced. The balanced
// tree of an order is cut below some level, where each node is the sum of 2 to the power of k blocks that
// follow each other. One function computes such nodes, the parts, into memory of the runtime; another one is
// the kernel, but joins the parts. Both follow the tree, so the bits are those of the undivided kernel.

#include "KernelEmitter.h"
#include "adjoint/Dialect/AD/Transforms/LinalgKernels.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Enough for the threads of a large machine; with more, joining them would take longer.
static constexpr int64_t kMostParts = 256, kScratchAlignment = 64;
// With more results there are units enough without parts.
static constexpr int64_t kMostResults = 1 << 14;

static SmallVector<int64_t> withoutUnits(Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
}

static bool reduces(linalg::GenericOp generic) { return generic.getNumReductionLoops() > 0; }

// The product of the sizes that are known and not 0, as far as kMostResults + 1.
static int64_t knownElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (size > 0) // kDynamic is negative
      elements = std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(elements, size), kMostResults + 1);
  return elements;
}

// Whether the tree of the order sums the operation: into few elements, out of what is not summed before.
bool KernelEmitter::isDivisible(linalg::GenericOp generic) {
  OrderAttr order = kernel.getOrderAttr();
  return order && generic.getNumResults() == 1 && combiningOp(generic) && groupSize(generic) == 1 &&
         llvm::none_of(generic.getDpsInputs(), [](Value input) { return dependsOn(input, reduces); });
}

// Elements reduced into one; kDynamic if only the run knows.
static int64_t staticTotal(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
  int64_t total = 1;
  for (unsigned dim : dims)
    if (ShapedType::isDynamic(sizes[dim]) || llvm::MulOverflow(total, sizes[dim], total))
      return ShapedType::kDynamic;
  return total;
}

// Blocks of the order in a part: a power of two, so that a part is a node of the tree.
int64_t KernelEmitter::blocksOfPart(linalg::GenericOp generic) {
  int64_t length = kernel.getOrderAttr().getLength(), total = staticTotal(generic);
  int64_t results = knownElements(cast<RankedTensorType>(generic.getResult(0).getType()).getShape());
  int64_t blocks = llvm::divideCeil(tiles.tileSteps, length * results);
  if (!ShapedType::isDynamic(total))
    blocks = std::max<int64_t>(blocks, llvm::divideCeil(llvm::divideCeil(total, length), kMostParts));
  return llvm::bit_ceil(uint64_t(blocks));
}

SmallVector<linalg::GenericOp> KernelEmitter::divisibleSums(ValueRange roots) {
  std::optional<unsigned> space = rowSpaceOf(roots);
  if (!space)
    return {};
  Nest nest = nestOver(results[*space], roots);
  bool lanesAreSummed = sumsLanesAlong(roots, nest, laneAxisOf(nest));
  if (!lanesAreSummed)
    chooseBlock(nest);
  if (nest.blocked || knownElements(nest.shape) > kMostResults)
    return {};
  auto sums = llvm::to_vector(llvm::make_filter_range(kernel.getBody().getOps<linalg::GenericOp>(), reduces));
  auto isShared = [&](linalg::GenericOp generic) {
    int64_t total = staticTotal(generic);
    bool isLong =
        ShapedType::isDynamic(total) || total > kernel.getOrderAttr().getLength() * blocksOfPart(generic);
    return isLong && llvm::all_of(roots, [&](Value root) {
             return withoutUnits(root) == withoutUnits(generic.getResult(0));
           });
  };
  bool all =
      !sums.empty() && llvm::all_of(sums, [&](linalg::GenericOp generic) { return isDivisible(generic); });
  return all && llvm::all_of(sums, isShared) ? sums : SmallVector<linalg::GenericOp>();
}

// Where the parts lie, one reduction behind the other; returns the bytes of all.
Value KernelEmitter::placeParts(ArrayRef<linalg::GenericOp> sums, Value scratch) {
  Value bytes = indexConstant(0);
  for (linalg::GenericOp generic : sums) {
    auto type = cast<RankedTensorType>(generic.getResult(0).getType());
    PartialSums part;
    part.length = kernel.getOrderAttr().getLength() * blocksOfPart(generic);
    part.total = reducedTotal(generic);
    part.count = binary<arith::CeilDivUIOp>(part.total, indexConstant(part.length));
    part.buffer.element = type.getElementType();
    part.buffer.shape = {ShapedType::kDynamic};
    part.buffer.sizes = {part.count};
    Value elements = part.count;
    for (auto [axis, size] : llvm::enumerate(type.getShape())) {
      part.buffer.shape.push_back(size);
      part.buffer.sizes.push_back(sizeOf(generic.getResult(0), axis));
      elements = binary<arith::MulIOp>(elements, part.buffer.sizes.back());
    }
    if (scratch) {
      Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
      part.buffer.pointer = LLVM::GEPOp::create(builder, loc, scratch.getType(), builder.getI8Type(), scratch,
                                                ValueRange{offset});
    }
    Value own = binary<arith::MulIOp>(elements, indexConstant(memoryBytes(type.getElementType())));
    Value line = indexConstant(kScratchAlignment);
    own = binary<arith::MulIOp>(binary<arith::CeilDivUIOp>(own, line), line);
    bytes = binary<arith::AddIOp>(bytes, own);
    partialSums[generic] = part;
  }
  return bytes;
}

Value KernelEmitter::reducedTotal(linalg::GenericOp generic) {
  SmallVector<unsigned> dims;
  generic.getReductionDims(dims);
  Value total = indexConstant(1);
  for (unsigned dim : dims)
    total = binary<arith::MulIOp>(total, loopSize(generic, dim));
  return total;
}

// The tree of the order over all that is reduced, over one part of it, or over parts that are there.
FailureOr<SmallVector<Value>> KernelEmitter::orderedTree(linalg::GenericOp generic,
                                                         ArrayRef<Value> identities,
                                                         ArrayRef<Position> positions, BlockCode block) {
  Operation *join = combiningOp(generic);
  int64_t length = kernel.getOrderAttr().getLength();
  auto found = partialSums.find(generic);
  if (found == partialSums.end())
    return pairwiseTree(reducedTotal(generic), length, identities, join, block);
  PartialSums &part = found->second;
  if (work == Work::joinedParts)
    return pairwiseTree(part.count, 1, identities, join,
                        [&](Value number, Value) -> FailureOr<SmallVector<Value>> {
                          SmallVector<Value> values;
                          for (const Position &position : positions) {
                            Position at = {{number, 0, nullptr}};
                            llvm::append_range(at, position);
                            Value value = load(part.buffer, at);
                            values.push_back(lanes > 1 ? splat(value, lanes) : value);
                          }
                          return values;
                        });
  Value from = binary<arith::MulIOp>(part.number, indexConstant(part.length));
  Value size = binary<arith::MinUIOp>(binary<arith::SubIOp>(part.total, from), indexConstant(part.length));
  return pairwiseTree(size, length, identities, join, [&](Value lower, Value upper) {
    return block(binary<arith::AddIOp>(lower, from), binary<arith::AddIOp>(upper, from));
  });
}

// The parts of one reduction: a unit is a part of all its results.
LogicalResult KernelEmitter::emitPartsOf(linalg::GenericOp generic, UnitRange units) {
  PartialSums &part = partialSums[generic];
  Value sum = generic.getResult(0);
  Buffer result{nullptr, part.buffer.element, llvm::to_vector(ArrayRef(part.buffer.shape).drop_front()),
                llvm::to_vector(ArrayRef(part.buffer.sizes).drop_front())};
  Nest each = nestOver(result, sum);
  bool lanesAreSummed = usesLanes(generic) || sumsLanesAlong(sum, each, laneAxisOf(each));
  if (!lanesAreSummed && laneAxisOf(each) >= 0)
    chooseBlock(each);
  Nest nest = nestOver(part.buffer, {});
  nest.vectorize = !lanesAreSummed && laneAxisOf(each) >= 0;
  nest.vectors = each.vectors;
  nest.unitLoops = {{{0}, 1}};
  nest.units = units;
  return emitNest(nest, [&](ArrayRef<Position> positions) -> LogicalResult {
    Scope scope(*this);
    part.number = positions.front().front().base;
    SmallVector<Position> inner;
    for (const Position &position : positions)
      inner.emplace_back(llvm::drop_begin(position));
    FailureOr<SmallVector<Value>> values = reduce(generic, 0, inner);
    if (failed(values))
      return failure();
    storeAll(part.buffer, positions, *values);
    return success();
  });
}

// All reductions of the kernel, each over the units that it has.
LogicalResult KernelEmitter::emitParts(ArrayRef<linalg::GenericOp> sums) {
  for (linalg::GenericOp generic : sums) {
    Value count = partialSums[generic].count;
    UnitRange units{binary<arith::MinUIOp>(rangeBegin, count), binary<arith::MinUIOp>(rangeEnd, count)};
    if (failed(emitPartsOf(generic, units)))
      return failure();
  }
  return success();
}

// How many parts there are, and the bytes of memory that they take.
SmallVector<Value> KernelEmitter::emitPartSizes(ArrayRef<linalg::GenericOp> sums) {
  Value bytes = placeParts(sums, Value()), count = indexConstant(0);
  for (linalg::GenericOp generic : sums)
    count = binary<arith::MaxUIOp>(count, partialSums[generic].count);
  return {count, bytes};
}
