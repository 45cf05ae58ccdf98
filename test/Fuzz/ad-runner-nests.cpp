// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An ad-runner with a dialect whose operations say by attributes what LoopNestOpInterface and
// OrderedWriteOpInterface ask them, so that a test can write any nest as text.
//
//   "nest.loops"(OPERANDS) {loops = "pr", accesses = […], results = [MAP, …], combine = "linear"}
//   "nest.write"(DESTINATION, OPERANDS) {loops = "pp", accesses = […], combine = "add"}
//
//   "nest.kernel"(OPERAND) {depth = 2}, a named kernel
//
// `loops` has one letter for each loop: p is parallel, r is reduced; those of a write are p.
//
// `sizes`, array<i64: …>, has the sizes of the loops where operands and results do not say them.
//
// `accesses` has {map, indices = array<i32: operands>, outside, padding = NUMBER} for each tensor. All but
// the map may be missing; `outside` is "error", "clamp", "value" or "drop".
//
// The value of an iteration is the product of the operands that are no indices, in f32 for f16. `combine`
// says how values become results.
//
// - product: without reduction loops, each value is a result, and the second result is its square.
//
// - sum, max: one accumulator.
//
// - argmax: the largest value and the number of its iteration along the last loop, the first one of equal
// ones.
//
// - linear: value * x + 1 after value * x + 1 and so on, two accumulators, which do not commute.
//
// - set, add: of a write.

#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Interfaces/LoopNestOpInterface.h"
#include "adjoint/Interfaces/NamedKernelOpInterface.h"
#include "adjoint/Interfaces/OrderedWriteOpInterface.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace mlir::ad;

namespace {
template <class OpT, template <class> class... Traits>
using NestOp = Op<OpT, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors, OpTrait::VariadicOperands,
                  MemoryEffectOpInterface::Trait, ConditionallySpeculatable::Trait,
                  OpTrait::AlwaysSpeculatableImplTrait, NumericsOpInterface::Trait, FusableOpInterface::Trait,
                  ReifyRankedShapedTypeOpInterface::Trait, Traits...>;

//===- Attributes -===//

StringRef textOf(Operation *op, StringRef name) {
  auto text = op->getAttrOfType<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

OutOfRange outsideOf(DictionaryAttr access) {
  auto text = access.getAs<StringAttr>("outside");
  return llvm::StringSwitch<OutOfRange>(text ? text.getValue() : "error")
      .Case("clamp", OutOfRange::clamp)
      .Case("value", OutOfRange::value)
      .Case("drop", OutOfRange::drop)
      .Default(OutOfRange::error);
}

SmallVector<ElementAccess> accessesOf(Operation *op) {
  SmallVector<ElementAccess> accesses;
  auto written = op->getAttrOfType<ArrayAttr>("accesses");
  for (auto access : written ? written.getAsRange<DictionaryAttr>()
                             : ArrayAttr::get(op->getContext(), {}).getAsRange<DictionaryAttr>()) {
    auto map = access.getAs<AffineMapAttr>("map");
    auto indices = access.getAs<DenseI32ArrayAttr>("indices");
    SmallVector<unsigned> operands;
    if (indices)
      llvm::append_range(operands, indices.asArrayRef());
    accesses.emplace_back(map ? map.getValue() : AffineMap(), operands, outsideOf(access),
                          access.getAs<TypedAttr>("padding"));
  }
  return accesses;
}

/// The written sizes; empty without any.
SmallVector<OpFoldResult> writtenSizes(Operation *op, OpBuilder &builder) {
  auto sizes = op->getAttrOfType<DenseI64ArrayAttr>("sizes");
  SmallVector<OpFoldResult> written;
  for (int64_t size : sizes ? sizes.asArrayRef() : ArrayRef<int64_t>())
    written.push_back(builder.getIndexAttr(size));
  return written;
}

//===- Scalar code -===//

/// The product of the scalars that no access has as an index.
Value valueOf(Operation *op, OpBuilder &builder, Location loc, ValueRange scalars, unsigned first) {
  ScalarCode code{builder, loc};
  SmallVector<ElementAccess> accesses = accessesOf(op);
  Value product;
  for (unsigned operand = first; operand < op->getNumOperands(); ++operand) {
    if (llvm::any_of(accesses, [&](const ElementAccess &access) {
          return llvm::is_contained(access.indexOperands, operand);
        }))
      continue;
    Value value = code.widen(scalars[operand])[0];
    product = product ? code.make<arith::MulFOp, arith::MulIOp>({product, value}) : value;
  }
  return product;
}

Value larger(ScalarCode code, Value a, Value b) {
  return code.make<arith::MaximumFOp, arith::MaxSIOp>({a, b});
}
Value sum(ScalarCode code, Value a, Value b) { return code.make<arith::AddFOp, arith::AddIOp>({a, b}); }
Value product(ScalarCode code, Value a, Value b) { return code.make<arith::MulFOp, arith::MulIOp>({a, b}); }

//===- Operations -===//

class LoopsOp : public NestOp<LoopsOp, OpTrait::VariadicResults, LoopNestOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "nest.loops"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  SmallVector<utils::IteratorType> getLoops() {
    return llvm::map_to_vector(textOf(*this, "loops"), [](char kind) {
      return kind == 'r' ? utils::IteratorType::reduction : utils::IteratorType::parallel;
    });
  }
  SmallVector<ElementAccess> getAccesses() { return accessesOf(*this); }
  SmallVector<AffineMap> getResultMaps() {
    auto maps = (*this)->getAttrOfType<ArrayAttr>("results");
    SmallVector<AffineMap> results;
    for (Attribute map : maps ? maps.getValue() : ArrayRef<Attribute>())
      results.push_back(cast<AffineMapAttr>(map).getValue());
    return results;
  }
  SmallVector<OpFoldResult> getLoopSizes(OpBuilder &builder) {
    SmallVector<OpFoldResult> written = writtenSizes(*this, builder);
    return written.empty() ? defaultLoopSizes(*this, builder) : written;
  }
  LogicalResult reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
    for (unsigned result = 0; result < (*this)->getNumResults(); ++result)
      shapes.push_back(sizesOfResult(cast<LoopNestOpInterface>(getOperation()), builder, result));
    return success();
  }

  StringRef form() { return textOf(*this, "combine"); }
  SmallVector<Value> emitElement(OpBuilder &builder, Location loc, ValueRange scalars, ValueRange indices) {
    ScalarCode code{builder, loc};
    Value value = valueOf(*this, builder, loc, scalars, 0);
    if (form() == "argmax")
      return {value, arith::IndexCastOp::create(builder, loc, builder.getI64Type(), indices.back())};
    if (form() == "linear")
      return {value, code.constant(value.getType(), 1)};
    if (form() != "product")
      return {value};
    SmallVector<Value> results{value, product(code, value, value)};
    results.resize((*this)->getNumResults());
    for (auto [result, type] : llvm::zip_equal(results, (*this)->getResultTypes()))
      result = code.convert(result, getElementTypeOrSelf(type));
    return results;
  }
  SmallVector<Value> emitNeutral(OpBuilder &builder, Location loc) {
    ScalarCode code{builder, loc};
    Type type = getElementTypeOrSelf((*this)->getResult(0));
    if (type.isF16())
      type = builder.getF32Type();
    bool selects = form() == "max" || form() == "argmax";
    Value lowest;
    if (auto number = dyn_cast<FloatType>(type))
      lowest = arith::ConstantOp::create(
          builder, loc, FloatAttr::get(type, APFloat::getInf(number.getFloatSemantics(), /*Negative=*/true)));
    else
      lowest = arith::ConstantOp::create(
          builder, loc, builder.getIntegerAttr(type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth())));
    if (form() == "argmax")
      return {lowest, code.constant(builder.getI64Type(), -1)};
    if (form() == "linear")
      return {code.constant(type, 1), code.constant(type, 0)};
    return {selects ? lowest : code.constant(type, 0)};
  }
  SmallVector<Value> emitCombine(OpBuilder &builder, Location loc, ValueRange left, ValueRange right) {
    ScalarCode code{builder, loc};
    if (form() == "max")
      return {larger(code, left[0], right[0])};
    if (form() == "linear")
      return {product(code, left[0], right[0]), sum(code, product(code, left[1], right[0]), right[1])};
    if (form() != "argmax")
      return {sum(code, left[0], right[0])};
    Value isLarger = isa<FloatType>(left[0].getType())
                         ? code.compare(arith::CmpFPredicate::OGT, right[0], left[0])
                         : code.compare(arith::CmpIPredicate::sgt, right[0], left[0]);
    return {code.select(isLarger, right[0], left[0]), code.select(isLarger, right[1], left[1])};
  }
  SmallVector<Value> emitResults(OpBuilder &builder, Location loc, ValueRange last) {
    ScalarCode code{builder, loc};
    SmallVector<Value> results(last);
    if (form() == "linear")
      results = {last[1], last[0]};
    results.resize((*this)->getNumResults());
    for (auto [result, type] : llvm::zip_equal(results, (*this)->getResultTypes()))
      result = code.convert(result, getElementTypeOrSelf(type));
    return results;
  }
};

class WriteOp : public NestOp<WriteOp, OpTrait::OneResult, OrderedWriteOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "nest.write"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  unsigned getDestination() { return 0; }
  unsigned getLoopCount() { return textOf(*this, "loops").size(); }
  SmallVector<ElementAccess> getAccesses() { return accessesOf(*this); }
  SmallVector<OpFoldResult> getLoopSizes(OpBuilder &builder) {
    SmallVector<OpFoldResult> written = writtenSizes(*this, builder);
    return written.empty() ? defaultWriteSizes(*this, builder) : written;
  }
  LogicalResult reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getOperand(0)));
    return success();
  }

  Value emitStart(OpBuilder &builder, Location loc, Value element) {
    return ScalarCode{builder, loc}.widen(element)[0];
  }
  Value emitUpdate(OpBuilder &builder, Location loc, ValueRange scalars, ValueRange) {
    Value value = valueOf(*this, builder, loc, scalars, 1);
    return textOf(*this, "combine") == "set" ? value : sum({builder, loc}, scalars[0], value);
  }
  Value emitResult(OpBuilder &builder, Location loc, Value accumulator) {
    return ScalarCode{builder, loc}.convert(accumulator, getElementTypeOrSelf((*this)->getResult(0)));
  }
};

/// Negates its operand depth + 1 times: it consists of a negation and of an operation of less depth. A
/// negative depth never ends: that of -1 consists of one, of -2 of two of its kind.
class KernelOp : public NestOp<KernelOp, OpTrait::OneResult, OpTrait::SameOperandsAndResultType,
                               NamedKernelOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "nest.kernel"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
  LogicalResult reifyResultShapes(OpBuilder &builder, ReifiedRankedShapedTypeDims &shapes) {
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getOperand(0)));
    return success();
  }

  FailureOr<SmallVector<Value>> decompose(OpBuilder &builder) {
    auto written = (*this)->getAttrOfType<IntegerAttr>("depth");
    int64_t depth = written ? written.getInt() : 0;
    Value value = getOperand(0);
    if (depth >= 0)
      value = NegOp::create(builder, getLoc(), value, nullptr);
    int64_t inner = depth > 0 ? 1 : -depth;
    for (int64_t number = 0; number < inner; ++number) {
      OperationState state(getLoc(), getOperationName(), value, value.getType());
      state.addAttribute("depth", builder.getI64IntegerAttr(depth > 0 ? depth - 1 : depth));
      value = builder.create(state)->getResult(0);
    }
    return SmallVector<Value>{value};
  }
};

struct NestInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

class NestDialect : public Dialect {
public:
  explicit NestDialect(MLIRContext *context) : Dialect("nest", context, TypeID::get<NestDialect>()) {
    addOperations<KernelOp, LoopsOp, WriteOp>();
    addInterfaces<NestInliner>();
  }
  static StringRef getDialectNamespace() { return "nest"; }
};

void registerDialects(DialectRegistry &registry) {
  runner::standardHooks().registerDialects(registry);
  registry.insert<NestDialect>();
}
} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(NestDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(NestDialect)

int main(int argc, char **argv) {
  runner::Hooks hooks = runner::standardHooks();
  hooks.registerDialects = registerDialects;
  return runner::runnerMain(argc, argv, hooks);
}
