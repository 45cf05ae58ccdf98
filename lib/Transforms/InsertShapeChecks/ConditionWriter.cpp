// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "ConditionWriter.h"
#include "adjoint/Dialect/AD/IR/ADAttentionOps.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/Written.h"
#include "adjoint/Runtime/adrt.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-insert-shape-checks"

using namespace mlir;
using namespace mlir::ad;

static_assert(kOperandSizeFailure == ADRT_FAIL_OPERAND);

Value ConditionWriter::outside(Value offset, Value last, Value large) {
  Value negative = compare(arith::CmpIPredicate::slt, offset, constant(0));
  return select(negative, offset, select(large, constant(kMaxNumber), last));
}

// Divided by all sizes but the last it is the last, unless one is zero.
Value ConditionWriter::isExactProduct(Value product, ArrayRef<Value> sizes) {
  if (sizes.size() < 2)
    return arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value rest = product, empty;
  for (Value s : sizes.drop_back()) {
    Value zero = equal(s, constant(0));
    empty = empty ? either(empty, zero) : zero;
    rest = divide(rest, select(zero, constant(1), s));
  }
  empty = either(empty, equal(sizes.back(), constant(0)));
  return either(empty, equal(rest, sizes.back()));
}

SmallVector<Value> ConditionWriter::resultSizes(RankedTensorType result, ValueRange dynamic) {
  SmallVector<Value> sizes;
  for (int64_t s : result.getShape()) {
    if (!ShapedType::isDynamic(s)) {
      sizes.push_back(constant(s));
      continue;
    }
    sizes.push_back(dynamic.front());
    dynamic = dynamic.drop_front();
  }
  return sizes;
}

void ConditionWriter::same(Value a, int64_t axisA, Value b, int64_t axisB) {
  if (haveSameSize(a, axisA, b, axisB))
    return;
  Value expected = size(a, axisA), actual = size(b, axisB);
  require(ADRT_FAIL_SAME_SIZE, equal(expected, actual), {constant(axisB), expected, actual});
}

void ConditionWriter::require(int32_t kind, Value condition, ValueRange values) {
  if (getConstantIntValue(getAsOpFoldResult(condition)) == 1) {
    LDBG() << op->getName() << " at " << loc << ": a condition holds by the types";
    return;
  }
  LDBG() << op->getName() << " at " << loc << " is checked at run time, failure " << kind;
  RequireOp::create(builder, loc, kind, condition, values, writtenName(op));
}
