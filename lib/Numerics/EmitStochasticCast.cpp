// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Instantiates stochastic rounding with ArithBuilder.
#include "adjoint/Numerics/EmitStochasticCast.h"
#include "Math/StochasticRounding.h"
#include "NarrowFormats.h"
#include "adjoint/Numerics/MLIRElementType.h"
#include "adjoint/Numerics/Math/ArithBuilder.h"

namespace mlir::ad::numerics {

Value emitStochasticCast(OpBuilder &builder, Location loc, Value value, Value word, Type element) {
  ElementType to = *elementTypeOf(element);
  assert(isNarrowFloat(to) && "expected a float of 16 or 8 bits");
  ArithBuilder b(builder, loc, value.getType());
  Emitted<uint32_t> code =
      narrowStochastically<ArithBuilder>(b, b.wrap<float>(value), b.wrap<uint32_t>(word), narrowFormat(to));
  Value bits = b.convertTo<arith::TruncIOp>(code.value, builder.getIntegerType(8 * sizeInBytes(to)));
  return b.convertTo<arith::BitcastOp>(bits, element);
}

} // namespace mlir::ad::numerics
