// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass ad-differentiate: derivatives innermost first, each derivative function made once.

#include "adjoint/Dialect/AD/Transforms/Differentiate.h"
#include "../Numerics/WriteContract.h"
#include "../Verify/VerifyCalls.h"
#include "Generate.h"
#include "adjoint/Dialect/AD/IR/ADOps.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/DebugLog.h"

#include <map>

#define DEBUG_TYPE "ad-differentiate"

namespace mlir::ad {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
class Differentiator {
public:
  explicit Differentiator(ModuleOp module) : module(module), symbols(module) {}
  LogicalResult run();

private:
  enum class State { inProgress, done, failed };
  using Key = std::tuple<Operation *, SmallVector<int64_t>, Seed>;

  /// Replaces the derivatives in a function, with `andCalls` also in all that it calls.
  LogicalResult expandBody(func::FuncOp function, bool andCalls);
  /// The same for a function that is to be differentiated: only plain operations may be left. `user` reaches
  /// it.
  LogicalResult expand(func::FuncOp function, Operation *user);
  LogicalResult replace(Operation *request);
  FailureOr<func::FuncOp> derivativeOf(func::FuncOp primal, ArrayRef<int64_t> wrt, Seed seed,
                                       Operation *request);

  ModuleOp module;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, State> states;
  /// Null for a derivative that could not be made; its errors are not reported again.
  std::map<Key, func::FuncOp> derivatives;
};
} // namespace

static bool isRequest(Operation *op) { return isa<VjpOp, ValueAndGradOp>(op); }
static StringRef calleeOf(Operation *op) {
  if (auto vjp = dyn_cast<VjpOp>(op))
    return vjp.getCallee();
  if (auto grad = dyn_cast<ValueAndGradOp>(op))
    return grad.getCallee();
  return cast<func::CallOp>(op).getCallee();
}

LogicalResult Differentiator::expand(func::FuncOp function, Operation *user) {
  auto [state, isNew] = states.try_emplace(function, State::inProgress);
  if (!isNew) {
    if (state->second != State::inProgress)
      return success(state->second == State::done);
    return user->emitOpError("expected no recursion in differentiated code, but '")
           << function.getSymName() << "' reaches itself through this operation";
  }
  LogicalResult all = expandBody(function, /*andCalls=*/true);
  states[function] = succeeded(all) ? State::done : State::failed;
  return all;
}

LogicalResult Differentiator::expandBody(func::FuncOp function, bool andCalls) {
  SmallVector<Operation *> users;
  function.walk([&](Operation *op) {
    if (isRequest(op) || (andCalls && isa<func::CallOp>(op)))
      users.push_back(op);
  });
  LogicalResult all = success();
  for (Operation *op : users) {
    auto callee = symbols.lookup<func::FuncOp>(calleeOf(op));
    // Later requests are still tried, so that one run reports everything.
    if ((callee && failed(expand(callee, op))) || (isRequest(op) && failed(replace(op))))
      all = failure();
  }
  return all;
}

FailureOr<func::FuncOp> Differentiator::derivativeOf(func::FuncOp primal, ArrayRef<int64_t> wrt, Seed seed,
                                                     Operation *request) {
  Key key(primal, SmallVector<int64_t>(wrt), seed);
  if (auto found = derivatives.find(key); found != derivatives.end()) {
    if (!found->second)
      return failure();
    LDBG() << request->getName() << " calls @" << found->second.getSymName() << ", which is there already";
    return found->second;
  }
  FailureOr<func::FuncOp> made = generateDerivative(primal, wrt, seed, symbols, request);
  derivatives[key] = succeeded(made) ? *made : func::FuncOp();
  if (succeeded(made)) {
    LDBG() << request->getName() << " of @" << primal.getSymName() << " becomes @" << made->getSymName();
    states[*made] = State::done;
  }
  return made;
}

LogicalResult Differentiator::replace(Operation *request) {
  auto vjp = dyn_cast<VjpOp>(request);
  auto primal = symbols.lookup<func::FuncOp>(calleeOf(request));
  if (!primal)
    return request->emitOpError("expected '") << calleeOf(request) << "' to be a function of the module";
  ArrayRef<int64_t> wrt = vjp ? vjp.getWrt() : cast<ValueAndGradOp>(request).getWrt();
  FailureOr<func::FuncOp> derivative = derivativeOf(primal, wrt, vjp ? Seed::arguments : Seed::one, request);
  if (failed(derivative))
    return failure();
  OpBuilder builder(request);
  auto call = func::CallOp::create(builder, request->getLoc(), *derivative, request->getOperands());
  request->replaceAllUsesWith(call.getResults());
  request->erase();
  return success();
}

LogicalResult Differentiator::run() {
  LogicalResult all = success();
  // Recursion is an error only in functions that are differentiated.
  for (func::FuncOp function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (failed(expandBody(function, /*andCalls=*/false)))
      all = failure();
  if (failed(all))
    return failure();
  // Only now: a derivative of a derivative must still see where the gradient stops.
  module.walk([&](StopGradientOp op) {
    // Outside of functions, and in unreachable blocks, an operation may use values of later operations.
    if (op.getInput() == op.getResult()) {
      op.emitOpError("is computed from its own result");
      all = failure();
      return;
    }
    op.getResult().replaceAllUsesWith(op.getInput());
    op.erase();
  });
  return all;
}

LogicalResult ad::differentiate(ModuleOp module) {
  return failed(verifyCalls(module)) ? failure() : Differentiator(module).run();
}

namespace {
class DifferentiatePass : public ad::impl::DifferentiatePassBase<DifferentiatePass> {
public:
  void getDependentDialects(DialectRegistry &registry) const override {
    DifferentiatePassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool writesContract = hasWrittenContract(module);
    llvm::DenseSet<Operation *> given;
    for (auto function : module.getOps<func::FuncOp>())
      given.insert(function);
    if (failed(differentiate(module)))
      return signalPassFailure();
    if (!writesContract)
      return;
    for (auto function : module.getOps<func::FuncOp>())
      if (!given.contains(function))
        writeContract(function);
  }
};
} // namespace
