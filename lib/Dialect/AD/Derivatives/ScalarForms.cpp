// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Scalar code of derivative rules: the operations of `ad` that rules are made of, on scalars and vectors.

#include "Rules.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::ad;

using Emitter = Value (*)(ScalarCode, ValueRange);

template <typename OpT> static Value emit(ScalarCode code, ValueRange x) { return code.make<OpT>(x); }

// The operand itself where it is neither positive nor negative, as ad.sign.
static Value emitSign(ScalarCode code, ValueRange x) {
  using P = arith::CmpFPredicate;
  auto number = [&](double value) { return fullLike(code.builder, code.loc, x[0], value); };
  Value negative = code.select(code.compare(P::OLT, x[0], number(0.0)), number(-1.0), x[0]);
  return code.select(code.compare(P::OGT, x[0], number(0.0)), number(1.0), negative);
}

// Bounds are numbers; NaN stays.
static Value emitMin(ScalarCode code, ValueRange x) {
  return code.select(code.compare(arith::CmpFPredicate::OGT, x[0], x[1]), x[1], x[0]);
}
static Value emitClamp(ScalarCode code, ValueRange x) {
  Value below = code.compare(arith::CmpFPredicate::OLT, x[0], x[1]);
  return code.select(below, x[1], emitMin(code, {x[0], x[2]}));
}

static Value emitNot(ScalarCode code, ValueRange x) {
  Value one = arith::ConstantOp::create(code.builder, code.loc, code.builder.getOneAttr(x[0].getType()));
  return code.make<arith::XOrIOp>({x[0], one});
}

Value RuleBuilder::onScalars(StringRef operation, ValueRange operands) {
  operation.consume_front("ad.");
  ScalarCode code{builder, loc};
  if (auto function = numerics::elementaryFromName({operation.data(), operation.size()}))
    return code.elementary(*function, operands);
  auto emitter = llvm::StringSwitch<Emitter>(operation)
                     .Case("abs", emit<math::AbsFOp>)
                     .Case("add", emit<arith::AddFOp>)
                     .Case("and", emit<arith::AndIOp>)
                     .Case("clamp", emitClamp)
                     .Case("div", emit<arith::DivFOp>)
                     .Case("floor", emit<math::FloorOp>)
                     .Case("min", emitMin)
                     .Case("mul", emit<arith::MulFOp>)
                     .Case("neg", emit<arith::NegFOp>)
                     .Case("not", emitNot)
                     .Case("or", emit<arith::OrIOp>)
                     .Case("round_even", emit<math::RoundEvenOp>)
                     .Case("sign", emitSign)
                     .Case("sub", emit<arith::SubFOp>)
                     .Default(nullptr);
  assert(emitter && "a rule of scalars uses an operation without scalar code");
  return emitter(code, operands);
}

Value RuleBuilder::compare(ComparePredicate predicate, Value x, Value y) {
  if (isTensor(x))
    return CompareOp::create(builder, loc, predicate, x, y, PermissionsAttr());
  using P = arith::CmpFPredicate;
  constexpr P table[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
  return arith::CmpFOp::create(builder, loc, table[static_cast<unsigned>(predicate)], x, y);
}

// A scalar condition chooses between whole tensors.
Value RuleBuilder::select(Value condition, Value x, Value y) {
  if (isTensor(condition))
    return SelectOp::create(builder, loc, condition, x, y, PermissionsAttr());
  return arith::SelectOp::create(builder, loc, condition, x, y);
}
