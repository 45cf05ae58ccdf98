// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADJOINT_PYTHON_TREES_H
#define ADJOINT_PYTHON_TREES_H

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// The function signature(arguments, modules): the leaves of trees, and what they have in common with other
/// trees that the same program takes.
void bindTrees(nanobind::module_ &module);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_TREES_H
