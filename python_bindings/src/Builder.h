// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADJOINT_PYTHON_BUILDER_H
#define ADJOINT_PYTHON_BUILDER_H

#include <nanobind/nanobind.h>

namespace adjoint_python {

/// The class Builder: programs operation by operation.
void bindBuilder(nanobind::module_ &module);

} // namespace adjoint_python

#endif // ADJOINT_PYTHON_BUILDER_H
