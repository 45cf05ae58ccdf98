// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Counts of bits, by sums of the bits of neighbouring fields (Warren, Hacker's Delight, chapter 5).

#include "RaiseScalars.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ad;

static unsigned widthOf(Value x) { return TensorCode::elementOf(x).getIntOrFloatBitWidth(); }

// A byte in all bytes of the type.
static Value bytes(TensorCode code, Value x, uint64_t byte) {
  APInt all = APInt::getSplat(widthOf(x), APInt(8, byte));
  return code.integer(x, all.getSExtValue());
}

static Value shiftRight(TensorCode code, Value x, unsigned by) {
  return code.binary<ShiftRightLogicalOp>(x, code.integer(x, by));
}

static Value countOnes(TensorCode code, Value x) {
  Value pairs = code.sub(x, code.bitAnd(shiftRight(code, x, 1), bytes(code, x, 0x55)));
  Value mask = bytes(code, x, 0x33);
  Value fours = code.add(code.bitAnd(pairs, mask), code.bitAnd(shiftRight(code, pairs, 2), mask));
  Value eights = code.bitAnd(code.add(fours, shiftRight(code, fours, 4)), bytes(code, x, 0x0f));
  // The highest byte of the product is the sum of all bytes.
  return shiftRight(code, code.mul(eights, bytes(code, x, 0x01)), widthOf(x) - 8);
}

// All bits from the highest set one down.
static Value spreadDown(TensorCode code, Value x) {
  for (unsigned by = 1; by < widthOf(x); by *= 2)
    x = code.bitOr(x, shiftRight(code, x, by));
  return x;
}

Value ad::raiseBitCounts(TensorCode code, Operation *op, ValueRange x) {
  if (widthOf(x[0]) < 8)
    return {};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::CtPopOp) { return countOnes(code, x[0]); })
      .Case([&](math::CountTrailingZerosOp) {
        Value below = code.sub(x[0], code.integer(x[0], 1));
        return countOnes(code, code.bitAnd(code.bitNot(x[0]), below));
      })
      .Case([&](math::CountLeadingZerosOp) { return countOnes(code, code.bitNot(spreadDown(code, x[0]))); })
      .Default(Value());
}
