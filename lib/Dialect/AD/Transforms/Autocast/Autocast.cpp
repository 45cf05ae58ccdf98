// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass ad-autocast: first the types of all results, then the casts of operands, then contractions in 8
// bits.

#include "../Verify/VerifyCalls.h"
#include "ByteContractions.h"
#include "Policies.h"
#include "ValueCasts.h"
#include "adjoint/Dialect/AD/IR/RewriteControl.h"
#include "adjoint/Dialect/AD/Transforms/NumericsLog.h"
#include "adjoint/Dialect/AD/Transforms/Passes.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "adjoint/Interfaces/PrecisionOpInterface.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "ad-autocast"

namespace mlir::ad {
#define GEN_PASS_DEF_AUTOCASTPASS
#include "adjoint/Dialect/AD/Transforms/Passes.h.inc"
} // namespace mlir::ad

using namespace mlir;
using namespace mlir::ad;
using numerics::PrecisionRule;

namespace {
/// Applies a policy to one function.
class FunctionCaster {
public:
  FunctionCaster(FunctionOpInterface function, const ResolvedPolicy &policy)
      : function(function), policy(policy), casts(policy), f32(Float32Type::get(function->getContext())) {
    // The body of a kernel or of a nested function has rules of its own.
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == function)
        return WalkResult::advance();
      operations.push_back(op);
      return op->hasTrait<OpTrait::IsIsolatedFromAbove>() ? WalkResult::skip() : WalkResult::advance();
    });
  }

  LogicalResult run() {
    if (policy.addsCotangentsInF32)
      function->setAttr(ADDialect::kCotangentSumsAttr, TypeAttr::get(f32));
    for (Operation *op : operations)
      if (failed(decide(op)))
        return failure();
    for (Operation *op : operations)
      castOperands(op);
    for (const auto &[op, decision] : decisions)
      if (auto precision = dyn_cast<PrecisionOpInterface>(op))
        if (failed(precision.setPrecision(decision.element)))
          return failure();
    return replaceByScaledDots(function, inBytes, policy);
  }

private:
  /// What an operation computes in, and why.
  struct Decision {
    Type element;
    StringRef source;
  };

  Type writtenElement(Value value) const {
    Type written = writtenTypes.lookup(value);
    return getPolicyElement(written ? written : value.getType());
  }

  /// The widest element type of the operands so far; null if the policy leaves the operation alone.
  Type widestOperand(Operation *op) const {
    Type widest;
    for (Type type : op->getOperandTypes()) {
      if (isOtherFloatTensor(type))
        return nullptr;
      if (Type element = getPolicyElement(type))
        widest = !widest || widest == element ? element : f32;
    }
    return widest;
  }

  static bool keepsType(OpResult result) {
    auto precision = dyn_cast<PrecisionOpInterface>(result.getOwner());
    return precision && precision.keepsResultType(result.getResultNumber());
  }

  /// As of ad.sort, which moves each operand to a result of its type: there is no one type to compute in.
  static bool hasSeveralResultTypes(Operation *op) {
    Type first;
    return llvm::any_of(op->getOpResults(), [&](OpResult result) {
      Type element = keepsType(result) ? Type() : getPolicyElement(result.getType());
      first = first ? first : element;
      return element && element != first;
    });
  }

  LogicalResult decide(Operation *op) {
    if (!takesPrecisionRule(op->getName()) || llvm::none_of(op->getOperandTypes(), getPolicyElement))
      return success();
    if (hasSeveralResultTypes(op))
      return leaveAlone(op, "its results have several types");
    Type widest = widestOperand(op);
    if (!widest)
      return leaveAlone(op, "it has operands of f64 or of 8 bits");
    AppliedRule applied = policy.ruleOf(op);
    // What follows its operands or computes in f32 where the program has f32 casts nothing by itself.
    if (applied.rule == PrecisionRule::always && !allowsRewrite("ad-autocast", applied.source, op))
      return success();
    if (applied.source == "default")
      remarkDefault(op, applied.rule);
    if (applied.rule == PrecisionRule::always && policy.inBytes)
      return computeInBytes(op, applied.source);
    return computeIn(op, widest, applied);
  }

  /// ad.scaled_dot takes operands of any types that policies are about.
  LogicalResult computeInBytes(Operation *op, StringRef source) {
    if (!canComputeInBytes(op->getName()))
      return op->emitOpError("expected a contraction (dot, gemm) to compute in 8 bits by policy '")
             << policy.name << "'; write follow or never as its '" << kPrecisionAttr << "'";
    inBytes.push_back({op, source});
    setResults(op, policy.result);
    return success();
  }

  /// A remark, or an error where the operation itself says what it is to be computed in.
  LogicalResult leaveAlone(Operation *op, StringRef reason) const {
    if (op->hasAttr(kPrecisionAttr))
      return op->emitOpError("expected no '") << kPrecisionAttr << "', since " << reason;
    remark::analysis(op->getLoc(), remark::RemarkOpts::name("left-alone").category("ad-precision"))
        << remark::metric("operation", op->getName().getStringRef()) << remark::metric("reason", reason)
        << remark::metric("policy", policy.name);
    return success();
  }

  /// The type that the rule gives, or f32 where the operation does not support it; null after an error.
  Type supportedType(Operation *op, Type element, const AppliedRule &applied) const {
    auto precision = dyn_cast<PrecisionOpInterface>(op);
    if (!precision || precision.supportsPrecision(element))
      return element;
    if (applied.source == kPrecisionAttr || !precision.supportsPrecision(f32)) {
      op->emitOpError("cannot be computed in ") << element << ", which '" << applied.source << "' asks for";
      return nullptr;
    }
    remark::missed(op->getLoc(), remark::RemarkOpts::name("not-supported").category("ad-precision"))
        << remark::metric("operation", op->getName().getStringRef()) << remark::metric("type", element)
        << remark::metric("policy", policy.name);
    return f32;
  }

  LogicalResult computeIn(Operation *op, Type widest, const AppliedRule &applied) {
    Type element = supportedType(op,
                                 applied.rule == PrecisionRule::always  ? policy.narrow
                                 : applied.rule == PrecisionRule::never ? f32
                                                                        : widest,
                                 applied);
    if (!element)
      return failure();
    decisions[op] = {element, applied.source};
    LDBG() << op->getName() << " computes in " << element << " by " << applied.source;
    auto fusable = dyn_cast<FusableOpInterface>(op);
    bool isContraction = fusable && fusable.getFusionKind() == FusionKind::dot;
    setResults(op, isContraction && applied.rule == PrecisionRule::always ? policy.result : element);
    return success();
  }

  /// Gives results of the type of the first float operand the new type, unless they keep theirs.
  void setResults(Operation *op, Type element) {
    Type first;
    for (Value operand : op->getOperands())
      if (!first)
        first = writtenElement(operand);
    for (OpResult result : op->getResults()) {
      auto type = result.getType();
      if (getPolicyElement(type) != first || first == element || keepsType(result))
        continue;
      writtenTypes[result] = type;
      result.setType(cast<RankedTensorType>(type).clone(element));
    }
  }

  void remarkDefault(Operation *op, PrecisionRule rule) const {
    remark::analysis(op->getLoc(), remark::RemarkOpts::name("not-listed").category("ad-precision"))
        << remark::metric("operation", op->getName().getStringRef())
        << remark::metric("rule", numerics::ruleName(rule)) << remark::metric("policy", policy.name);
  }

  void castOperands(Operation *op) {
    // The size of a tensor does not depend on its elements.
    if (isa<ShapedDimOpInterface>(op))
      return;
    if (llvm::any_of(inBytes, [&](const ByteContraction &contraction) { return contraction.op == op; }))
      return;
    auto decision = decisions.find(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Type written = writtenElement(operand.get());
      if (!written)
        continue;
      if (decision == decisions.end())
        operand.set(casts.get(operand.get(), written, op, "boundary"));
      else
        operand.set(casts.get(operand.get(), decision->second.element, op, decision->second.source));
    }
  }

  FunctionOpInterface function;
  const ResolvedPolicy &policy;
  ValueCasts casts;
  Type f32;
  SmallVector<Operation *> operations;
  llvm::MapVector<Operation *, Decision> decisions;
  SmallVector<ByteContraction> inBytes;
  /// Of results whose types have changed.
  llvm::DenseMap<Value, Type> writtenTypes;
};

struct AutocastPass : ad::impl::AutocastPassBase<AutocastPass> {
  using AutocastPassBase::AutocastPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    AutocastPassBase::getDependentDialects(registry);
    NumericsLog::registerInto(registry);
  }

  void runOnOperation() override {
    if (failed(checkRules()) || failed(checkOption()))
      return signalPassFailure();
    PolicyTable policies(policy);
    SmallVector<FunctionOpInterface> functions;
    getOperation()->walk([&](FunctionOpInterface function) { functions.push_back(function); });
    if (llvm::any_of(functions, scalesOf) && failed(verifyCalls(getOperation())))
      return signalPassFailure();
    for (FunctionOpInterface function : functions)
      if (failed(inlineCallsUnderScales(function, policies)))
        return signalPassFailure();
    for (FunctionOpInterface function : functions) {
      FailureOr<const ResolvedPolicy *> own = policies.policyOf(function);
      if (failed(own))
        return signalPassFailure();
      if (*own && failed(FunctionCaster(function, **own).run()))
        return signalPassFailure();
    }
    for (FunctionOpInterface function : functions)
      if (BlockArgument scales = scalesOf(function))
        function.removeArgAttr(scales.getArgNumber(), kScalesAttr);
    getOperation()->walk([](Operation *op) { op->removeAttr(kPrecisionAttr); });
  }

  /// A rule on an operation that no policy is about would have no effect, and one that the operands do not
  /// allow an invalid program.
  LogicalResult checkRules() {
    bool failed = false;
    getOperation()->walk([&](Operation *op) {
      auto rule = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
      if (isa<ModuleOp, FunctionOpInterface>(op) || !rule)
        return;
      if (!takesPrecisionRule(op->getName()))
        op->emitOpError("expected '") << kPrecisionAttr << "' on an operation that computes tensors";
      else if (computesOnlyInF32(op->getName()) && rule.getName() != numerics::ruleName(PrecisionRule::never))
        op->emitOpError("expected the rule never, since its operand can only be f32, but got ")
            << rule.getName();
      else
        return;
      failed = true;
    });
    return failure(failed);
  }

  /// Also in a module without functions.
  LogicalResult checkOption() {
    if (policy.empty() || policy == kNoPrecision)
      return success();
    llvm::Expected<numerics::PrecisionPolicy> loaded = numerics::loadPolicy(policy);
    if (loaded)
      return success();
    return emitError(getOperation().getLoc()) << "option policy: " << llvm::toString(loaded.takeError());
  }
};
} // namespace
