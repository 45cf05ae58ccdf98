// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "Policies.h"
#include "ByteContractions.h"
#include "adjoint/Dialect/AD/IR/ADRandomOps.h"
#include "adjoint/Dialect/AD/Transforms/PolicyNames.h"
#include "adjoint/Interfaces/ElementwiseOpInterface.h"
#include "adjoint/Interfaces/FusableOpInterface.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::ad;
using numerics::PrecisionPolicy;
using numerics::PrecisionRule;

AppliedRule ResolvedPolicy::ruleOf(Operation *op) const {
  if (auto own = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr))
    return {*numerics::ruleFromName(own.getName()), kPrecisionAttr};
  auto listed = rules.find(op->getName());
  if (listed == rules.end())
    return {computesOnlyInF32(op->getName()) ? PrecisionRule::never : defaultRule, "default"};
  return {listed->second, numerics::ruleName(listed->second)};
}

// The last case is that of `ad.stop_gradient` and of `arith` on tensors.
// Bits are those of the type that is written.
bool ad::takesPrecisionRule(OperationName name) {
  if (name.getStringRef() == BitcastOp::getOperationName())
    return false;
  return name.hasInterface<FusableOpInterface>() || name.hasInterface<ElementwiseOpInterface>() ||
         name.hasTrait<OpTrait::SameOperandsAndResultType>();
}

bool ad::computesOnlyInF32(OperationName name) {
  return name.getStringRef() == CastStochasticOp::getOperationName();
}

static std::string fullName(StringRef listed) {
  return listed.contains('.') ? listed.str() : (ADDialect::getDialectNamespace() + "." + listed).str();
}

// What is wrong with a name in the list of a rule; empty if nothing is. Operations of dialects that are not
// loaded are in no program of the context.
static std::string problemOf(StringRef listed, PrecisionRule rule, bool inBytes, MLIRContext *context) {
  std::string full = fullName(listed), got = "but got '" + listed.str() + "'";
  std::optional<RegisteredOperationName> name = RegisteredOperationName::lookup(full, context);
  if (name && name->getStringRef() == ScaledDotOp::getOperationName())
    return "expected operations whose types the policy decides in " + numerics::ruleName(rule).str() + ", " +
           got + ", which computes in 8-bit types of its own; leave it out of the lists";
  if (inBytes && rule == PrecisionRule::always && name && !canComputeInBytes(*name))
    return "expected contractions (dot, gemm) in always, since it computes in 8 bits, " + got;
  if (!name && !context->getLoadedDialect(StringRef(full).split('.').first))
    return "";
  if (name && computesOnlyInF32(*name) && rule != PrecisionRule::never)
    return "expected '" + listed.str() + "' in never, since its operand can only be f32, but got it in " +
           numerics::ruleName(rule).str();
  if (name && takesPrecisionRule(*name))
    return "";
  return "expected operations that compute tensors in " + numerics::ruleName(rule).str() + ", " + got +
         (name ? "" : ", which is no operation");
}

static LogicalResult addRule(ResolvedPolicy &policy, StringRef listed, PrecisionRule rule, Operation *owner) {
  MLIRContext *context = owner->getContext();
  if (std::string problem = problemOf(listed, rule, policy.inBytes, context); !problem.empty())
    return emitError(owner->getLoc()) << "policy '" << policy.name << "': " << problem;
  if (std::optional<RegisteredOperationName> name =
          RegisteredOperationName::lookup(fullName(listed), context))
    policy.rules.try_emplace(*name, rule);
  return success();
}

std::string ad::checkListedOperations(const PrecisionPolicy &policy, MLIRContext *context) {
  for (PrecisionRule rule : {PrecisionRule::always, PrecisionRule::follow, PrecisionRule::never})
    for (const std::string &listed : policy.operationsOf(rule)) {
      context->getOrLoadDialect(StringRef(fullName(listed)).split('.').first);
      std::string problem = problemOf(listed, rule, numerics::computesInBytes(policy), context);
      if (problem.empty())
        continue;
      auto place = policy.places.find(listed);
      return (place == policy.places.end() ? "policy '" + policy.name + "'" : place->second) + ": " + problem;
    }
  return "";
}

FailureOr<std::optional<PrecisionPolicy>> PolicyTable::read(PrecisionAttr attribute, Operation *owner) {
  if (attribute)
    return ad::policyOf(attribute);
  if (option == kNoPrecision)
    return std::optional<PrecisionPolicy>();
  llvm::Expected<PrecisionPolicy> loaded = numerics::loadPolicy(option);
  if (!loaded)
    return emitError(owner->getLoc()) << "option policy: " << llvm::toString(loaded.takeError());
  return std::optional<PrecisionPolicy>(std::move(*loaded));
}

FailureOr<const ResolvedPolicy *> PolicyTable::resolve(PrecisionAttr attribute, Operation *owner) {
  const void *key = attribute ? attribute.getAsOpaquePointer() : nullptr;
  if (auto known = resolved.find(key); known != resolved.end())
    return known->second.get();
  FailureOr<std::optional<PrecisionPolicy>> policy = read(attribute, owner);
  if (failed(policy))
    return failure();
  std::unique_ptr<ResolvedPolicy> made;
  if (*policy) {
    Builder builder(owner->getContext());
    auto typeOf = [&](StringRef name) -> Type {
      return name == "f32"        ? builder.getF32Type()
             : name == "bf16"     ? builder.getBF16Type()
             : name == "f16"      ? builder.getF16Type()
             : name == "f8E5M2"   ? Type(Float8E5M2Type::get(builder.getContext()))
             : name == "f8E4M3FN" ? Type(Float8E4M3FNType::get(builder.getContext()))
                                  : Type();
    };
    made = std::make_unique<ResolvedPolicy>();
    made->name = (*policy)->name;
    made->narrow = typeOf((*policy)->compute);
    made->result = typeOf((*policy)->result);
    made->gradient = typeOf((*policy)->gradient);
    made->inBytes = numerics::computesInBytes(**policy);
    made->addsCotangentsInF32 = (*policy)->accumulate == "f32";
    made->defaultRule = (*policy)->defaultRule;
    for (PrecisionRule rule : {PrecisionRule::always, PrecisionRule::follow, PrecisionRule::never})
      for (const std::string &listed : (*policy)->operationsOf(rule))
        if (failed(addRule(*made, listed, rule, owner)))
          return failure();
  }
  return (resolved[key] = std::move(made)).get();
}

FailureOr<const ResolvedPolicy *> PolicyTable::policyOf(FunctionOpInterface function) {
  Operation *module = nullptr;
  for (Operation *op = function; op; op = op->getParentOp()) {
    auto attribute = op->getAttrOfType<PrecisionAttr>(kPrecisionAttr);
    if (isa<ModuleOp>(op))
      module = op;
    if (attribute && (option.empty() || !isa<ModuleOp>(op)))
      return resolve(attribute, op);
  }
  if (option.empty())
    return static_cast<const ResolvedPolicy *>(nullptr);
  return resolve(nullptr, module);
}
