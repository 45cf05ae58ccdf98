// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A called function, from its mangled name: its name, its class, and the types of its parameters, which LLVM
// IR does not have for pointers.
#ifndef ADJOINT_TEST_MUTATIONS_CALLEE_H
#define ADJOINT_TEST_MUTATIONS_CALLEE_H

#include "llvm/IR/InstrTypes.h"

#include <optional>
#include <string>
#include <vector>

namespace adjoint::mutations {

struct Callee {
  /// Without the arguments of a template, which are apart, as are the namespace and the class.
  std::string name, scope, templateArguments;
  bool isConstructorOrDestructor = false;
  std::vector<std::string> parameters;

  /// For reports: with the namespaces and classes, without the arguments of templates.
  std::string qualified() const;
};

/// Nothing for intrinsics, indirect calls and functions of C.
std::optional<Callee> calleeOf(const llvm::CallBase &call);

/// Whether the name of a function is that of a constructor or destructor.
bool isConstructorOrDestructor(llvm::StringRef mangled);

/// The first IR argument of each parameter, and one past the last; empty when they do not fit together.
std::vector<unsigned> argumentsOfParameters(const llvm::CallBase &call, const Callee &callee);

} // namespace adjoint::mutations

#endif
