// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A dialect outside of Adjoint with an elementwise operation and a reduction of rows. They implement
// Adjoint's interfaces: so they are differentiated, fused with operations of `ad`, and run on every target.
// Nothing in Adjoint knows them, and nothing here lowers them.

#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/IR/ScalarCode.h"
#include "adjoint/Dialect/AD/Transforms/FusionPolicy.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Interfaces/PrecisionOpInterface.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/Runner.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace {
/// Traits that both operations have: they have one operand and no effects, and implement Adjoint's
/// interfaces.
template <class OpT, template <class> class... Interfaces>
using Operation1 =
    Op<OpT, OpTrait::OneOperand, OpTrait::OneResult, OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
       MemoryEffectOpInterface::Trait, ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
       ad::DifferentiableOpInterface::Trait, ad::NumericsOpInterface::Trait, ad::FusableOpInterface::Trait,
       Interfaces...>;

/// `toy.squareplus`: (x + sqrt(x^2 + 4)) / 2, a smooth relu.
class SquareplusOp : public Operation1<SquareplusOp, OpTrait::SameOperandsAndResultType,
                                       ad::ElementwiseOpInterface::Trait, ad::PrecisionOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.squareplus"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  /// 16-bit floats are computed in f32 and rounded once.
  Value emitScalar(OpBuilder &builder, Location loc, ValueRange scalars) {
    ad::ScalarCode code{builder, loc};
    Value x = code.widen(scalars)[0];
    Value square = code.make<arith::MulFOp>({x, x});
    Value sum = code.make<arith::AddFOp>({square, code.constant(x.getType(), 4)});
    Value root = code.elementary(ad::numerics::Elementary::Sqrt, sum);
    Value half = code.constant(x.getType(), 0.5);
    Value result = code.make<arith::MulFOp>({half, code.make<arith::AddFOp>({x, root})});
    return code.convert(result, scalars[0].getType());
  }
  int64_t getScalarCost() { return 2; }

  /// The square of an f16 would overflow from 256 on, so that policies of f16 leave it in f32. Others are
  /// written on it.
  bool supportsPrecision(Type element) { return !element.isF16(); }
  LogicalResult setPrecision(Type element) {
    (*this)->setAttr("computed_in", TypeAttr::get(element));
    return success();
  }

  /// g * (1 + x / sqrt(x^2 + 4)) / 2.
  LogicalResult vjp(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool>,
                    SmallVectorImpl<Value> &operandCotangents) {
    Location loc = getLoc();
    Value x = getOperand();
    auto add = [&](Value a, Value b) -> Value { return ad::AddOp::create(builder, loc, a, b, nullptr); };
    auto mul = [&](Value a, Value b) -> Value { return ad::MulOp::create(builder, loc, a, b, nullptr); };
    auto number = [&](double value) { return ad::fullLike(builder, loc, x, value); };
    Value reciprocal = ad::RsqrtOp::create(builder, loc, add(mul(x, x), number(4)), nullptr);
    Value slope = mul(add(number(1), mul(x, reciprocal)), number(0.5));
    operandCotangents.push_back(mul(cotangents[0], slope));
    return success();
  }
};

/// `toy.sum_squares`: the sum of x^2 along the last axis.
class SumSquaresOp : public Operation1<SumSquaresOp, ad::ReductionOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.sum_squares"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
  RankedTensorType getInputType() { return cast<RankedTensorType>(getOperand().getType()); }

  ad::FusionKind getFusionKind() { return ad::FusionKind::reduce; }
  SmallVector<utils::IteratorType> getIteratorTypes() {
    SmallVector<utils::IteratorType> loops(getInputType().getRank(), utils::IteratorType::parallel);
    loops.back() = utils::IteratorType::reduction;
    return loops;
  }
  SmallVector<AffineMap> getAccessMaps() {
    AffineMap whole = AffineMap::getMultiDimIdentityMap(getInputType().getRank(), getContext());
    return {whole, whole.getMajorSubMap(getInputType().getRank() - 1)};
  }
  ad::Combiner getCombiner() { return ad::Combiner::sum; }
  Value emitElement(OpBuilder &builder, Location loc, ValueRange scalars) {
    Value x = ad::ScalarCode{builder, loc}.widen(scalars)[0];
    return ad::ScalarCode{builder, loc}.make<arith::MulFOp>({x, x});
  }
  ad::OrderAttr getCanonicalOrder() { return ad::OrderAttr::canonicalLanes(getContext()); }

  /// 2 * x * g, with g repeated along the rows.
  LogicalResult vjp(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool>,
                    SmallVectorImpl<Value> &operandCotangents) {
    SmallVector<int64_t> column(getInputType().getShape());
    column.back() = 1;
    Type type = getInputType().clone(column);
    Value g = ad::reshapeTo(builder, getLoc(), cotangents[0], type, {});
    g = ad::broadcastLike(builder, getLoc(), g, getOperand());
    Value twice = ad::AddOp::create(builder, getLoc(), getOperand(), getOperand(), nullptr);
    operandCotangents.push_back(ad::MulOp::create(builder, getLoc(), twice, g, nullptr));
    return success();
  }
};

/// Functions with operations of the dialect can be inlined, as every program is before it is compiled.
struct ToyInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};

/// `toy.shifted %x, %row`: their sum, where the row repeats. It has no contract, permissions or order.
class ShiftedOp : public Op<ShiftedOp, OpTrait::NOperands<2>::Impl, OpTrait::OneResult, OpTrait::ZeroRegions,
                            OpTrait::ZeroSuccessors, MemoryEffectOpInterface::Trait,
                            ConditionallySpeculatable::Trait, OpTrait::AlwaysSpeculatableImplTrait,
                            ad::FusableOpInterface::Trait, ad::ElementwiseOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.shifted"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}

  Value emitScalar(OpBuilder &builder, Location loc, ValueRange scalars) {
    return arith::AddFOp::create(builder, loc, scalars[0], scalars[1]);
  }
};

/// Its scalar code gives numbers of another type, adds integers as floats, or gives nothing, by its operand's
/// type.
class WrongOp
    : public Operation1<WrongOp, OpTrait::SameOperandsAndResultType, ad::ElementwiseOpInterface::Trait> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.wrong"; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
  LogicalResult vjp(OpBuilder &, ValueRange, ArrayRef<bool>, SmallVectorImpl<Value> &) { return failure(); }

  Value emitScalar(OpBuilder &builder, Location loc, ValueRange scalars) {
    Type type = scalars[0].getType();
    if (type.isF64())
      return {};
    if (type.isF32())
      return arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(1));
    return arith::AddFOp::create(builder, loc, scalars[0], scalars[0]);
  }
};

class ToyDialect : public Dialect {
public:
  explicit ToyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addOperations<SquareplusOp, SumSquaresOp, ShiftedOp, WrongOp>();
    addInterfaces<ToyInliner>();
  }
  static StringRef getDialectNamespace() { return "toy"; }
};

/// `f` is one kernel: an operation of `ad` before, between and after those of the dialect.
constexpr const char *kProgram = R"(
func.func @f(%x: tensor<6x200xf32>, %w: tensor<6x200xf32>) -> tensor<6xf32> {
  %0 = ad.mul %x, %w : tensor<6x200xf32>
  %1 = "toy.squareplus"(%0) : (tensor<6x200xf32>) -> tensor<6x200xf32>
  %2 = ad.sub %1, %x : tensor<6x200xf32>
  %3 = "toy.sum_squares"(%2) : (tensor<6x200xf32>) -> tensor<6xf32>
  %4 = ad.log %3 : tensor<6xf32>
  return %4 : tensor<6xf32>
}
func.func @loss(%x: tensor<6x200xf32>, %w: tensor<6x200xf32>) -> tensor<f32> {
  %0 = func.call @f(%x, %w) : (tensor<6x200xf32>, tensor<6x200xf32>) -> tensor<6xf32>
  %1 = ad.reduce_sum %0 axes [0] : tensor<6xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @main(%x: tensor<6x200xf32>, %w: tensor<6x200xf32>)
    -> (tensor<6xf32>, tensor<6x200xf32>, tensor<6x200xf32>, tensor<6x200xf32>) {
  %0 = func.call @f(%x, %w) : (tensor<6x200xf32>, tensor<6x200xf32>) -> tensor<6xf32>
  %v, %g, %h = ad.value_and_grad @loss(%x, %w) wrt [0, 1]
      : (tensor<6x200xf32>, tensor<6x200xf32>) -> (tensor<f32>, tensor<6x200xf32>, tensor<6x200xf32>)
  %row = ad.reduce_max %w axes [0] : tensor<6x200xf32> -> tensor<200xf32>
  %s = "toy.shifted"(%x, %row) : (tensor<6x200xf32>, tensor<200xf32>) -> tensor<6x200xf32>
  return %0, %g, %h, %s : tensor<6xf32>, tensor<6x200xf32>, tensor<6x200xf32>, tensor<6x200xf32>
}
)";

/// What the runner knows, and the dialect.
void registerDialects(DialectRegistry &registry) {
  ad::runner::standardHooks().registerDialects(registry);
  registry.insert<ToyDialect>();
}

/// Wants kernels of its own for logarithms.
struct LogarithmsApart : ad::FusionPolicy {
  using FusionPolicy::FusionPolicy;
  StringRef whyNotJoined(ArrayRef<Operation *> one, ArrayRef<Operation *> other) const override {
    bool joins = llvm::any_of(one, llvm::IsaPred<ad::LogOp>) != llvm::any_of(other, llvm::IsaPred<ad::LogOp>);
    return joins ? "logarithms have kernels of their own" : "";
  }
};

/// Prints the module after fusion: `f` is one `ad.fusion` without a policy.
bool printFusions(bool hasPolicy) {
  DialectRegistry registry;
  registerDialects(registry);
  if (hasPolicy)
    ad::registerFusionPolicy<LogarithmsApart>(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
  PassManager pm(&context);
  ad::AdToCpuOptions options;
  ad::buildAdFrontendPipeline(pm, options);
  ad::buildAdFusionPipeline(pm, options);
  if (!module || failed(pm.run(*module)))
    return false;
  llvm::outs() << *module << "\n";
  return true;
}

/// Prints the operation after a policy, a name or a file. `rule` is that of the operation itself, if it has
/// one.
bool printPrecision(StringRef policy, StringRef rule) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
  (*module)->walk([&](SquareplusOp op) {
    if (!rule.empty())
      op->setAttr("ad.precision", mlir::parseAttribute(("#ad.precision<" + rule + ">").str(), &context));
  });
  PassManager pm(&context);
  if (failed(parsePassPipeline(("ad-autocast{policy=" + policy + "}").str(), pm, llvm::errs())))
    return false;
  bool done = succeeded(pm.run(*module));
  for (Operation &op : cast<func::FuncOp>(module->lookupSymbol("f")).getOps())
    if (isa<SquareplusOp>(op))
      llvm::outs() << policy << ": " << (done ? "" : "refused ") << op << "\n";
  return true;
}

/// Prints the target, then one line for each result of the program for two arguments that a formula gives.
bool printResults(const std::string &target) {
  ad::runner::Hooks hooks = ad::runner::standardHooks();
  hooks.registerDialects = registerDialects;
  ad::runner::ProgramOptions options;
  options.target = target;
  options.cache = "off";
  options.numerics = "reproducible";
  ad::runner::Failure failure;
  auto program =
      ad::runner::Program::compile(kProgram, "rows.mlir", options, hooks, [] { return false; }, failure);
  int64_t shape[] = {6, 200};
  std::vector<float> x(1200), w(1200);
  for (int i = 0; i < 1200; ++i) {
    x[i] = static_cast<float>(i * 37 % 101 - 50) / 32;
    w[i] = static_cast<float>(i * 53 % 89 - 44) / 16;
  }
  adrt_tensor arguments[] = {{x.data(), shape, /*rank=*/2, ADRT_F32},
                             {w.data(), shape, /*rank=*/2, ADRT_F32}};
  std::vector<ad::runner::ProgramResult> results;
  if (!program || !program->run({arguments[0], arguments[1]}, {}, results, failure)) {
    llvm::errs() << target << ": " << failure.message << "\n";
    for (const ad::runner::Message &message : failure.diagnostics)
      llvm::errs() << message.severity << ": " << message.text << "\n";
    return false;
  }
  llvm::outs() << target << "\n";
  for (const ad::runner::ProgramResult &result : results) {
    for (int64_t i = 0, count = ShapedType::getNumElements(result.shape); i < count; ++i)
      llvm::outs() << llvm::format("%.9g ", static_cast<const float *>(result.data.data())[i]);
    llvm::outs() << "\n";
  }
  return true;
}
} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(ToyDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(ToyDialect)

/// Says what is wrong with operations whose scalar code is not that of their elements, and gives whether one
/// was refused.
static bool acceptsWrongCode(StringRef element) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string type = ("tensor<4x" + element + ">").str();
  std::string text = "func.func @f(%x: " + type + ") -> " + type + " {\n  %0 = \"toy.wrong\"(%x) : (" + type +
                     ") -> " + type + "\n  return %0 : " + type + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  PassManager pm(&context);
  ad::buildAdFrontendPipeline(pm, ad::AdToCpuOptions());
  return !module || succeeded(pm.run(*module));
}

/// Arguments are files of policies.
int main(int argc, char **argv) {
  ad::registerADTransformsPasses();
  for (const char *policy : {"bf16", "f16"})
    if (!printPrecision(policy, "always"))
      return 3;
  for (int index = 1; index < argc; ++index)
    if (!printPrecision(argv[index], ""))
      return 3;
  for (const char *element : {"f32", "f64", "i32"})
    if (acceptsWrongCode(element))
      return 4;
  if (!printFusions(/*hasPolicy=*/true) || !printFusions(/*hasPolicy=*/false))
    return 1;
  for (const char *target : {"reference", "cpu", "gpu-sim"})
    if (!printResults(target))
      return 2;
  return 0;
}
