// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A derivative function: a copy of the function, then the reverse of its operations.

#include "Generate.h"
#include "../Numerics/WriteContract.h"
#include "Check.h"
#include "Inline.h"
#include "Reverse.h"
#include "adjoint/Dialect/AD/IR/ADBuilders.h"
#include "adjoint/Dialect/AD/Transforms/NamedKernelOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ad;

static bool isFloatTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType());
}

//===- Numerics of generated operations -===//

// The contract of the function's derivative: its own ad.adjoint_numerics or the module's, else its own
// ad.numerics. The module's ad.numerics is not read: ad-set-numerics fills it in.
static NumericsAttr adjointNumerics(func::FuncOp primal) {
  for (Operation *op = primal; op; op = op->getParentOp())
    if (auto numerics = op->getAttrOfType<NumericsAttr>(ADDialect::kAdjointNumericsAttr))
      return numerics;
  return primal->getAttrOfType<NumericsAttr>(ADDialect::kNumericsAttr);
}

// The type in which the derivative adds cotangents, by the function's own attribute or that of the module.
static SumType sumTypeOf(func::FuncOp primal) {
  for (Operation *op = primal; op; op = op->getParentOp())
    if (op->hasAttr(ADDialect::kCotangentSumsAttr))
      return SumType::f32;
  return SumType::ofValue;
}

//===- The function -===//

static std::string derivativeName(func::FuncOp primal, ArrayRef<int64_t> wrt, Seed seed) {
  std::string name = (primal.getSymName() + (seed == Seed::one ? "__grad" : "__vjp")).str();
  for (int64_t index : wrt)
    name += "_" + std::to_string(index);
  return name;
}

// A private copy without attributes of arguments, which describe the interface of the original.
static func::FuncOp copyOf(func::FuncOp primal, StringRef name, SymbolTable &symbols) {
  auto copy = func::FuncOp::create(primal.getLoc(), name, primal.getFunctionType());
  copy.setPrivate();
  for (StringRef attribute :
       {ADDialect::kNumericsAttr, ADDialect::kAdjointNumericsAttr, ADDialect::kCotangentSumsAttr})
    if (Attribute value = primal->getAttr(attribute))
      copy->setAttr(attribute, value);
  IRMapping mapping;
  primal.getBody().cloneInto(&copy.getBody(), mapping);
  symbols.insert(copy, std::next(primal->getIterator()));
  return copy;
}

namespace {
/// A result of the primal function and its cotangent.
using SeededResult = std::pair<Value, Value>;
} // namespace

static SmallVector<SeededResult> seedResults(Block &body, Seed seed, OpBuilder &builder) {
  SmallVector<SeededResult> seeds;
  ValueRange results = body.getTerminator()->getOperands();
  if (seed == Seed::one) {
    seeds.emplace_back(results[0], fullLike(builder, body.getTerminator()->getLoc(), results[0], 1.0));
    return seeds;
  }
  for (Value result : results)
    if (isFloatTensor(result.getType()))
      seeds.emplace_back(result, body.addArgument(result.getType(), result.getLoc()));
  return seeds;
}

// Builds the reverse in front of the terminator and gives the cotangents of the arguments.
static LogicalResult buildReverse(Block &body, ArrayRef<SeededResult> seeds, ArrayRef<Value> arguments,
                                  SumType sumType, OpBuilder &builder, Operation *request,
                                  SmallVectorImpl<Value> &gradients) {
  Activity activity(body, arguments, llvm::map_to_vector(seeds, [](auto &seed) { return seed.first; }));
  if (failed(checkDifferentiable(body, activity, request)))
    return failure();

  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    forward.push_back(&op);
  Cotangents cotangents(sumType);
  for (auto [result, cotangent] : llvm::reverse(seeds))
    if (activity.isActive(result))
      cotangents.add(result, cotangent);
  if (failed(Reverser(activity).reverse(forward, cotangents, builder)))
    return failure();

  for (Value argument : arguments) {
    Value gradient = cotangents.take(builder, argument.getLoc(), argument);
    // Zero by analysis: no active operation leads from this argument to a result.
    gradients.push_back(gradient ? gradient : zerosLike(builder, argument.getLoc(), argument));
  }
  return success();
}

FailureOr<func::FuncOp> ad::generateDerivative(func::FuncOp primal, ArrayRef<int64_t> wrt, Seed seed,
                                               SymbolTable &symbols, Operation *request) {
  if (primal.isExternal())
    return request->emitOpError("expected '") << primal.getSymName() << "' to have a body";
  if (!primal.getBody().hasOneBlock())
    return request->emitOpError("expected '")
           << primal.getSymName() << "' to have structured control flow, but got "
           << primal.getBody().getBlocks().size() << " blocks";
  func::FuncOp derivative = copyOf(primal, derivativeName(primal, wrt, seed), symbols);
  if (failed(inlineCalls(derivative, symbols)))
    return failure();
  // The derivative of a named kernel is its own rule, or that of what it consists of.
  auto hasRule = [](Operation *op) { return isa<DifferentiableOpInterface>(op); };
  if (failed(decomposeNamedKernels(derivative, hasRule)))
    return failure();

  Block &body = derivative.getBody().front();
  NumericsAttr numerics = adjointNumerics(primal);
  PermissionWriter writer(numerics ? std::optional(numerics.permissions()) : std::nullopt);
  OpBuilder builder(body.getTerminator(), &writer);
  SmallVector<SeededResult> seeds = seedResults(body, seed, builder);
  SmallVector<Value> arguments =
      llvm::map_to_vector(wrt, [&](int64_t index) -> Value { return body.getArgument(index); });
  SmallVector<Value> gradients;
  if (failed(buildReverse(body, seeds, arguments, sumTypeOf(primal), builder, request, gradients)))
    return failure();

  Operation *terminator = body.getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), gradients);
  derivative.setFunctionType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange(terminator->getOperandTypes())));
  eraseDead(body, nullptr);
  return derivative;
}
