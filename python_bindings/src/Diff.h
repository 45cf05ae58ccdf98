// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Differences of arrays and of containers of them, by lib/Diff.
#ifndef ADJOINT_PYTHON_DIFF_H
#define ADJOINT_PYTHON_DIFF_H

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// Adds the functions that the module adjoint.diff calls.
void bindDiff(nanobind::module_ &module);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_DIFF_H
