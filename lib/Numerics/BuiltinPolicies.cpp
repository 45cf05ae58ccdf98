// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.

#include "adjoint/Numerics/BuiltinPolicies.h"

using namespace mlir::ad;

namespace {
struct Policy {
  std::string_view name, text;
};
} // namespace

static constexpr Policy policies[] = {
#include "BuiltinPolicies.inc"
};

std::vector<std::string_view> numerics::builtinPolicyNames() {
  std::vector<std::string_view> names;
  for (const Policy &policy : policies)
    names.push_back(policy.name);
  return names;
}

std::string_view numerics::builtinPolicyText(std::string_view name) {
  for (const Policy &policy : policies)
    if (policy.name == name)
      return policy.text;
  return {};
}
