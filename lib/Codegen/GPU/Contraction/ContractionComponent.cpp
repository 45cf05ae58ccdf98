// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "../Generic/SharedMemory.h"
#include "ContractionEmitter.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::device;

ContractionComponent::ContractionComponent(ContractionEmitter &emitter)
    : GPUComponent(emitter), emitter(emitter), contraction(emitter.contraction), tile(emitter.tile),
      vectorized(emitter.vectorized), shared(emitter.shared) {}

Type ContractionComponent::accumulatorType() const {
  linalg::GenericOp op = contraction.op;
  return getElementTypeOrSelf(op.getResult(0).getType());
}

// A number as the sum of a constant and a value, which is null if the number is a constant. Looks through
// sums and products with constants.
std::pair<Value, int64_t> ContractionComponent::splitConstant(Value number) {
  APInt constant;
  if (matchPattern(number, m_ConstantInt(&constant)))
    return {Value(), constant.getSExtValue()};
  if (auto add = number.getDefiningOp<arith::AddIOp>()) {
    auto [left, first] = splitConstant(add.getLhs());
    auto [right, second] = splitConstant(add.getRhs());
    Value sum = left && right ? binary<arith::AddIOp>(left, right) : left ? left : right;
    return {sum, first + second};
  }
  auto product = number.getDefiningOp<arith::MulIOp>();
  if (product && matchPattern(product.getRhs(), m_ConstantInt(&constant))) {
    auto [rest, first] = splitConstant(product.getLhs());
    return {rest ? binary<arith::MulIOp>(rest, product.getRhs()) : rest, first * constant.getSExtValue()};
  }
  return {number, 0};
}

Value ContractionComponent::hiddenCopy(Value number) {
  Type word = builder.getI32Type();
  auto toWord = [&](Value value) -> Value { return arith::IndexCastOp::create(builder, loc, word, value); };
  auto copy =
      ::mlir::gpu::ShuffleOp::create(builder, loc, toWord(number), toWord(mapping.lane),
                                     toWord(indexConstant(kWarpThreads)), ::mlir::gpu::ShuffleMode::IDX);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), copy.getShuffleResult());
}

// Accesses at constant distances share one address, from which instructions add the distance.
Value ContractionComponent::sharedPointer(Value byte) {
  auto [rest, constant] = splitConstant(byte);
  Value pointer = rest ? addBytes(builder, loc, shared, rest) : shared;
  return constant == 0 ? pointer
                       : LLVM::GEPOp::create(builder, loc, pointer.getType(), builder.getI8Type(), pointer,
                                             ArrayRef<LLVM::GEPArg>{int32_t(constant)});
}
