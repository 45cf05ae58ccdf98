// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Replaces operations by the implementations that a user names. The operations of an implementation have no
// permissions, but for products that tensor cores may compute: nothing rewrites what the name stands for.

#include "../../IR/Attributes/NamedKernelAttribute.h"
#include "../Numerics/WriteContract.h"
#include "Implementations.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-exchange-kernels"

namespace mlir::ad {
#define GEN_PASS_DEF_EXCHANGEKERNELSPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;

namespace {
struct WithoutPermissions : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    auto numerics = dyn_cast<NumericsOpInterface>(op);
    if (!numerics)
      return;
    numerics.setPermissions(Permissions::none);
    made.push_back(op);
  }
  SmallVector<Operation *> made;
};

void report(Operation *op, const Implementation &implementation) {
  StringRef name = implementation.kernel.name;
  remark::passed(op->getLoc(), remark::RemarkOpts::name("exchange-kernel").category("ad-numerics"))
      << remark::metric("operation", op->getName().getStringRef()) << remark::metric("kernel", name);
  if (NumericsLog *log = NumericsLog::get(op->getContext()))
    log->record(op->getLoc(), "exchange-kernel", (op->getName().stripDialect() + "=" + name).str());
  if (!implementation.warning.empty())
    emitWarning(op->getLoc()) << "kernel '" << name << "' of " << op->getName() << ": "
                              << StringRef(implementation.warning);
}

void exchange(Operation *op, const Implementation &implementation, bool writesContract) {
  LDBG() << op->getName() << " becomes " << implementation.kernel.name;
  op->removeAttr(kNamedKernelAttr);
  // The written implementation keeps the permissions of the operation, too.
  if ((!implementation.order && !implementation.build) ||
      !allowsRewrite("exchange-kernel", implementation.kernel.name, op))
    return;
  report(op, implementation);
  if (implementation.order) {
    auto numerics = cast<NumericsOpInterface>(op);
    numerics.setSummationOrder(implementation.order(op->getContext()));
    numerics.setPermissions(Permissions::none);
    return;
  }
  WithoutPermissions listener;
  IRRewriter rewriter(op->getContext(), &listener);
  rewriter.setInsertionPoint(op);
  Steps steps(rewriter, op);
  Value result = implementation.build(op, steps);
  rewriter.replaceOp(op, steps.finish(result, op->getResult(0).getType()));
  if (writesContract)
    writeContract(listener.made);
}

struct ExchangeKernelsPass : ad::impl::ExchangeKernelsPassBase<ExchangeKernelsPass> {
  using ExchangeKernelsPassBase::ExchangeKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ExchangeKernelsPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  LogicalResult readOption() {
    choices.clear();
    llvm::Expected<std::vector<KernelChoice>> parsed = parseKernelChoices(&getContext(), kernels);
    if (!parsed)
      return emitError(getOperation().getLoc()) << "option kernels: " << llvm::toString(parsed.takeError());
    for (KernelChoice &choice : *parsed)
      choices.push_back({std::move(choice), false});
    return success();
  }

  // The implementation that the operation names itself; null if it names none.
  FailureOr<const Implementation *> named(Operation *op) {
    auto name = op->getAttrOfType<StringAttr>(kNamedKernelAttr);
    if (!name)
      return nullptr;
    std::string known = implementationNames(op->getName());
    if (known.empty())
      return op->emitOpError("has no named kernels, but got '") << name.getValue() << "'";
    const Implementation *found = findImplementation(op->getName(), name);
    if (!found)
      return op->emitOpError("expected ")
             << known << " as its named kernel, but got '" << name.getValue() << "'";
    if (StringRef lacks = found->lacks ? found->lacks(op) : ""; !lacks.empty())
      return op->emitOpError("expected ") << lacks << ", which the kernel '" << name.getValue() << "' is for";
    return found;
  }

  const Implementation *chosen(Operation *op) {
    for (auto &[choice, used] : choices)
      if (op->getName().getDialectNamespace() == "ad" && op->getName().stripDialect() == choice.op) {
        const Implementation *found = findImplementation(op->getName(), choice.name);
        if (found->lacks && !found->lacks(op).empty())
          return nullptr;
        used = true;
        return found;
      }
    return nullptr;
  }

  void runOnOperation() override {
    if (failed(readOption()))
      return signalPassFailure();
    SmallVector<std::pair<Operation *, const Implementation *>> exchanges;
    WalkResult result = getOperation()->walk([&](Operation *op) {
      FailureOr<const Implementation *> own = named(op);
      if (failed(own))
        return WalkResult::interrupt();
      if (const Implementation *implementation = *own ? *own : chosen(op))
        exchanges.push_back({op, implementation});
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    bool writesContract = hasWrittenContract(getOperation());
    for (auto [op, implementation] : exchanges)
      exchange(op, *implementation, writesContract);
    for (auto &[choice, used] : choices)
      if (!used) {
        emitError(getOperation().getLoc())
            << "option kernels: expected an operation ad." << choice.op << " that the kernel '" << choice.name
            << "' covers, but the program has none";
        signalPassFailure();
      }
  }

  SmallVector<std::pair<KernelChoice, bool>> choices;
};
} // namespace
