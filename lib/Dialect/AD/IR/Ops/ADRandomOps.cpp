// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Random numbers by counters: generated definitions, constraints, and scalar functions, which instantiate
// Numerics/Math/Philox.h on numbers and as scalar code.

#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "../Elementwise.h"
#include "../ScalarFunctions.h"
#include "adjoint/Numerics/EmitStochasticCast.h"
#include "adjoint/Numerics/Math/ArithBuilder.h"
#include "adjoint/Numerics/Math/Philox.h"
#include "adjoint/Numerics/Random.h"
#include "adjoint/Numerics/StochasticCast.h"

using namespace mlir;
using namespace mlir::ad;
using CodeBuilder = numerics::ArithBuilder;
using numerics::ElementType;

//===- Constraints -===//

namespace mlir::ad {
static LogicalResult verifyBroadcastResult(Operation *op) {
  // rng_bits_c1, rng_uniform_c1, rng_normal_c1, cast_stochastic_c1: the shapes broadcast.
  auto shapes = llvm::map_to_vector(op->getOperandTypes(), [](Type type) -> ArrayRef<int64_t> {
    return cast<RankedTensorType>(type).getShape();
  });
  int64_t conflict = 0;
  FailureOr<SmallVector<int64_t>> shape = inferBroadcastShape(shapes, &conflict);
  if (failed(shape))
    return op->emitOpError("operand shapes do not broadcast: ")
           << describeBroadcastConflict(shapes, conflict);
  // rng_bits_c2, rng_uniform_c2, rng_normal_c2, cast_stochastic_c2: the result has the broadcast shape.
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getShape() != ArrayRef<int64_t>(*shape))
    return op->emitOpError("expected a result of type ")
           << RankedTensorType::get(*shape, type.getElementType()) << ", but got " << type;
  return success();
}

//===- Scalar functions -===//

namespace {
using numerics::ScalarBuilder;
using Words = numerics::PhiloxWords<ScalarBuilder>;
using EmittedWords = numerics::PhiloxWords<CodeBuilder>;

/// What the functions of a key and a counter share. `ScalarFunction<OpT>` adds, for the words of the counter,
///   evaluate(words, type)  the bits of an element of the result's type
///   emit(b, code, words, type)
template <class OpT> struct RandomFunction {
  static ScalarEvaluator evaluator(OpT op) {
    return [type = elementTypeOf(op.getResult())](ArrayRef<uint64_t> x) {
      ScalarBuilder b;
      return ScalarFunction<OpT>::evaluate(numerics::philoxAt<ScalarBuilder>(b, x[0], x[1]), type);
    };
  }
  static Value emitScalar(OpT op, OpBuilder &builder, Location loc, ValueRange x) {
    CodeBuilder b(builder, loc, x[0].getType());
    EmittedWords words = numerics::philoxAt<CodeBuilder>(b, b.wrap<uint64_t>(x[0]), b.wrap<uint64_t>(x[1]));
    return ScalarFunction<OpT>::emit(b, ScalarCode{builder, loc}, words,
                                     getElementTypeOrSelf(op.getResult().getType()));
  }
};

/// About ten rounds of a dozen instructions.
constexpr int64_t kPhiloxCost = 12;
} // namespace

template <> struct ScalarFunction<RngBitsOp> : RandomFunction<RngBitsOp> {
  static uint64_t evaluate(const Words &words, ElementType type) {
    ScalarBuilder b;
    return type == ElementType::I32 ? words[0] : numerics::joinWords<ScalarBuilder>(b, words[0], words[1]);
  }
  static Value emit(CodeBuilder &b, ScalarCode, const EmittedWords &words, Type type) {
    return type.isInteger(32) ? words[0].value
                              : numerics::joinWords<CodeBuilder>(b, words[0], words[1]).value;
  }
  static int64_t cost(RngBitsOp) { return kPhiloxCost; }
};

template <> struct ScalarFunction<RngUniformOp> : RandomFunction<RngUniformOp> {
  static uint64_t evaluate(const Words &words, ElementType type) {
    return type == ElementType::F32 ? llvm::bit_cast<uint32_t>(numerics::uniformFromBits(words[0]))
                                    : llvm::bit_cast<uint64_t>(numerics::uniformFromBits(words[0], words[1]));
  }
  static Value emit(CodeBuilder &b, ScalarCode, const EmittedWords &words, Type type) {
    return type.isF32() ? numerics::uniformFrom<CodeBuilder>(b, words[0]).value
                        : numerics::uniformFrom<CodeBuilder>(b, words[0], words[1]).value;
  }
  static int64_t cost(RngUniformOp) { return kPhiloxCost; }
};

namespace {
/// Elementary functions as scalar code, which is expanded last.
struct EmittedFunctions {
  using Double = numerics::Emitted<double>;
  Double log(Double x) const { return emit(numerics::Elementary::Log, x); }
  Double sqrt(Double x) const { return emit(numerics::Elementary::Sqrt, x); }
  Double cos(Double x) const { return emit(numerics::Elementary::Cos, x); }
  Double emit(numerics::Elementary function, Double x) const {
    return b.wrap<double>(code.elementary(function, x.value));
  }

  CodeBuilder &b;
  ScalarCode code;
};
} // namespace

template <> struct ScalarFunction<RngNormalOp> : RandomFunction<RngNormalOp> {
  static uint64_t evaluate(const Words &words, ElementType type) {
    return numerics::fromDouble(type, numerics::normalFromBits(words));
  }
  static Value emit(CodeBuilder &b, ScalarCode code, const EmittedWords &words, Type type) {
    numerics::Emitted<double> number = numerics::normalFrom<CodeBuilder>(b, words, EmittedFunctions{b, code});
    return code.convert(number.value, type);
  }
  static int64_t cost(RngNormalOp) {
    using numerics::Elementary, numerics::elementaryCost;
    return kPhiloxCost + elementaryCost(Elementary::Log) + elementaryCost(Elementary::Cos);
  }
};

template <> struct ScalarFunction<CastStochasticOp> {
  static ScalarEvaluator evaluator(CastStochasticOp op) {
    return [to = elementTypeOf(op.getResult())](ArrayRef<uint64_t> x) {
      ScalarBuilder b;
      uint32_t word = numerics::philoxAt<ScalarBuilder>(b, x[1], x[2])[0];
      return numerics::castStochastically(to, numerics::toFloat(ElementType::F32, x[0]), word);
    };
  }
  static Value emitScalar(CastStochasticOp op, OpBuilder &builder, Location loc, ValueRange x) {
    CodeBuilder b(builder, loc, x[0].getType());
    EmittedWords words = numerics::philoxAt<CodeBuilder>(b, b.wrap<uint64_t>(x[1]), b.wrap<uint64_t>(x[2]));
    return numerics::emitStochasticCast(builder, loc, x[0], words[0].value,
                                        getElementTypeOrSelf(op.getResult().getType()));
  }
  static int64_t cost(CastStochasticOp) { return kPhiloxCost + 2; }
};
} // namespace mlir::ad

#define GET_OP_CLASSES
#include "adjoint/Dialect/AD/IR/ADRandomOps.cpp.inc"
