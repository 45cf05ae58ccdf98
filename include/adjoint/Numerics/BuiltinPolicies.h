// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The texts of the precision policies that the project has: the files lib/Numerics/Policies/*.yaml.

#ifndef ADJOINT_NUMERICS_BUILTINPOLICIES_H
#define ADJOINT_NUMERICS_BUILTINPOLICIES_H

#include <string_view>
#include <vector>

namespace mlir::ad::numerics {

/// The names of the policies, in alphabetical order.
std::vector<std::string_view> builtinPolicyNames();

/// The file of a policy as it is in the tree; empty if there is no such policy.
std::string_view builtinPolicyText(std::string_view name);

} // namespace mlir::ad::numerics

#endif // ADJOINT_NUMERICS_BUILTINPOLICIES_H
