// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The policies of ad-fuse: one table for the pass, the pipelines and the command line, their help texts and
// their errors.

#ifndef ADJOINT_DIALECT_AD_TRANSFORMS_FUSEPOLICIES_H
#define ADJOINT_DIALECT_AD_TRANSFORMS_FUSEPOLICIES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::ad {

struct FusePolicy {
  llvm::StringLiteral name, meaning;
};

/// The default first, the policy that only tests use last.
inline constexpr FusePolicy kFusePolicies[] = {
    {"grow", "as large kernels as the rules allow (default)"},
    {"single", "a kernel for each operation"},
    {"layers",
     "groups along the layers of the dependence graph, for tests that compare with recorded groups"},
};

/// "grow, single or layers".
inline std::string fusePolicyNames() {
  std::string names;
  for (auto [index, policy] : llvm::enumerate(kFusePolicies))
    names += (index == 0 ? "" : index + 1 == std::size(kFusePolicies) ? " or " : ", ") + policy.name.str();
  return names;
}

/// Each name and what it means, for a help text.
inline llvm::StringRef fusePolicyHelp() {
  static const std::string help = [] {
    std::string text = "The policy of ad-fuse:";
    for (const FusePolicy &policy : kFusePolicies)
      text += " " + policy.name.str() + ", " + policy.meaning.str() + ";";
    text.pop_back();
    return text;
  }();
  return help;
}

inline bool isFusePolicy(llvm::StringRef name) {
  return llvm::any_of(kFusePolicies, [&](const FusePolicy &policy) { return policy.name == name; });
}

} // namespace mlir::ad

#endif // ADJOINT_DIALECT_AD_TRANSFORMS_FUSEPOLICIES_H
