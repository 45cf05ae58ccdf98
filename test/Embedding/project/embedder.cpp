// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An outside compiler with a dialect of its own. It registers `ad` too, differentiates a function that
// uses both, lowers the result to the LLVM dialect, and runs it, all in its own process.

#include "adjoint/Dialect/AD/Derivatives/Derivatives.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/Differentiate.h"
#include "adjoint/Pipelines/Pipelines.h"
#include "adjoint/Runner/Program.h"
#include "adjoint/Runner/StandardHooks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace {
/// `toy.triple`: three times a tensor. Its derivative rule uses operations of `ad`.
class TripleOp : public Op<TripleOp, OpTrait::OneOperand, OpTrait::OneResult, OpTrait::ZeroRegions,
                           OpTrait::ZeroSuccessors, OpTrait::SameOperandsAndResultType> {
public:
  using Op::Op;
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  static StringRef getOperationName() { return "toy.triple"; }
};

class ToyDialect : public Dialect {
public:
  explicit ToyDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<ToyDialect>()) {
    addOperations<TripleOp>();
  }
  static StringRef getDialectNamespace() { return "toy"; }
};

struct TripleVjp : ad::DifferentiableOpInterface::ExternalModel<TripleVjp, TripleOp> {
  LogicalResult vjp(Operation *op, OpBuilder &builder, ValueRange cotangents, ArrayRef<bool>,
                    SmallVectorImpl<Value> &operandCotangents) const {
    Value g = cotangents[0];
    Value twice = ad::AddOp::create(builder, op->getLoc(), g, g, nullptr);
    operandCotangents.push_back(ad::AddOp::create(builder, op->getLoc(), twice, g, nullptr));
    return success();
  }
};

/// What the embedder does with its own operation before it hands the module on.
void lowerToy(ModuleOp module) {
  SmallVector<TripleOp> triples;
  module.walk([&](TripleOp op) { triples.push_back(op); });
  for (TripleOp op : triples) {
    OpBuilder builder(op);
    Value x = op->getOperand(0);
    Value twice = ad::AddOp::create(builder, op.getLoc(), x, x, nullptr);
    op.replaceAllUsesWith(ad::AddOp::create(builder, op.getLoc(), twice, x, nullptr).getResult());
    op.erase();
  }
}

/// Prints what the program gives for x = (1, 2, 3.5, -4): the value, then the gradient.
bool runProgram(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  ad::runner::Failure failure;
  ad::runner::ProgramOptions options;
  options.cache = "off";
  auto program = ad::runner::Program::compile(
      text, "embedded.mlir", options, ad::runner::standardHooks(), [] { return false; }, failure);
  float x[] = {1, 2, 3.5, -4};
  int64_t size = 4;
  adrt_tensor argument = {x, &size, /*rank=*/1, ADRT_F32};
  std::vector<ad::runner::ProgramResult> results;
  if (!program || !program->run({argument}, {}, results, failure) || results.size() != 2) {
    llvm::errs() << "embedder: " << failure.message << "\n";
    return false;
  }
  for (const ad::runner::ProgramResult &result : results)
    for (int64_t i = 0, count = result.shape.empty() ? 1 : result.shape[0]; i < count; ++i)
      llvm::outs() << llvm::format("%g ", static_cast<const float *>(result.data.data())[i]);
  llvm::outs() << "\n";
  return true;
}

constexpr const char *kProgram = R"(
func.func private @f(%x: tensor<4xf32>) -> tensor<f32> {
  %t = "toy.triple"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = ad.reduce_sum %t axes [0] : tensor<4xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @main(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %v, %g = ad.value_and_grad @f(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %v, %g : tensor<f32>, tensor<4xf32>
}
)";
} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(ToyDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(ToyDialect)

int main() {
  DialectRegistry registry;
  registry.insert<ad::ADDialect, arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, ToyDialect>();
  ad::registerDerivatives(registry);
  func::registerInlinerExtension(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  registry.addExtension(
      +[](MLIRContext *context, ToyDialect *) { TripleOp::attachInterface<TripleVjp>(*context); });
  MLIRContext context(registry);
  context.loadAllAvailableDialects();

  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(kProgram, &context);
  if (!module || failed(ad::differentiate(*module)))
    return 1;
  unsigned gradients = 0;
  module->walk([&](Operation *op) { gradients += isa<ad::ValueAndGradOp>(op); });
  if (gradients != 0)
    return 2;
  lowerToy(*module);
  if (!runProgram(*module))
    return 5;
  PassManager pm(&context);
  ad::AdToCpuOptions options;
  ad::buildAdToCpuPipeline(pm, options);
  if (failed(pm.run(*module)))
    return 3;
  if (!module->lookupSymbol<LLVM::LLVMFuncOp>("adrt_entry_main"))
    return 4;
  llvm::outs() << "embedded: differentiated and lowered\n";
  return 0;
}
