// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions of bf16 by AVX512_BF16's vdpbf16ps, which adds two products to each lane of f32: elements that
// are adjacent along K, and adjacent in the packed form of one operand. It chooses order and rounding
// inside a pair and flushes subnormals, so only the permission `mma` admits it.

#include "DotProducts.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

void DotProducts::recordUse(linalg::GenericOp generic) {
  if (recorded.insert(generic).second)
    recordNumericsUse(generic.getLoc(), "dot-product-instruction", Permissions::mma);
}

// The buffer with pairs of elements along its last axis as one element.
Buffer DotProducts::inPairs(Buffer buffer) {
  buffer.element = builder.getI32Type();
  buffer.shape.back() /= kBF16DotProduct.group;
  buffer.sizes.back() = indexConstant(buffer.shape.back());
  return buffer;
}

// The element of the smaller index in the lower half.
Value DotProducts::joinPair(Value low, Value high) {
  auto widen = [&](Value half) {
    Type wide = builder.getI32Type();
    if (auto type = dyn_cast<VectorType>(half.getType()))
      wide = VectorType::get(type.getShape(), wide);
    return arith::ExtUIOp::create(builder, loc, wide, toMemory(half)).getResult();
  };
  Value upper = widen(high);
  Value bits = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(16));
  if (auto type = dyn_cast<VectorType>(upper.getType()))
    bits = laneValues.splat(bits, type.getNumElements());
  return arith::OrIOp::create(builder, loc, widen(low), arith::ShLIOp::create(builder, loc, upper, bits));
}

FailureOr<Value> DotProducts::convertPairs(OpOperand *operand, Position position) {
  constexpr int64_t kPair = kBF16DotProduct.group;
  Value both = mask;
  if (mask) {
    SmallVector<int64_t> twice;
    for (int64_t lane = 0; lane < kPair * lanes; ++lane)
      twice.push_back(lane / kPair);
    both = vector::ShuffleOp::create(builder, loc, mask, mask, twice);
  }
  auto pairs = VectorType::get(lanes, builder.getI32Type());
  Index &last = position.back();
  last.base = binary<arith::MulIOp>(last.base, indexConstant(kPair));
  Scope scope(context);
  WithLanes elements(context, kPair * lanes, both);
  FailureOr<Value> value = evaluator.evaluateOne(operand->get(), position);
  if (failed(value))
    return failure();
  Value halves = laneValues.splat(*value, kPair * pairs.getNumElements()); // constants are scalars
  return Value(vector::BitCastOp::create(builder, loc, pairs, toMemory(halves)));
}

// A pair of elements of an operand; in `loops` the reduced index is the number of the pair. One load reads
// both if they are contiguous.
FailureOr<Value> DotProducts::pairOf(OpOperand *input, ArrayRef<Index> loops, unsigned reducedLoop) {
  if (auto it = panels.operands.find(input); it != panels.operands.end())
    return panels.loadPacked(it->second, loops);
  if (Value pair = transposedOperands.transposedValue(input, loops))
    return pair;
  auto generic = cast<linalg::GenericOp>(input->getOwner());
  AffineMap map = generic.getMatchingIndexingMap(input);
  auto last = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (auto it = buffers.find(input->get());
      it != buffers.end() && map.isProjectedPermutation() && last && last.getPosition() == reducedLoop)
    return memoryAccess.load(inPairs(it->second), maps.apply(map, loops));
  SmallVector<Index> at(loops);
  Value first = binary<arith::MulIOp>(loops[reducedLoop].base, indexConstant(kBF16DotProduct.group));
  Value halves[2];
  for (int64_t i : {0, 1}) {
    at[reducedLoop].base = binary<arith::AddIOp>(first, indexConstant(i));
    FailureOr<Value> half = evaluator.evaluateOne(input->get(), maps.apply(map, at));
    if (failed(half))
      return failure();
    halves[i] = *half;
  }
  return joinPair(halves[0], halves[1]);
}

// `count` lanes from `first` on; lanes past the last one repeat it.
static Value lanesFrom(OpBuilder &builder, Location loc, Value vector, int64_t first, int64_t count) {
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  if (size == count)
    return vector;
  SmallVector<int64_t> lanes;
  for (int64_t lane = first; lane < first + count; ++lane)
    lanes.push_back(std::min(lane, size - 1));
  return vector::ShuffleOp::create(builder, loc, vector, vector, lanes);
}

// The lanes of the instruction.
static constexpr int64_t kLanes = kBF16DotProduct.maxLanes;

static Value callDotProduct(OpBuilder &builder, Location loc, Value sum, Value left, Value right) {
  auto halves = VectorType::get(kBF16DotProduct.group * kLanes, builder.getBF16Type());
  left = LLVM::BitcastOp::create(builder, loc, halves, left);
  right = LLVM::BitcastOp::create(builder, loc, halves, right);
  return LLVM::CallIntrinsicOp::create(
             builder, loc, sum.getType(),
             builder.getStringAttr(kBF16DotProduct.intrinsic + Twine(kLanes * kLaneBits)),
             ValueRange{sum, left, right})
      .getResult(0);
}

// In `loops` the reduced index is the number of the pair.
FailureOr<SmallVector<Value>> DotProducts::addDotProduct(linalg::GenericOp generic, ArrayRef<Index> loops,
                                                         Value sum) {
  SmallVector<unsigned> reduced;
  generic.getReductionDims(reduced);
  SmallVector<Value> operands = {laneValues.splat(sum, lanes)};
  for (OpOperand *input : generic.getDpsInputOperands()) {
    FailureOr<Value> pair = pairOf(input, loops, reduced.front());
    if (failed(pair))
      return failure();
    operands.push_back(laneValues.splat(*pair, lanes));
  }
  Value result = operands.front();
  for (int64_t first = 0; first < lanes; first += kLanes) {
    auto part = [&](unsigned operand) { return lanesFrom(builder, loc, operands[operand], first, kLanes); };
    Value added = callDotProduct(builder, loc, part(0), part(1), part(2));
    if (lanes <= kLanes)
      result = lanesFrom(builder, loc, added, 0, lanes);
    else
      result = vector::InsertStridedSliceOp::create(builder, loc, added, result, first, int64_t(1));
  }
  if (lanes == 1)
    result = vector::ExtractOp::create(builder, loc, result, 0);
  return SmallVector<Value>{result};
}
