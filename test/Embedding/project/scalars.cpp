// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A dialect outside of Adjoint with scalars, complex numbers and types of its own. Derivative rules are asked
// for all of them; a value that none passes on is an error, and a token carries no derivative.

#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Differentiate.h"
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace {
/// `!toy.box` may hold anything, `!toy.token` holds nothing.
struct BoxType : Type::TypeBase<BoxType, Type, TypeStorage> {
  using Base::Base;
  static constexpr StringLiteral name = "toy.box";
};
struct TokenType : Type::TypeBase<TokenType, Type, TypeStorage, ad::DerivativeTypeInterface::Trait> {
  using Base::Base;
  static constexpr StringLiteral name = "toy.token";
  bool carriesDerivative() const { return false; }
};

/// Pure operations with one result, which differ in their names.
template <class OpT>
struct PureOp : Op<OpT, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                   OpTrait::VariadicOperands, MemoryEffectOpInterface::Trait> {
  using Base = Op<OpT, OpTrait::ZeroRegions, OpTrait::OneResult, OpTrait::ZeroSuccessors,
                  OpTrait::VariadicOperands, MemoryEffectOpInterface::Trait>;
  using Base::Base;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &) {}
  static Value create(OpBuilder &builder, Location loc, Type type, ValueRange operands) {
    OperationState state(loc, OpT::getOperationName());
    state.addTypes(type);
    state.addOperands(operands);
    return builder.create(state)->getResult(0);
  }
};
#define TOY_OP(NAME, MNEMONIC)                                                                               \
  struct NAME : PureOp<NAME> {                                                                               \
    using PureOp::PureOp;                                                                                    \
    static StringRef getOperationName() { return "toy." MNEMONIC; }                                          \
  };
TOY_OP(CubeOp, "cube")
TOY_OP(ComplexOp, "complex")
TOY_OP(ReOp, "re")
TOY_OP(ImOp, "im")
TOY_OP(MulOp, "mul")
TOY_OP(ConjOp, "conj")
TOY_OP(PackOp, "pack")
TOY_OP(MarkOp, "mark")
TOY_OP(WaitOp, "wait")
#undef TOY_OP

class ToyDialect : public Dialect {
public:
  explicit ToyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addTypes<BoxType, TokenType>();
    addOperations<CubeOp, ComplexOp, ReOp, ImOp, MulOp, ConjOp, PackOp, MarkOp, WaitOp>();
  }
  static StringRef getDialectNamespace() { return "toy"; }
  Type parseType(DialectAsmParser &parser) const override {
    StringRef keyword;
    if (failed(parser.parseKeyword(&keyword)))
      return {};
    if (keyword == "box")
      return BoxType::get(getContext());
    return TokenType::get(getContext());
  }
  void printType(Type type, DialectAsmPrinter &printer) const override {
    printer << (isa<BoxType>(type) ? "box" : "token");
  }
};

/// The model of an operation by a function from the cotangent of its result to those of its operands. It does
/// not say which operands are differentiable: their types do.
template <class OpT, void (*rule)(Operation *, OpBuilder &, Value, SmallVectorImpl<Value> &)>
struct Model : ad::DifferentiableOpInterface::ExternalModel<Model<OpT, rule>, OpT> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool>,
                    SmallVectorImpl<Value> &ofOperands) const {
    rule(op, builder, cotangents[0], ofOperands);
    return success();
  }
};

Value zero(Operation *op, OpBuilder &builder) {
  return arith::ConstantOp::create(builder, op->getLoc(), builder.getF32FloatAttr(0));
}
Type complexType(OpBuilder &builder) { return ComplexType::get(builder.getF32Type()); }

void cubeRule(Operation *op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &given) {
  auto mul = [&](Value a, Value b) -> Value { return arith::MulFOp::create(builder, op->getLoc(), a, b); };
  Value x = op->getOperand(0),
        three = arith::ConstantOp::create(builder, op->getLoc(), builder.getF32FloatAttr(3));
  given.push_back(mul(g, mul(three, mul(x, x))));
}
// The cotangent of a complex number has those of its parts as parts.
void complexRule(Operation *op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &given) {
  given.push_back(ReOp::create(builder, op->getLoc(), builder.getF32Type(), g));
  given.push_back(ImOp::create(builder, op->getLoc(), builder.getF32Type(), g));
}
void imRule(Operation *op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &given) {
  given.push_back(
      ComplexOp::create(builder, op->getLoc(), complexType(builder), ValueRange{zero(op, builder), g}));
}
void mulRule(Operation *op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &given) {
  for (unsigned other : {1, 0}) {
    Value conjugate = ConjOp::create(builder, op->getLoc(), complexType(builder), op->getOperand(other));
    given.push_back(MulOp::create(builder, op->getLoc(), complexType(builder), ValueRange{g, conjugate}));
  }
}
void conjRule(Operation *op, OpBuilder &builder, Value g, SmallVectorImpl<Value> &given) {
  given.push_back(ConjOp::create(builder, op->getLoc(), complexType(builder), g));
}

/// Replaces the operations of the dialect by arithmetic on real and imaginary parts.
class Lowering {
public:
  void run(ModuleOp module) {
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa<ToyDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      lower(op);
    for (Operation *op : llvm::reverse(ops))
      op->erase();
  }

private:
  template <class OpT> Value make(OpBuilder &builder, Value a, Value b) {
    return OpT::create(builder, a.getLoc(), a, b);
  }
  void lower(Operation *op) {
    OpBuilder b(op);
    Value x = op->getNumOperands() ? op->getOperand(0) : Value(), result = op->getResult(0);
    if (isa<CubeOp>(op))
      result.replaceAllUsesWith(make<arith::MulFOp>(b, x, make<arith::MulFOp>(b, x, x)));
    else if (isa<WaitOp>(op))
      result.replaceAllUsesWith(arith::ConstantOp::create(b, op->getLoc(), b.getF32FloatAttr(1)).getResult());
    else if (isa<ComplexOp>(op))
      parts[result] = {x, op->getOperand(1)};
    else if (isa<ConjOp>(op))
      parts[result] = {parts[x].first, arith::NegFOp::create(b, op->getLoc(), parts[x].second)};
    else if (isa<ReOp>(op))
      result.replaceAllUsesWith(parts[x].first);
    else if (isa<ImOp>(op))
      result.replaceAllUsesWith(parts[x].second);
    else if (isa<MulOp>(op))
      parts[result] = product(b, parts[x], parts[op->getOperand(1)]);
  }
  using Parts = std::pair<Value, Value>;
  Parts product(OpBuilder &b, Parts x, Parts y) {
    auto mul = [&](Value p, Value q) { return make<arith::MulFOp>(b, p, q); };
    return {make<arith::SubFOp>(b, mul(x.first, y.first), mul(x.second, y.second)),
            make<arith::AddFOp>(b, mul(x.first, y.second), mul(x.second, y.first))};
  }
  llvm::DenseMap<Value, Parts> parts;
};

/// The square of Im(conj((a^3 + b i) (2 - 3i))) = 3 a^3 - 2 b; waiting for a token gives 1.
constexpr const char *kProgram = R"(
func.func private @f(%x: tensor<2xf32>) -> tensor<f32> {
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  %three = arith.constant -3.0 : f32
  %a = tensor.extract %x[%i0] : tensor<2xf32>
  %b = tensor.extract %x[%i1] : tensor<2xf32>
  %c = "toy.cube"(%a) : (f32) -> f32
  %z = "toy.complex"(%c, %b) : (f32, f32) -> complex<f32>
  %k = "toy.complex"(%two, %three) : (f32, f32) -> complex<f32>
  %m = "toy.mul"(%z, %k) : (complex<f32>, complex<f32>) -> complex<f32>
  %n = "toy.conj"(%m) : (complex<f32>) -> complex<f32>
  %i = "toy.im"(%n) : (complex<f32>) -> f32
  %token = "toy.mark"(%a) : (f32) -> !toy.token
  %one = "toy.wait"(%token) : (!toy.token) -> f32
  %p = arith.mulf %i, %one : f32
  %y = ad.full %p : f32 -> tensor<f32>
  %l = ad.mul %y, %y : tensor<f32>
  return %l : tensor<f32>
}
func.func @main(%x: tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>) {
  %v, %g = ad.value_and_grad @f(%x) wrt [0] : (tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  return %v, %g : tensor<f32>, tensor<2xf32>
}
)";

/// Bodies of functions that have no derivative. A box has no rule, a complex number with two uses no sum.
constexpr const char *kRefused[] = {
    R"(%y = "toy.pack"(%s) : (f32) -> !toy.box
       %r = "toy.cube"(%y) : (!toy.box) -> f32)",
    R"(%z = "toy.complex"(%s, %s) : (f32, f32) -> complex<f32>
       %w = "toy.mul"(%z, %z) : (complex<f32>, complex<f32>) -> complex<f32>
       %r = "toy.im"(%w) : (complex<f32>) -> f32)"};

std::string refusedProgram(StringRef body) {
  return ("func.func private @f(%x: tensor<f32>) -> tensor<f32> {\n%s = tensor.extract %x[] : tensor<f32>\n" +
          body + "\n%t = ad.full %r : f32 -> tensor<f32>\nreturn %t : tensor<f32>\n}\n" +
          "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n" +
          "%v, %g = ad.value_and_grad @f(%x) wrt [0] : (tensor<f32>) -> (tensor<f32>, tensor<f32>)\n" +
          "return %g : tensor<f32>\n}\n")
      .str();
}

/// Prints the errors of a program that cannot be differentiated.
bool printErrors(MLIRContext &context, const char *body) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(refusedProgram(body), &context);
  ScopedDiagnosticHandler handler(&context,
                                  [](Diagnostic &diagnostic) { llvm::outs() << diagnostic << "\n"; });
  return module && failed(ad::differentiate(*module));
}

/// Prints the value and the gradient for (a, b) = (0.5, 2).
bool printGradient(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  ad::runner::Failure failure;
  ad::runner::ProgramOptions options;
  options.cache = "off";
  options.target = "reference";
  auto program = ad::runner::Program::compile(
      text, "scalars.mlir", options, ad::runner::standardHooks(), [] { return false; }, failure);
  float x[] = {0.5, 2};
  int64_t size = 2;
  std::vector<ad::runner::ProgramResult> results;
  if (!program || !program->run({{x, &size, /*rank=*/1, ADRT_F32}}, {}, results, failure)) {
    llvm::errs() << "scalars: " << failure.message << "\n" << text;
    return false;
  }
  for (const ad::runner::ProgramResult &result : results)
    for (int64_t i = 0, count = result.shape.empty() ? 1 : result.shape[0]; i < count; ++i)
      llvm::outs() << llvm::format("%g ", static_cast<const float *>(result.data.data())[i]);
  llvm::outs() << "\n";
  return true;
}
} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(ToyDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(ToyDialect)

int main() {
  DialectRegistry registry;
  registry.insert<ad::ADDialect, arith::ArithDialect, func::FuncDialect, tensor::TensorDialect, ToyDialect>();
  ad::registerDerivatives(registry);
  registry.addExtension(+[](MLIRContext *context, ToyDialect *) {
    CubeOp::attachInterface<Model<CubeOp, cubeRule>>(*context);
    ComplexOp::attachInterface<Model<ComplexOp, complexRule>>(*context);
    ImOp::attachInterface<Model<ImOp, imRule>>(*context);
    MulOp::attachInterface<Model<MulOp, mulRule>>(*context);
    ConjOp::attachInterface<Model<ConjOp, conjRule>>(*context);
  });
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  for (const char *body : kRefused)
    if (!printErrors(context, body))
      return 1;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
  if (!module || failed(ad::differentiate(*module)))
    return 2;
  Lowering().run(*module);
  return printGradient(*module) ? 0 : 3;
}
