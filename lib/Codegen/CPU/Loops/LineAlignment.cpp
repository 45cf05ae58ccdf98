// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "LineAlignment.h"

using namespace mlir;
using namespace mlir::ad;
using namespace mlir::ad::cpu;

// Vectors begin at multiples of this many bytes: a cache line, or a shorter vector.
static int64_t unitBytes(Type element, int64_t vectorLanes) {
  return std::min(kCore.lineBytes, vectorLanes * memoryBytes(element));
}

bool LineAlignment::isWorthAligning(Value tensor) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || vectorLanes == 1 || type.getRank() == 0 || !type.hasStaticShape())
    return false;
  int64_t bytes = memoryBytes(type.getElementType());
  bool oneRow = flat || type.getNumElements() == type.getShape().back();
  return type.getNumElements() * bytes > tiles.alignedBytes &&
         (oneRow || type.getShape().back() * bytes % unitBytes(type.getElementType(), vectorLanes) == 0);
}

Value LineAlignment::elementsToLine(const Buffer &buffer, const Position &position, Value limit) {
  Type i64 = builder.getI64Type();
  auto number = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(builder, loc, i64, value); };
  int64_t step, bytes = memoryBytes(buffer.element);
  Value indices, index = memoryAccess.linearIndex(buffer, position, step, indices);
  Value address = LLVM::PtrToIntOp::create(builder, loc, i64, memoryAccess.pointerAt(buffer, index));
  Value missing = LLVM::AndOp::create(builder, loc, LLVM::SubOp::create(builder, loc, number(0), address),
                                      number(unitBytes(buffer.element, vectorLanes) - 1));
  Value elements = LLVM::UDivOp::create(builder, loc, missing, number(bytes));
  return binary<arith::MinUIOp>(
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), elements).getResult(), limit);
}

// Whether some operation reads the argument along the axis that the last axis of its result enumerates.
static bool isReadAlongLanes(Value argument) {
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    if (!generic || !generic.isDpsInput(&use))
      return false;
    AffineMap map = generic.getMatchingIndexingMap(&use);
    AffineMap out = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
    return map.getNumResults() > 0 && out.getNumResults() > 0 &&
           isa<AffineDimExpr>(map.getResults().back()) && map.getResults().back() == out.getResults().back();
  });
}

std::optional<Buffer> LineAlignment::bufferAlongLanes() {
  std::optional<Buffer> chosen;
  int64_t most = 0;
  auto consider = [&](Value tensor, const Buffer &buffer) {
    auto type = cast<RankedTensorType>(tensor.getType());
    int64_t bytes = type.getNumElements() * memoryBytes(type.getElementType());
    if (bytes <= most)
      return;
    most = bytes;
    chosen = buffer;
  };
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (isWorthAligning(argument) && isReadAlongLanes(argument))
      consider(argument, buffers.find(argument)->second);
  if (chosen)
    return chosen;
  for (auto [buffer, value] : llvm::zip(results, kernel.getBody().front().getTerminator()->getOperands()))
    if (isWorthAligning(value))
      consider(value, buffer);
  return chosen;
}

Value LineAlignment::elementsToLine(const CPUNest &nest, Value lower, Value upper) {
  if (nest.blocked || nest.shortRowAxis >= 0)
    return {};
  std::optional<Buffer> buffer = bufferAlongLanes();
  if (!buffer)
    return {};
  Position position(flat ? 1 : buffer->shape.size(), {indexConstant(0), 0, nullptr});
  position.back() = {lower, 0, nullptr};
  return elementsToLine(*buffer, position, binary<arith::SubIOp>(upper, lower));
}
