// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Precision policies: which operations compute in a narrow type. A policy is a file in YAML, one of the
// built-in files, or an attribute of the program.

#ifndef ADJOINT_NUMERICS_PRECISIONPOLICY_H
#define ADJOINT_NUMERICS_PRECISIONPOLICY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::ad::numerics {

/// What a policy says about an operation: it computes in the narrow type, in the widest type of its operands,
/// or in f32.
enum class PrecisionRule { always, follow, never };

struct PrecisionPolicy {
  std::string name;     ///< of the built-in policy, the file or the attribute, for messages
  std::string compute;  ///< bf16, f16, or an 8-bit float type, in which contractions alone compute
  std::string gradient; ///< of the cotangents that contractions of 8 bits read; empty for 16 bits
  std::string result;   ///< of contractions in `always`: the same type or f32; a wider type for 8 bits
  /// How the adjoint adds the cotangents of a value of 8 or 16 bits: `narrow`, in its type, or f32.
  std::string accumulate;
  std::vector<std::string> always, follow, never;   ///< names of operations, those of `ad` without the prefix
  PrecisionRule defaultRule = PrecisionRule::never; ///< of operations that no list has
  llvm::StringMap<std::string> places = {};         ///< of names in lists of a file, as FILE:LINE:COLUMN

  llvm::ArrayRef<std::string> operationsOf(PrecisionRule rule) const;
  /// The rule of the list that has the operation; `name` is as in the lists.
  std::optional<PrecisionRule> find(llvm::StringRef name) const;
};

llvm::StringRef ruleName(PrecisionRule rule);
std::optional<PrecisionRule> ruleFromName(llvm::StringRef name);

/// Whether the policy computes contractions in 8 bits.
bool computesInBytes(const PrecisionPolicy &policy);

/// Gives types that are not written, and `accumulate`, their defaults.
void setDefaultTypes(PrecisionPolicy &policy);

/// What is wrong with types and lists of a policy; empty if nothing is.
std::string checkPolicy(const PrecisionPolicy &policy);

/// The policy in `text`, a file in YAML. The error has file, line and column.
llvm::Expected<PrecisionPolicy> parsePolicy(llvm::StringRef text, llvm::StringRef file);

/// A built-in policy by its name, or the policy of a file, whose name ends with .yaml. An error lists what is
/// allowed; with `takesNone` the list has `none`, which this function does not accept: the caller does.
llvm::Expected<PrecisionPolicy> loadPolicy(llvm::StringRef nameOrFile, bool takesNone = true);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_PRECISIONPOLICY_H
