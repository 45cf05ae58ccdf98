// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Combiners.h"
#include "RaiseScalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;
using namespace mlir::ad;
using Kind = CombinerKind;

//===- Matching -===//

static std::optional<Kind> kindOfBooleans(Operation *op) {
  using namespace arith;
  if (isa<AndIOp, MulIOp, MinUIOp, MaxSIOp>(op)) // true is -1 with a sign
    return Kind::bitAnd;
  if (isa<OrIOp, MaxUIOp, MinSIOp>(op))
    return Kind::bitOr;
  return std::nullopt;
}

static std::optional<Kind> kindOf(Operation *op) {
  using namespace arith;
  using Result = std::optional<Kind>;
  if (op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1))
    return kindOfBooleans(op);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<AddFOp, AddIOp, SubFOp, SubIOp, math::FmaOp>([](auto) { return Kind::sum; })
      .Case<MulFOp, MulIOp>([](auto) { return Kind::product; })
      .Case<MaximumFOp, MaxSIOp>([](auto) { return Kind::maximum; })
      .Case<MinimumFOp, MinSIOp>([](auto) { return Kind::minimum; })
      .Case([](MaxNumFOp) { return Kind::maxNumber; })
      .Case([](MinNumFOp) { return Kind::minNumber; })
      .Case([](MaxUIOp) { return Kind::unsignedMax; })
      .Case([](MinUIOp) { return Kind::unsignedMin; })
      .Default(Result());
}

// Which operand the accumulator goes through, if it goes through one and is used for nothing else.
static std::optional<unsigned> chainOperand(Operation *op, BlockArgument accumulator) {
  std::optional<unsigned> found;
  for (OpOperand &operand : op->getOpOperands()) {
    SmallVector<Value> open = {operand.get()};
    llvm::SmallPtrSet<Operation *, 8> seen;
    bool depends = false;
    while (!open.empty()) {
      Value value = open.pop_back_val();
      depends |= value == accumulator;
      Operation *producer = value.getDefiningOp();
      if (producer && producer->getBlock() == accumulator.getOwner() && seen.insert(producer).second) {
        llvm::append_range(open, producer->getOperands());
        producer->walk([&](Operation *inner) { llvm::append_range(open, inner->getOperands()); });
      }
    }
    if (depends && found)
      return std::nullopt;
    if (depends)
      found = operand.getOperandNumber();
  }
  return found;
}

// a - b has its accumulator on the left, and a fused multiply-add adds it.
static bool isPlaceOfAccumulator(Operation *op, unsigned operand) {
  if (isa<arith::SubFOp, arith::SubIOp>(op))
    return operand == 0;
  return !isa<math::FmaOp>(op) || operand == 2;
}

static Combination::Term termOf(Operation *op, unsigned accumulator) {
  if (isa<math::FmaOp>(op))
    return {op->getOperand(0), op->getOperand(1)};
  return {op->getOperand(1 - accumulator), Value(), isa<arith::SubFOp, arith::SubIOp>(op)};
}

std::optional<Combination> ad::matchCombination(Value yielded, BlockArgument accumulator) {
  Combination combination;
  std::optional<Kind> kind;
  for (Value value = yielded; value != accumulator;) {
    Operation *op = value.getDefiningOp();
    std::optional<Kind> current = op ? kindOf(op) : std::nullopt;
    if (!current || (kind && *kind != *current) || !value.hasOneUse())
      return std::nullopt;
    std::optional<unsigned> operand = chainOperand(op, accumulator);
    if (!operand || !isPlaceOfAccumulator(op, *operand))
      return std::nullopt;
    kind = current;
    combination.terms.push_back(termOf(op, *operand));
    value = op->getOperand(*operand);
  }
  if (!kind || !accumulator.hasOneUse())
    return std::nullopt;
  combination.kind = *kind;
  return combination;
}

//===- Building -===//

Value ad::combine(TensorCode code, Kind kind, Value x, Value y) {
  switch (kind) {
  case Kind::sum:
    return code.add(x, y);
  case Kind::product:
    return code.mul(x, y);
  case Kind::maximum:
    return code.binary<MaxOp>(x, y);
  case Kind::minimum:
    return code.binary<MinOp>(x, y);
  case Kind::maxNumber:
    return maxNumber(code, x, y);
  case Kind::minNumber:
    return minNumber(code, x, y);
  case Kind::unsignedMax:
    return flipSign(code, code.binary<MaxOp>(flipSign(code, x), flipSign(code, y)));
  case Kind::unsignedMin:
    return flipSign(code, code.binary<MinOp>(flipSign(code, x), flipSign(code, y)));
  case Kind::bitAnd:
    return code.bitAnd(x, y);
  case Kind::bitOr:
    return code.bitOr(x, y);
  }
  llvm_unreachable("all kinds are listed");
}

bool ad::isAccumulatedWider(Kind kind, Type element) {
  bool isSum = kind == Kind::sum || kind == Kind::product;
  return isSum && isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

template <typename OpT> static Value reduceBy(TensorCode code, Value x, ArrayRef<int64_t> axes) {
  return OpT::create(code.builder, code.loc, x, axes);
}

// In the accumulator's type, so that the init is added before the sum is rounded.
template <typename OpT> static Value accumulate(TensorCode code, Kind kind, Value x, ArrayRef<int64_t> axes) {
  if (!isAccumulatedWider(kind, TensorCode::elementOf(x)))
    return reduceBy<OpT>(code, x, axes);
  SmallVector<int64_t> shape;
  for (auto [axis, size] : llvm::enumerate(TensorCode::typeOf(x).getShape()))
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      shape.push_back(size);
  auto type = RankedTensorType::get(shape, code.builder.getF32Type());
  return OpT::create(code.builder, code.loc, type, x, axes, /*keepDims=*/false, OrderAttr(),
                     PermissionsAttr());
}

// NaN counts as the neutral value, except where there is nothing else.
template <typename OpT>
static Value reduceNumbers(TensorCode code, Value x, double neutral, ArrayRef<int64_t> axes) {
  Value isNaN = code.isNaN(x);
  Value numbers = reduceBy<OpT>(code, code.select(isNaN, code.number(x, neutral), x), axes);
  Value allNaN = reduceBy<ReduceMinOp>(code, code.cast(isNaN, code.builder.getI32Type()), axes);
  Value isMissing = code.compare(ComparePredicate::eq, allNaN, code.integer(allNaN, 1));
  return code.select(isMissing, code.number(x, std::numeric_limits<double>::quiet_NaN()), numbers);
}

template <typename OpT> static Value reduceBooleans(TensorCode code, Value x, ArrayRef<int64_t> axes) {
  Value reduced = reduceBy<OpT>(code, code.cast(x, code.builder.getI32Type()), axes);
  return code.compare(ComparePredicate::gt, reduced, code.integer(reduced, 0));
}

Value ad::reduce(TensorCode code, Kind kind, Value x, ArrayRef<int64_t> axes) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (kind) {
  case Kind::sum:
    return accumulate<ReduceSumOp>(code, kind, x, axes);
  case Kind::product:
    return accumulate<ReduceProdOp>(code, kind, x, axes);
  case Kind::maximum:
    return reduceBy<ReduceMaxOp>(code, x, axes);
  case Kind::minimum:
    return reduceBy<ReduceMinOp>(code, x, axes);
  case Kind::maxNumber:
    return reduceNumbers<ReduceMaxOp>(code, x, -infinity, axes);
  case Kind::minNumber:
    return reduceNumbers<ReduceMinOp>(code, x, infinity, axes);
  case Kind::unsignedMax:
    return flipSign(code, reduceBy<ReduceMaxOp>(code, flipSign(code, x), axes));
  case Kind::unsignedMin:
    return flipSign(code, reduceBy<ReduceMinOp>(code, flipSign(code, x), axes));
  case Kind::bitAnd:
    return reduceBooleans<ReduceMinOp>(code, x, axes);
  case Kind::bitOr:
    return reduceBooleans<ReduceMaxOp>(code, x, axes);
  }
  llvm_unreachable("all kinds are listed");
}

//===- Neutral values -===//

static Attribute splatOf(Value tensor) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  Attribute constant;
  if (auto full = tensor.getDefiningOp<FullOp>())
    return matchPattern(full.getValue(), m_Constant(&constant)) ? constant : Attribute();
  SplatElementsAttr splat;
  return matchPattern(tensor, m_Constant(&splat)) ? splat.getSplatValue<Attribute>() : Attribute();
}

static bool isNeutralFloat(Kind kind, const APFloat &value) {
  bool isInfinite = value.isInfinity();
  switch (kind) {
  case Kind::sum:
    return value.isZero();
  case Kind::product:
    return value.isExactlyValue(1.0);
  case Kind::maximum:
    return isInfinite && value.isNegative();
  case Kind::minimum:
    return isInfinite && !value.isNegative();
  default: // a NaN is what is left of no numbers
    return false;
  }
}

static bool isNeutralInteger(Kind kind, const APInt &value) {
  switch (kind) {
  case Kind::sum:
  case Kind::unsignedMax:
  case Kind::bitOr:
    return value.isZero();
  case Kind::product:
    return value.isOne();
  case Kind::maximum:
    return value.isMinSignedValue();
  case Kind::minimum:
    return value.isMaxSignedValue();
  case Kind::unsignedMin:
  case Kind::bitAnd:
    return value.isAllOnes();
  default:
    return false;
  }
}

bool ad::isNeutral(Kind kind, Value init) {
  Attribute splat = splatOf(init);
  if (auto number = dyn_cast_or_null<FloatAttr>(splat))
    return isNeutralFloat(kind, number.getValue());
  auto integer = dyn_cast_or_null<IntegerAttr>(splat);
  return integer && isNeutralInteger(kind, integer.getValue());
}
