// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The policies of a module, resolved to operations.

#ifndef ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_POLICIES_H
#define ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_POLICIES_H

#include "adjoint/Dialect/AD/IR/ADPrecisionAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <map>

namespace mlir::ad {

/// A rule, and where it is written: a list, `default`, or `ad.precision` of the operation.
struct AppliedRule {
  numerics::PrecisionRule rule;
  StringRef source;
};

/// A policy with names of operations of a context.
struct ResolvedPolicy {
  std::string name;
  Type narrow, result;
  Type gradient; ///< of cotangents, if contractions compute in 8 bits
  bool inBytes = false;
  bool addsCotangentsInF32 = false;
  llvm::DenseMap<OperationName, numerics::PrecisionRule> rules;
  numerics::PrecisionRule defaultRule;

  AppliedRule ruleOf(Operation *op) const;
};

/// Whether a policy may have a rule for operations of that name.
bool takesPrecisionRule(OperationName name);
/// Whether operations of that name have operands that can only be f32, so that `never` is their one rule.
bool computesOnlyInF32(OperationName name);

/// The policies in force in a module. Each is resolved once.
class PolicyTable {
public:
  /// `option` is in the place of the attribute of the module; empty: the module's own.
  explicit PolicyTable(StringRef option) : option(option) {}

  /// The policy of a function; null if nothing is cast in it. Emits an error for a policy that cannot be
  /// used.
  FailureOr<const ResolvedPolicy *> policyOf(FunctionOpInterface function);

private:
  /// The policy that the option or the attribute gives; `owner` is the operation that an error is about.
  FailureOr<std::optional<numerics::PrecisionPolicy>> read(PrecisionAttr attribute, Operation *owner);
  FailureOr<const ResolvedPolicy *> resolve(PrecisionAttr attribute, Operation *owner);

  StringRef option;
  /// By attribute; that of the option has none. Null for a policy that casts nothing.
  std::map<const void *, std::unique_ptr<ResolvedPolicy>> resolved;
};

} // namespace mlir::ad

#endif // ADJOINT_LIB_DIALECT_AD_TRANSFORMS_AUTOCAST_POLICIES_H
